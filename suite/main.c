/* SPDX-License-Identifier: MIT */
/* main.c: one test as a program; the build names it. */
#include "suite.h"

#define STRING(x)   #x
#define STRING2(x)  STRING(x)
#define JOIN(a, b)  a##b
#define JOIN2(a, b) JOIN(a, b)

int main(int argc, char **argv)
{
    return suite_run(STRING2(SUITE_NAME), JOIN2(test_, SUITE_NAME), NULL, argc, argv);
}
