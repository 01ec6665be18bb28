/* SPDX-License-Identifier: MIT */
#include "layer/env.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_MINE = 16 };

/* NAME=BEFORE:VALUE */
struct line {
    const char *name, *before, *value;
    const char *between; /* instead of the colon, or NULL */
};

static bool replaces(const struct line *mine, size_t n, const char *line)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(mine[i].name);

        if (!strncmp(line, mine[i].name, len) && line[len] == '=')
            return true;
    }
    return false;
}

static char *put(char *to, const struct line *l)
{
    to = stpcpy(stpcpy(to, l->name), "=");
    if (l->before && *l->before)
        to = stpcpy(stpcpy(to, l->before), l->between ? l->between : ":");
    return stpcpy(to, l->value) + 1;
}

char **layer_env_make(const struct layer_env *l)
{
    const char *search = getenv("VK_LAYER_PATH") ? "VK_LAYER_PATH" : "VK_ADD_LAYER_PATH";
    struct line mine[MAX_MINE] = {{"VK_INSTANCE_LAYERS", getenv("VK_INSTANCE_LAYERS"), l->layer, NULL},
                                  {search, getenv(search), l->folder, NULL}};
    char names[MAX_MINE][64];
    size_t n = 2, lines = 0, bytes = 0, k = 0;
    char **env, *text;

    if (getenv("VK_LOADER_LAYERS_DISABLE")) /* which may name the layer, as by '*': this is stronger */
        mine[n++] =
            (struct line){"VK_LOADER_LAYERS_ENABLE", getenv("VK_LOADER_LAYERS_ENABLE"), l->layer, ","};
    for (size_t i = 0; l->values[i] && n < MAX_MINE; i++, n++) {
        const char *equals = strchr(l->values[i], '=');

        names[n][0] = '\0';
        strncat(names[n], l->values[i], (size_t)(equals - l->values[i]));
        mine[n] = (struct line){.name = names[n], .value = equals + 1};
    }
    for (size_t i = 0; i < n; i++)
        bytes +=
            strlen(mine[i].name) + (mine[i].before ? strlen(mine[i].before) : 0) + strlen(mine[i].value) + 3;
    while (environ[lines])
        lines++;
    env = malloc((lines + n + 1) * sizeof(*env) + bytes);
    if (!env)
        return NULL;
    text = (char *)(env + lines + n + 1);
    for (size_t i = 0; i < lines; i++)
        if (!replaces(mine, n, environ[i]))
            env[k++] = environ[i];
    for (size_t i = 0; i < n; i++) {
        env[k++] = text;
        text = put(text, &mine[i]);
    }
    env[k] = NULL;
    return env;
}
