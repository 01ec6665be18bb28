/* SPDX-License-Identifier: MIT */
#include "executor/host/words.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/utf8.h"
#include "executor/host/host_priv.h"

enum { PIPE = 64 << 10, STEP = 4096 };

/* A line is what it was, but for what is not text; its own log's prefix stands already in front of ours. */
static void put_line(struct exec_words *w, pid_t pid)
{
    static const char prefix[] = "aerogpu: ";
    char text[3 * EXEC_WORDS_LINE + 1];
    size_t skip =
        w->used > sizeof(prefix) - 1 && !memcmp(w->line, prefix, sizeof(prefix) - 1) ? sizeof(prefix) - 1 : 0;
    size_t n = utf8_clean(text, sizeof(text) - 1, w->line + skip, w->used - skip);

    for (size_t i = 0, length; i < n; i += length) {
        length = utf8_length(text + i, n - i);
        length = length ? length : 1;
        if (utf8_hidden(text + i, length))
            memset(text + i, text[i] == '\t' ? ' ' : '?', length);
    }
    text[n] = '\0';
    if (w->used)
        log_error(EXEC_COMPONENT, "process %d says: %s", (int)pid, text);
    w->used = 0;
}

static void take(struct exec_words *w, pid_t pid, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size && w->total < EXEC_WORDS_MOST; i++) {
        w->total++;
        if (bytes[i] == '\n' || w->used == sizeof(w->line))
            put_line(w, pid);
        if (bytes[i] != '\n')
            w->line[w->used++] = bytes[i];
        if (w->total == EXEC_WORDS_MOST) {
            put_line(w, pid);
            log_error(EXEC_COMPONENT, "process %d says more than %d bytes: the rest is left out", (int)pid,
                      EXEC_WORDS_MOST);
        }
    }
}

bool exec_words_read(struct exec_words *w, int fd, pid_t pid)
{
    char bytes[STEP];

    for (int turn = 0; turn < PIPE / STEP; turn++) {
        ssize_t n = read(fd, bytes, sizeof(bytes));
        if (n <= 0)
            return n == 0;
        take(w, pid, bytes, (size_t)n);
    }
    return false;
}

void exec_words_finish(struct exec_words *w, int fd, pid_t pid)
{
    exec_words_read(w, fd, pid);
    put_line(w, pid);
    *w = (struct exec_words){0};
}
