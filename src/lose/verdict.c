/* SPDX-License-Identifier: MIT */
/* verdict.c: the words of what is said. */
#include "lose/lose.h"

#include <string.h>

const char *lose_verdict_name(enum lose_verdict v)
{
    static const char *const names[] = {"survived",    "ended cleanly", "dies",
                                        "ignores it",  "hangs",         "stalls",
                                        "not reached", "no device",     "survived with a wrong picture",
                                        "leaks"};

    return v < LOSE_VERDICTS ? names[v] : "?";
}

int lose_expectation(const char *word)
{
    size_t n = strlen(word);
    int i = 0;

    for (const char *at = LOSE_EXPECTATIONS; at; at = strchr(at, '|'), i++) {
        at += *at == '|';
        if (n && !strncmp(at, word, n) && (at[n] == '|' || !at[n]) && !strchr(word, '|'))
            return i;
    }
    return -1;
}

bool lose_is_expected(unsigned expectation, enum lose_verdict v)
{
    static const enum lose_verdict exact[] = {
        LOSE_SURVIVED, LOSE_ENDED,       LOSE_ENDED,     LOSE_DIED,          LOSE_IGNORES, LOSE_HANGS,
        LOSE_STALLS,   LOSE_NOT_REACHED, LOSE_NO_DEVICE, LOSE_WRONG_PICTURE, LOSE_LEAKS};

    return v == exact[expectation] || (expectation == 1 && v == LOSE_SURVIVED);
}

const char *lose_api_noun(enum lose_api api)
{
    return api == LOSE_EGL || api == LOSE_GLX ? "context" : "device";
}

const char *lose_call_name(uint32_t call)
{
    static const char *const of_gl[] = {
#define NAME_ROW(name) #name,
        LOSE_GL_CALLS(NAME_ROW)
#undef NAME_ROW
    };

    return call < LOSE_NUM_CALLS ? lose_calls[call].name
           : call < LOSE_GL_END  ? of_gl[call - LOSE_NUM_CALLS]
                                 : "?";
}
