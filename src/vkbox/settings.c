/* SPDX-License-Identifier: MIT */
#include "vkbox/settings.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vkbox/box.h"

#define SETTINGS_FILE   "vk_layer_settings.txt"
#define SETTINGS_PREFIX "aerogpu_blackbox."
enum { MOST_BYTES = 64 << 10 };

/* A pipe or a device would keep the program. */
static FILE *open_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;

    if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= MOST_BYTES)
        return fdopen(fd, "r");
    if (fd >= 0)
        close(fd);
    return NULL;
}

static FILE *find_file(char path[PATH_MAX])
{
    const char *named = getenv("VK_LAYER_SETTINGS_PATH");
    struct stat st;

    if (named && !stat(named, &st) && S_ISDIR(st.st_mode))
        snprintf(path, PATH_MAX, "%.4000s/" SETTINGS_FILE, named);
    else
        snprintf(path, PATH_MAX, "%.4000s", named && *named ? named : SETTINGS_FILE);
    return open_file(path);
}

/* The words on both sides of its "="; false: it is a comment, or another layer's. */
static bool split(char *line, char **key, char **value)
{
    static const char blank[] = " \t\r\n";
    char *equals;

    line[strcspn(line, "#")] = '\0';
    line += strspn(line, blank);
    equals = strchr(line, '=');
    if (strncmp(line, SETTINGS_PREFIX, strlen(SETTINGS_PREFIX)) || !equals)
        return false;
    *equals = '\0';
    *key = line + strlen(SETTINGS_PREFIX);
    (*key)[strcspn(*key, blank)] = '\0';
    *value = equals + 1 + strspn(equals + 1, blank);
    (*value)[strcspn(*value, blank)] = '\0';
    return true;
}

static bool read_value(const char *word, bool *out)
{
    *out = !strcasecmp(word, "true") || !strcmp(word, "1");
    return *out || !strcasecmp(word, "false") || !strcmp(word, "0");
}

void settings_read(struct settings *out)
{
    const struct {
        const char *key, *variable;
        bool *to;
    } rows[] = {{"record", VKBOX_VARIABLE, &out->record},
                {"exact", VKBOX_EXACT, &out->exact},
                {"guard", VKBOX_GUARD, &out->guard}};
    enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
    char path[PATH_MAX], line[512], *key, *value;
    FILE *f = find_file(path);
    size_t i;

    *out = (struct settings){0};
    for (int n = 1; f && fgets(line, sizeof(line), f); n++) {
        if (!split(line, &key, &value))
            continue;
        for (i = 0; i < ROWS && strcmp(key, rows[i].key); i++)
            continue;
        if (i == ROWS)
            fprintf(stderr,
                    VKBOX_LAYER ": %.4000s, line %d: there is no setting '%s': record, exact and guard are\n",
                    path, n, key);
        else if (!read_value(value, rows[i].to))
            fprintf(stderr, VKBOX_LAYER ": %.4000s, line %d: %s is neither true nor false\n", path, n, key);
    }
    if (f)
        fclose(f);
    for (i = 0; i < ROWS; i++) {
        const char *word = getenv(rows[i].variable);
        const bool is_folder = word && rows[i].to == &out->record && (!*word || *word == '/');

        if (word && !is_folder && strcmp(word, "1") && strcmp(word, "0"))
            fprintf(stderr, VKBOX_LAYER ": %s is '%.200s': 1 is asked for, 0 is not\n", rows[i].variable,
                    word);
        else if (word)
            *rows[i].to = !strcmp(word, "1");
    }
}
