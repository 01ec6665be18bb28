/* SPDX-License-Identifier: MIT */
/* d3d12.h: what the handlers of Direct3D 12 recordings share. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/trace_file.h"

struct error;
struct json_t;

/* Cuts frames out of a recording; returns an exit code. */
int d3d12_cut(const char *from, const char *to, uint32_t first, uint32_t last);

/* From here on a crash inside this machine's Direct3D 12 is said, with the call that `progress` names, as a failure to play
 * the recording. If the recorded program died as well, the crash is let through. */
void d3d12_guard(const char *what, const struct trc *t, const char *path,
                 const struct trc_progress *progress);

/* How the guard learns of a crash; NULL: by signals. Under Wine they are Wine's own. */
extern void (*d3d12_guard_with)(void (*crashed)(int sig));

/* `aerogpu info`: puts what a recording is at a glance into a JSON object. 0, or a negative errno: what could be read is there. */
int d3d12_info(const char *path, struct json_t *o, struct error *e);

struct play_on;
struct play_windows;

/* Where recordings are played: what the command line says. */
struct d3d12_on {
    unsigned where;      /* D3D12_ON_... */
    const char *library; /* or NULL: libvkd3d, or Wine's own */
};

enum { D3D12_ON_VKD3D, D3D12_ON_WINE };

/* Loads it. The command is started again where another process is needed for that: with Wine, or with the library's folder as
 * the first that libraries are looked for in; nothing may have been printed before. 0, or a negative errno: -ENODEV if this
 * machine lacks it, -EBADMSG or -ENOENT if the library is none. */
int d3d12_on_open(const struct d3d12_on *o, const struct play_on **on, struct error *e);
extern const struct play_windows *d3d12_windows; /* not NULL: this process is Wine's */
struct d3d12_told {               /* by the player in a process of Wine's, to the one that started it */
    struct trc_progress progress; /* kept at the call that is being made */
    char path[256];               /* of the recording */
    int end; /* 0 until it ends as it means to, having said why: by an exit code, one more than that; by a
                                   * signal, less than 0 by it. (Where Wine of 32 bits started it, its own exit code gets lost.) */
};
struct d3d12_told *d3d12_told(void); /* never NULL */
char **d3d12_words(int fd);          /* up to a NULL; they stay. NULL: there are none */

/* `aerogpu play` in a process of Wine's: `w` is where its functions come from, and the command line in a file whose descriptor
 * AEROGPU_D3D12_WINE_ARGUMENTS names, with a zero behind each word. Returns the exit code. */
int d3d12_wine_main(const struct play_windows *w);

/* "X,Y" of --pixel: an option's function (base/options.h), of which `ctx` is a struct play_params. */
struct options_row;
int d3d12_parse_pixel(void *ctx, const struct options_row *row, const char *value, struct error *e);
/* A number of decimal digits alone with `last` behind it; returns what stands behind that, or NULL. */
const char *d3d12_parse_number(const char *text, char last, uint32_t *out);

/* Opens a recording. NULL: it cannot be read; what is wrong was said, and *code is the exit code. If it is cut, or its headers
 * are damaged, what can be read of it is there all the same. */
struct trc *d3d12_open(const char *path, int *code);
/* How a command ends that did with the recording what it could: the exit code. Says what became of it, if `e` holds a failure
 * (NULL is legal), and if the file is damaged where, in one sentence: EXIT_INPUT then, whatever else there is. Else `code`. */
int d3d12_end(const struct trc *t, const char *path, int code, const struct error *e);
