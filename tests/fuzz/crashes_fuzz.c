/* SPDX-License-Identifier: MIT */
/* The index of crashes: any file in its place is read, in every form, or refused with a sentence; and takes a dump more. */
#include "fuzz.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blackbox/crashes.h"

static void forms(struct bb_crashes *c)
{
    static int (*const forms[])(struct bb_crashes *, struct strbuf *,
                                struct error *) = {bb_crashes_text, bb_crashes_json, bb_crashes_html};

    for (unsigned i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct strbuf out = {0};
        struct error e = {0};
        int r = forms[i](c, &out, &e);
        must(!r == !e.text[0]);
        strbuf_finish(&out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bb_crashes_added added = {0};
    struct bb_crashes *c = NULL;
    struct error e = {0};
    char path[64], extra[80];
    int fd;

    snprintf(path, sizeof(path), "/dev/shm/crashes_fuzz.%d", (int)getpid());
    fd = creat(path, 0600);
    must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
    if (!bb_crashes_open(&c, path, &e)) {
        forms(c);
        bb_crashes_add(c, path, &added, &e); /* which is no dump */
        forms(c);
    } else {
        must(e.text[0] && !c);
    }
    bb_crashes_close(c);
    unlink(path);
    for (const char *const *s = (const char *const[]){"-wal", "-shm", "-journal", NULL}; *s; s++) {
        snprintf(extra, sizeof(extra), "%s%s", path, *s);
        unlink(extra);
    }
    return 0;
}
