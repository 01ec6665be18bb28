/* SPDX-License-Identifier: MIT */
#include "lose/wine.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static bool is_wine(const char *word)
{
    static const char *const names[] = {"wine", "wine64", "wine-stable", "wine64-stable", "wine-development"};
    const char *slash = strrchr(word, '/');

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(slash ? slash + 1 : word, names[i]))
            return true;
    return false;
}

static bool is_exe(const char *word)
{
    size_t n = strlen(word);

    return n > 4 && !strcasecmp(word + n - 4, ".exe");
}

int wine_words(char *const *argv, const char *layers, char ***words, char **starter)
{
    size_t n = 0, at = 0;

    *words = NULL;
    *starter = NULL;
    for (; argv[n]; n++)
        if (!at && n && is_wine(argv[n - 1]) && is_exe(argv[n]))
            at = n;
    if (!at)
        return 0;
    if (asprintf(starter, "%s/d3d/aerogpu-lose-start.exe", layers) < 0) {
        *starter = NULL;
        return -ENOMEM;
    }
    if (access(*starter, R_OK))
        return 0;
    *words = calloc(n + 2, sizeof(**words));
    for (size_t i = 0, k = 0; *words && i < n; i++) {
        if (i == at)
            (*words)[k++] = *starter;
        (*words)[k++] = argv[i];
    }
    return *words ? 0 : -ENOMEM;
}
