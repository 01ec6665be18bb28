/* SPDX-License-Identifier: MIT */
/* What the assembler of stubs.c does with parameters, which only it sees: on every processor that it is written for. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "lose/gl/gl.h"

static struct lose_record record;
struct lose_record *lose_record = &record;

static unsigned asked;
static bool instead;

struct gl_next gl_call(uint32_t stub)
{
    asked++;
    return instead ? (struct gl_next){NULL, 42} : (struct gl_next){gl_next[stub], 0};
}

/* All registers that parameters are in, and some on the stack. */
typedef double many_fn(long a, long b, long c, long d, long e, long f, long g, long h, long i, double p,
                       double q, double r, double s, double t, double u, double v, double w, double x);

static double many(long a, long b, long c, long d, long e, long f, long g, long h, long i, double p, double q,
                   double r, double s, double t, double u, double v, double w, double x)
{
    return (double)(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i) + 10 * p + 11 * q +
           12 * r + 13 * s + 14 * t + 15 * u + 16 * v + 17 * w + 18 * x;
}

static uintptr_t one(uintptr_t a)
{
    return a;
}

static void *no_hook(const char *name, void *real)
{
    return NULL;
}

static double call(const char *name)
{
    many_fn *fn = (many_fn *)gl_stub_make(name, (void *)many, no_hook);

    return fn(1, 2, 3, 4, 5, 6, 7, 8, 9, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5);
}

int main(void)
{
    double want = many(1, 2, 3, 4, 5, 6, 7, 8, 9, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5);
    uintptr_t (*fn)(uintptr_t) = (uintptr_t(*)(uintptr_t))gl_stub_make("glReadPixels", (void *)one, no_hook);
    bool fast, slow, other;

    fast = call("glViewport") == want && asked == 0;
    slow = call("glFinish") == want && asked == 1;
    instead = true;
    other = fn(7) == 42 && asked == 2;
    instead = false;
    other = other && fn(7) == 7 && asked == 3;
    printf("1..3\n%sok 1 - straight on\n%sok 2 - by a question\n%sok 3 - a value instead\n",
           fast ? "" : "not ", slow ? "" : "not ", other ? "" : "not ");
    return 0;
}
