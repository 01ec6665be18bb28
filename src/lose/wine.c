/* SPDX-License-Identifier: MIT */
#include "lose/wine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/program.h"

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

bool wine_wants(const char *path)
{
    char magic[2] = "";
    int fd = is_exe(path) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    bool is = fd >= 0 && read(fd, magic, 2) == 2 && magic[0] == 'M' && magic[1] == 'Z';

    if (fd >= 0)
        close(fd);
    return is;
}

bool wine_folder(const char *layers, char *folder, size_t size)
{
    char path[PATH_MAX];

    if (!program_in_path("wine", path, sizeof(path)))
        return false;
    snprintf(path, sizeof(path), "%s/d3d/aerogpu-lose-start.exe", layers);
    return !access(path, R_OK) && (size_t)snprintf(folder, size, "%s/d3d/bin", layers) < size;
}

int wine_words(char *const *argv, const char *layers, char ***words, char **starter)
{
    static char wine[] = "wine";
    bool bare = wine_wants(argv[0]);
    size_t n = 0, at = 0;

    *words = NULL;
    *starter = NULL;
    for (; argv[n]; n++)
        if (!at && n && is_wine(argv[n - 1]) && (n == 1 ? *argv[n] != '-' : is_exe(argv[n])))
            at = n;
    if (!at && !bare)
        return 0;
    if (asprintf(starter, "%s/d3d/aerogpu-lose-start.exe", layers) < 0) {
        *starter = NULL;
        return -ENOMEM;
    }
    if (access(*starter, R_OK) && !bare)
        return 0;
    *words = calloc(n + 3, sizeof(**words));
    for (size_t i = 0, k = 0; *words && i < n; i++) {
        if (bare && !i)
            (*words)[k++] = wine;
        if (i == at && !access(*starter, R_OK))
            (*words)[k++] = *starter;
        (*words)[k++] = argv[i];
    }
    return *words ? 0 : -ENOMEM;
}
