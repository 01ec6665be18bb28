/* SPDX-License-Identifier: MIT */
#include "lose/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lose/record.h"

enum { PIPE = 1 << 20, MOST = 64 << 10 };

/* Whether a folder of this list has the layer's manifest: w->folder. */
static bool has_layer(struct words *w, const char *folders, const char *below)
{
    char path[sizeof(w->folder) + 40];
    size_t n;

    for (; folders && *folders; folders += n + (folders[n] == ':')) {
        n = strcspn(folders, ":");
        if ((size_t)snprintf(w->folder, sizeof(w->folder), "%.*s%s", (int)n, folders, below) >=
            sizeof(w->folder))
            continue;
        snprintf(path, sizeof(path), "%s/VkLayer_khronos_validation.json", w->folder);
        if (!access(path, R_OK))
            return true;
    }
    return false;
}

/* Where the loader looks. */
static bool is_installed(struct words *w)
{
    static const char below[] = "/vulkan/explicit_layer.d";
    const char *data = getenv("XDG_DATA_DIRS"), *home = getenv("HOME");
    char own[4096];

    snprintf(own, sizeof(own), "%s/.local/share", home ? home : "");
    return has_layer(w, getenv("VK_LAYER_PATH"), "") || has_layer(w, getenv("VK_ADD_LAYER_PATH"), "") ||
           has_layer(w, data && *data ? data : "/usr/local/share:/usr/share", below) ||
           has_layer(w, "/etc:/usr/local/etc:/etc/xdg", below) ||
           has_layer(w, getenv("XDG_DATA_HOME"), below) || has_layer(w, own, below);
}

static int write_settings(struct words *w)
{
    char text[512];
    int n = snprintf(text, sizeof(text),
                     "khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n"
                     "khronos_validation.report_flags = error\n"
                     "khronos_validation.enable_message_limit = false\n"
                     "khronos_validation.log_filename = /proc/%d/fd/%d\n",
                     (int)getpid(), w->fds[1]);

    w->settings = memfd_create("vk_layer_settings.txt", MFD_CLOEXEC);
    return w->settings >= 0 && write(w->settings, text, (size_t)n) == n ? 0 : -EIO;
}

int words_open(struct words *w, struct strbuf *out, struct error *e)
{
    int r;

    w->settings = w->fds[0] = w->fds[1] = -1;
    w->out = out;
    if (!is_installed(w))
        return error_set(e, -ENOENT,
                         "--validation: %s is not installed; Debian has it in vulkan-validationlayers",
                         WORDS_LAYER);
    r = pipe2(w->fds, O_CLOEXEC | O_NONBLOCK) ? -errno : 0;
    if (!r)
        fcntl(w->fds[1], F_SETPIPE_SZ, PIPE);
    if (!r)
        r = write_settings(w);
    return r ? error_set(e, r, "--validation: no pipe for what is said: %s", strerror(-r)) : 0;
}

/* "VUID-…(ERROR / SPEC): msgNum: … - Validation Error: [ VUID-… ] Object 0: … | MessageID = … | text"; what it is about follows in
 * lines that are indented. */
static void take_line(struct words *w)
{
    static const char error[] = "Validation Error: ";
    const char *begin = strstr(w->line, error), *text, *id;
    char said[1024];

    if (!strcmp(w->line, LOSE_MARK)) {
        w->lost = true;
        return;
    }
    if (!w->lost || !begin || w->out->len > MOST)
        return;
    id = begin + strlen(error);
    text = strstr(id, " | MessageID = ");
    text = text ? strstr(text + 3, " | ") : NULL;
    if (*id == '[' && text) /* what it is, and what is wrong: the handles are others each time */
        snprintf(said, sizeof(said), "%.*s: %s\n", (int)strcspn(id + 2, " ]"), id + 2, text + 3);
    else
        snprintf(said, sizeof(said), "%s\n", id);
    said[sizeof(said) - 2] = '\n';
    for (char *x = said; (x = strstr(x, "0x")); x += 2) { /* handles */
        size_t digits = strspn(x + 2, "0123456789abcdef");
        memmove(x + 2, x + 2 + digits, strlen(x + 2 + digits) + 1);
    }
    if (!strstr(strbuf_str(w->out), said))
        strbuf_puts(w->out, said);
}

void words_read(struct words *w)
{
    char bytes[4096];
    ssize_t n;

    while (w->fds[0] >= 0 && (n = read(w->fds[0], bytes, sizeof(bytes))) > 0)
        for (ssize_t i = 0; i < n; i++) {
            if (bytes[i] != '\n') {
                if (w->len < sizeof(w->line) - 1)
                    w->line[w->len++] = bytes[i];
                continue;
            }
            w->line[w->len] = '\0';
            take_line(w);
            w->len = 0;
        }
}

void words_close(struct words *w)
{
    for (int i = 0; i < 2; i++)
        if (w->fds[i] >= 0)
            close(w->fds[i]);
    if (w->settings >= 0)
        close(w->settings);
    w->settings = w->fds[0] = w->fds[1] = -1;
}
