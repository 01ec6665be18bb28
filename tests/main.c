/* SPDX-License-Identifier: MIT */
#include "test.h"

int main(void)
{
    return test_run();
}
