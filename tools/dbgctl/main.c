/* SPDX-License-Identifier: MIT */
/* main.c: the adapter and the output. The contract is in dbgctl.h. */
#include "dbgctl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/utf8.h"
#include "report/json_show.h"

/* ---- output -------------------------------------------------------------- */

static int output_json(struct dbgctl *c, bool ok)
{
    json_t *top = json_pack("{s:i, s:s, s:b}", "schema_version", 1, "command", c->name, "ok", (int)ok);
    size_t flags = c->pretty ? JSON_INDENT(2) : JSON_COMPACT;
    struct strbuf text = {0};
    int r = 0;

    json_object_update(top, c->body);
    if (!ok) {
        json_t *e = json_pack("{s:s, s:o}", "message", c->message, "status",
                              c->has_status ? dbgctl_status(c->status) : json_null());
        if (c->hint)
            json_object_set_new(e, "hint", json_string(c->hint));
        json_object_set_new(top, "error", e);
    }
    r = json_show_text(top, flags | JSON_REAL_PRECISION(9), &text);
    json_decref(top);
    strbuf_puts(&text, "\n");
    if (r || strbuf_failed(&text)) {
        strbuf_finish(&text);
        return DBGCTL_FAILED;
    }
    if (c->json_path) {
        r = dbgctl_write_file(c->json_path, strbuf_str(&text), text.len);
        if (r)
            utf8_print(stderr, "aerogpu_dbgctl: %s: %s\n", c->json_path, strerror(-r));
    } else {
        fputs(strbuf_str(&text), stdout);
    }
    strbuf_finish(&text);
    return r ? DBGCTL_FAILED : DBGCTL_OK;
}

static const char *hint_for(const struct dbgctl *c)
{
    if (c->hint || !c->has_status)
        return c->hint;
    if (!c->adapter && c->display &&
        (c->status == STATUS_INVALID_PARAMETER || c->status == STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE))
        return "--list-displays names the displays; a shell wants quotes: --display '\\\\.\\DISPLAY1'";
    if (c->ring_id && c->status == STATUS_INVALID_PARAMETER)
        return "there is ring 0 only";
    switch (c->status) {
    case STATUS_TIMEOUT:
        return "the service is busy or hangs: a longer --timeout-ms waits longer";
    case STATUS_ACCESS_DENIED:
        return "only root and the user who runs the service may do that";
    case STATUS_DEVICE_REMOVED:
        return "the adapter was given up, or the service has ended: `aerogpu doctor` on the service's event log says why; start the service again";
    case STATUS_NO_SUCH_DEVICE:
        return c->display
                   ? "is the service running, and does --list-displays name that display?"
                   : "start one with `aerogpu serve` and set AEROGPU_SOCKET to the path that it prints";
    default:
        return NULL;
    }
}

static int finish(struct dbgctl *c, int code)
{
    bool ok = code == DBGCTL_OK;
    char name[16];
    int r = 0;

    INVARIANT(c->name); /* 1: a document names its command, also that of a wrong line */

    if (!ok)
        c->hint = hint_for(c);
    if (c->json)
        r = output_json(c, ok);
    else if (ok && c->command && strncmp(c->command->name, "watch-", 6) != 0)
        dbgctl_print_text(c->body);
    if (!c->json && !ok) {
        utf8_print(stderr, "aerogpu_dbgctl: %s", c->message);
        if (c->has_status)
            utf8_print(stderr, ": %s (NTSTATUS 0x%08x)", dbgctl_status_name(c->status, name),
                       (uint32_t)c->status);
        fputc('\n', stderr);
        if (c->hint)
            utf8_print(stderr, "  %s\n", c->hint);
    }
    if (fflush(stdout) || ferror(stdout)) {
        utf8_print(stderr, "aerogpu_dbgctl: standard output could not be written: %s\n", strerror(errno));
        r = DBGCTL_FAILED;
    }
    json_decref(c->body);
    return code ? code : r;
}

static int run(struct dbgctl *c)
{
    D3DKMT_OPENADAPTERFROMHDC open = {.hDc = (HDC)(uintptr_t)c->display};
    D3DKMT_CLOSEADAPTER close = {0};
    NTSTATUS s;
    int code;

    INVARIANT(c->command && !c->adapter);
    INVARIANT(c->timeout_ms && c->call_ms); /* 2 */
    if (c->command->without_adapter)
        return c->command->run(c);
    s = dbgctl_call(c, D3DKMT_THUNK_OpenAdapterFromHdc, &open, sizeof(open));
    if (s) {
        dbgctl_fail(c, s, "the adapter%s%s cannot be opened%s", c->display ? " of " : "",
                    c->display ? c->display : "",
                    getenv(D3DKMT_SOCKET_VARIABLE) ? "" : ": $" D3DKMT_SOCKET_VARIABLE " is not set");
        return !strcmp(c->name, "selftest") ? DBGCTL_TRANSPORT : DBGCTL_USAGE;
    }
    c->adapter = open.hAdapter;
    c->luid = open.AdapterLuid;
    c->source = open.VidPnSourceId;
    code = c->command->run(c);
    close.hAdapter = c->adapter;
    s = dbgctl_call(c, D3DKMT_THUNK_CloseAdapter, &close, sizeof(close));
    if (s && code == DBGCTL_OK) {
        dbgctl_fail(c, s, "the adapter cannot be closed");
        code = !strcmp(c->name, "selftest") ? DBGCTL_TRANSPORT : DBGCTL_CLOSE;
    }
    return code;
}

int main(int argc, char **argv)
{
    struct dbgctl c = {.timeout_ms = DBGCTL_CALL_MS,
                       .vblank_samples = 1,
                       .vblank_interval_ms = 250,
                       .samples = 10,
                       .interval_ms = 250,
                       .size = 256,
                       .count = 1};
    int code;

    c.body = json_object();
    code = dbgctl_parse(&c, argc, argv);
    if (code < 0)
        code = finish(&c, DBGCTL_OK);
    else
        code = finish(&c, code ? code : run(&c));
    _exit(code); /* calls that were left behind must not hold us up */
}
