/* SPDX-License-Identifier: MIT */
/* suite.c: options, the report, what every test needs. The contract is in suite.h. */
#include "suite.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <aerogpu/ext.h>
#include <aerogpu/pci.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/options.h"
#include "d3dkmt/d3dkmt.h"

static const struct {
    const char *name, *doc;
    suite_fn *fn;
} tests[] = {
#define ROW(name, doc) {#name, doc, test_##name},
    SUITE_TESTS(ROW)
#undef ROW
};

suite_fn *suite_find(const char *name)
{
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
        if (!strcmp(tests[i].name, name))
            return tests[i].fn;
    return NULL;
}

static const char *doc_of(const char *name)
{
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
        if (!strcmp(tests[i].name, name))
            return tests[i].doc;
    return "";
}

/* ---- time and words ------------------------------------------------------ */

uint64_t suite_now(struct suite *s)
{
    return s->host ? s->host->now(s->host->ctx) : clock_now(&(struct clock){0});
}

void suite_sleep(struct suite *s, uint64_t ns)
{
    struct timespec t = {(time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC)};

    if (s->host)
        s->host->sleep(s->host->ctx, ns);
    else
        while (nanosleep(&t, &t))
            ;
}

uint64_t suite_sleep_ms(struct suite *s, uint32_t ms)
{
    suite_sleep(s, ms * NSEC_PER_MSEC);
    return suite_now(s);
}

void suite_log(struct suite *s, const char *fmt, ...)
{
    va_list ap;

    if (s->host && s->host->sim) /* many tests, one screen */
        return;
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    fflush(stdout);
}

void suite_fail(struct suite *s, const char *fmt, ...)
{
    va_list ap;

    if (s->failed)
        return;
    s->failed = true;
    va_start(ap, fmt);
    vsnprintf(s->failure, sizeof(s->failure), fmt, ap);
    va_end(ap);
}

void suite_skip(struct suite *s, const char *fmt, ...)
{
    va_list ap;

    if (s->skipped)
        return;
    s->skipped = true;
    va_start(ap, fmt);
    vsnprintf(s->skip_reason, sizeof(s->skip_reason), fmt, ap);
    va_end(ap);
}

bool suite_is_seated(const struct suite *s)
{
    D3DKMT_VIDPNSOURCEOWNER_TYPE type = D3DKMT_VIDPNSOURCEOWNER_UNOWNED;
    D3DKMT_CREATEDEVICE d = {.hAdapter = s->adapter};
    D3DKMT_SETVIDPNSOURCEOWNER own = {.pType = &type, .pVidPnSourceId = &(UINT){0}, .VidPnSourceCount = 1};
    NTSTATUS st = D3DKMTCreateDevice(&d);

    if (!NT_SUCCESS(st))
        return true;
    own.hDevice = d.hDevice;
    st = D3DKMTSetVidPnSourceOwner(&own);
    D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){d.hDevice});
    return st != STATUS_ACCESS_DENIED;
}

void suite_refused(struct suite *s, NTSTATUS status, NTSTATUS ours, const char *what)
{
    if (s->ours)
        CHECK_EQ_STATUS(s, status, ours, what);
    else
        CHECK(s, !NT_SUCCESS(status), "%s was taken", what);
}

void suite_fail_status(struct suite *s, const char *what, NTSTATUS status)
{
    char name[16];

    if ((status == STATUS_GRAPHICS_PRESENT_OCCLUDED || status == STATUS_ACCESS_DENIED) && !suite_is_seated(s))
        suite_skip(
            s,
            "%s: the display is not this user's: be root, the service's own user, or who `aerogpu serve --seat` names",
            what);
    else
        suite_fail(s, "%s: %s%s", what, umd_status_name(status, name),
                   status == STATUS_TIMEOUT ? SUITE_SLACK : "");
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void suite_timing(struct suite *s, const double *ms, uint32_t n)
{
    double *sorted = malloc((n ? n : 1) * sizeof(double)), sum = 0;

    if (!n || !sorted) {
        free(sorted);
        return;
    }
    json_decref(s->samples_ms);
    s->samples_ms = json_array();
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = ms[i];
        sum += ms[i];
        if (i < 600)
            json_array_append_new(s->samples_ms, json_real((double)(long)(ms[i] * 1e6) / 1e6));
    }
    qsort(sorted, n, sizeof(*sorted), by_value);
    s->timing.count = n;
    s->timing.avg = sum / n;
    s->timing.min = sorted[0];
    s->timing.max = sorted[n - 1];
    s->timing.p99 = sorted[(n - 1) * 99 / 100];
    INVARIANT(s->timing.min <= s->timing.p99 && s->timing.p99 <= s->timing.max);
    INVARIANT(json_array_size(s->samples_ms) <= n);
    free(sorted);
    suite_log(s, "samples=%u avg=%.3f ms min=%.3f ms max=%.3f ms p99=%.3f ms", n, s->timing.avg,
              s->timing.min, s->timing.max, s->timing.p99);
}

void suite_measure(struct suite *s, const char *name, double value)
{
    json_object_set_new(s->measured, name, json_real(value));
    suite_log(s, "%s = %g", name, value);
}

void suite_artifact(struct suite *s, const char *path)
{
    json_array_append_new(s->artifacts, json_string(path));
}

/* ---- what every test asks ------------------------------------------------ */

NTSTATUS suite_escape(struct suite *s, uint32_t op, void *block, uint32_t size)
{
    return umd_escape(s->adapter, op, block, size);
}

bool suite_fault(struct suite *s, enum dxgk_fault fault, uint32_t value)
{
    struct dxgk_injection i = {.fault = fault, .value = value};
    NTSTATUS st = D3DKMTEscape(&(D3DKMT_ESCAPE){.hAdapter = s->adapter,
                                                .Type = (D3DKMT_ESCAPETYPE)DXGK_ESCAPE_INJECT,
                                                .pPrivateDriverData = &i,
                                                .PrivateDriverDataSize = sizeof(i)});
    char text[16];

    if (st != STATUS_SUCCESS)
        suite_skip(
            s,
            "faults cannot be injected here: %s; EnableFaultInjection = 1 and root or the service's user can",
            umd_status_name(st, text));
    return st == STATUS_SUCCESS;
}

NTSTATUS suite_wait_vblank(struct suite *s)
{
    return D3DKMTWaitForVerticalBlankEvent(
        &(D3DKMT_WAITFORVERTICALBLANKEVENT){.hAdapter = s->adapter, .VidPnSourceId = s->source});
}

NTSTATUS suite_noticed_vblanks(struct suite *s, struct umd_device *d, uint32_t *count)
{
    D3DKMT_GETDEVICESTATE g = {.hDevice = umd_kmt_device(d),
                               .StateType = D3DKMT_DEVICESTATE_PRESENT,
                               .PresentState.VidPnSourceId = s->source};
    NTSTATUS st = D3DKMTGetDeviceState(&g);

    *count = g.PresentState.PresentStats.SyncRefreshCount;
    return st;
}

NTSTATUS suite_mode(struct suite *s, D3DKMT_DISPLAYMODE *mode)
{
    D3DKMT_CURRENTDISPLAYMODE m = {.VidPnSourceId = s->source};
    D3DKMT_QUERYADAPTERINFO q = {.hAdapter = s->adapter,
                                 .Type = KMTQAITYPE_CURRENTDISPLAYMODE,
                                 .pPrivateDriverData = &m,
                                 .PrivateDriverDataSize = sizeof(m)};
    NTSTATUS st = D3DKMTQueryAdapterInfo(&q);

    *mode = m.DisplayMode;
    return st;
}

void suite_disarm(struct suite *s, enum dxgk_fault fault)
{
    struct dxgk_injection i = {.fault = fault};

    D3DKMTEscape(&(D3DKMT_ESCAPE){.hAdapter = s->adapter,
                                  .Type = (D3DKMT_ESCAPETYPE)DXGK_ESCAPE_INJECT,
                                  .pPrivateDriverData = &i,
                                  .PrivateDriverDataSize = sizeof(i)});
}

uint32_t suite_random(struct suite *s, uint32_t min, uint32_t max)
{
    return min + (uint32_t)rng_below(&s->rng, (uint64_t)max - min + 1);
}

static void expect(struct suite *s, const char *where, const char *source, unsigned id, int count)
{
    json_array_append_new(json_object_get(s->expects, where),
                          json_pack("{s:s, s:i, s:i}", "source", source, "id", (int)id, "count", count));
}

void suite_expect_event(struct suite *s, const char *source, unsigned id, int count)
{
    expect(s, "events", source, id, count);
}

void suite_expect_service_event(struct suite *s, const char *source, unsigned id, int count)
{
    expect(s, "services", source, id, count);
}

void suite_expect_row(struct suite *s, const char *signal)
{
    json_array_append_new(json_object_get(s->expects, "doctor"), json_string(signal));
}

static NTSTATUS query(struct suite *s, KMTQUERYADAPTERINFOTYPE type, void *data, UINT size)
{
    return D3DKMTQueryAdapterInfo(&(D3DKMT_QUERYADAPTERINFO){
        .hAdapter = s->adapter, .Type = type, .pPrivateDriverData = data, .PrivateDriverDataSize = size});
}

static void open_adapter(struct suite *s)
{
    D3DKMT_OPENADAPTERFROMHDC open = {.hDc = (HDC)(uintptr_t)s->display};
    D3DKMT_QUERY_DEVICE_IDS ids = {0};
    static D3DKMT_ADAPTERREGISTRYINFO names;
    size_t n = 0;

    NTSTATUS st = D3DKMTOpenAdapterFromHdc(&open);
    CHECK(s, st != STATUS_NO_SUCH_DEVICE,
          "no %s: `aerogpu serve` starts a service, $" D3DKMT_SOCKET_VARIABLE " says where it is",
          s->display ? "such display, or no service" : "service answers");
    CHECK_STATUS(s, st, "D3DKMTOpenAdapterFromHdc");
    s->adapter = open.hAdapter;
    s->source = open.VidPnSourceId;
    if (NT_SUCCESS(query(s, KMTQAITYPE_PHYSICALADAPTERDEVICEIDS, &ids, sizeof(ids)))) {
        s->vid = ids.DeviceIds.VendorID;
        s->did = ids.DeviceIds.DeviceID;
    }
    if (NT_SUCCESS(query(s, KMTQAITYPE_ADAPTERREGISTRYINFO, &names, sizeof(names))))
        for (; n + 1 < sizeof(s->description) && names.AdapterString[n]; n++)
            s->description[n] = names.AdapterString[n] < 128 ? (char)names.AdapterString[n] : '?';
    CHECK(s,
          s->role || s->allow_others || s->require_vid || /* a peer takes what the test took */
              !s->vid || s->vid == SUITE_VID,
          "the adapter is 0x%04X:0x%04X, not AeroGPU: --allow-non-aerogpu takes it all the same", s->vid,
          s->did);
    CHECK(s, !s->require_vid || s->vid == s->require_vid,
          "the adapter's vendor is 0x%04X, 0x%04X is required", s->vid, s->require_vid);
    CHECK(s, !s->require_did || s->did == s->require_did,
          "the adapter's device is 0x%04X, 0x%04X is required", s->did, s->require_did);
    {
        static struct aerogpu_escape_read_log log; /* an escape that only ours has */
        s->ours = NT_SUCCESS(umd_escape(s->adapter, AEROGPU_EXT_ESCAPE_OP_READ_LOG, &log, sizeof(log)));
    }
    CHECK(s, s->ours || !s->require_ours, "--require-ours: the miniport is somebody else's");
    if (s->require_umd || s->require_agpu) {
        struct aerogpu_umd_private p = {0};
        CHECK_STATUS(s, query(s, KMTQAITYPE_UMDRIVERPRIVATE, &p, sizeof(p)), "UMDRIVERPRIVATE");
        CHECK(s, p.size_bytes >= sizeof(p), "--require-umd: the blob says %u bytes", p.size_bytes);
        CHECK(s, !s->require_agpu || p.device_mmio_magic == AEROGPU_MMIO_MAGIC,
              "--require-agpu: the device has the magic 0x%08X", p.device_mmio_magic);
    }
}

/* ---- options ------------------------------------------------------------- */

/* 0; 1: help was shown; -1: wrong usage. */
static int parse(struct suite *s, int argc, char **argv)
{
    static const char nothing[] =
        "taken, and changes nothing: no windows, no remote sessions, no Microsoft adapter here";
    bool unused, no_sharing = false;
    struct error e = {0};
    struct options_row rows[] = {
        OPT_U32("samples", 0, &s->samples, 1, UINT32_MAX, "N", "how many samples to take"),
        OPT_U32("interval-ms", 0, &s->interval_ms, 1, UINT32_MAX, "N", "time between two samples"),
        OPT_U32("iterations", 0, &s->iterations, 1, UINT32_MAX, "N", "how often to repeat"),
        OPT_U32("stress-iterations", 0, &s->stress_iterations, 1, UINT32_MAX, "N",
                "the same, for the stress phase of event_query"),
        OPT_U32("wait-timeout-ms", 0, &s->timeout_ms, 1, UINT32_MAX, "N",
                "the longest wait before the test fails"),
        OPT_U32("producers", 0, &s->producers, 1, UINT32_MAX, "N", "how many producer or client processes"),
        OPT_U32("minutes", 0, &s->minutes, 1, 60 * 24, "N",
                "dwm_flush_pacing: how long composition has to stay on, in place of --samples"),
        OPT_U32("ring-id", 0, &s->ring_id, 0, UINT32_MAX, "N", "which ring (there is ring 0)"),
        OPT_U32("seed", 0, &s->seed, 0, UINT32_MAX, "N", "for what is random"),
        OPT_U32("time-slack", 0, &s->slack, 1, UINT32_MAX, "N",
                "multiply the upper limits of time, for a busy machine"),
        OPT_U32("require-vid", 0, &s->require_vid, 1, UINT32_MAX, "N",
                "fail unless the adapter has this vendor"),
        OPT_U32("require-did", 0, &s->require_did, 1, UINT32_MAX, "N",
                "fail unless the adapter has this device id"),
        OPT_FLAG("require-umd", 0, &s->require_umd,
                 "fail unless the driver has data for the user-mode driver"),
        OPT_FLAG("require-agpu", 0, &s->require_agpu, "fail unless the device is AGPU, not the legacy one"),
        OPT_FLAG("require-ours", 0, &s->require_ours,
                 "fail unless the miniport is AeroGPU's own, which is held to more than others"),
        OPT_FLAG("allow-non-aerogpu", 0, &s->allow_others, "run on an adapter of another vendor too"),
        OPT_TEXT("display", 0, &s->display, "NAME", "which display, \\\\.\\DISPLAY1"),
        OPT_FLAG("dump", 0, &s->dump, "write pictures"),
        OPT_TEXT("log-dir", 0, &s->log_dir, "DIR", "where pictures go"),
        OPT_FLAG("no-validate-sharing", 0, &no_sharing,
                 "do not compare the pixels of shared surfaces; --dump does"),
        OPT_FLAG("validate-sharing", 0, &s->validate_sharing, "compare them: the default"),
        OPT_FLAG("process-stress", 0, &s->processes,
                 "event_query, shared_surface_stress: with another process"),
        OPT_TEXT("role", 0, &s->role, "ROLE", "(internal) the part of another process"),
        OPT_FLAG("hidden", 0, &unused, nothing),
        OPT_FLAG("show", 0, &unused, nothing),
        OPT_FLAG("allow-remote", 0, &unused, nothing),
        OPT_FLAG("allow-microsoft", 0, &unused, nothing),
        OPT_MAYBE("json", 0, &s->json, &s->json_path, "PATH", "also write the report; else to TEST.json"),
        OPT_END};
    int r;

    options_once(rows);
    r = options_parse(
        &(struct options){
            .rows = rows,
            .name = s->name,
            .summary = doc_of(s->name),
            .slash = true,
            .notes =
                "The service is found by `AEROGPU_SOCKET` (`aerogpu serve` starts one). Every test takes every option; what is not given has the test's own default.",
            .exits = {"passed or skipped", "failed"}},
        argc, argv, &e);

    if (r < 0)
        fprintf(stderr, "%s: %s; --help lists the options\n", s->name, e.text);
    s->validate_sharing = !no_sharing || s->dump;
    return r < 0 ? -1 : r;
}

/* ---- the report ---------------------------------------------------------- */

static json_t *adapter_json(const struct suite *s)
{
    char vid[16], did[16];

    if (!s->adapter)
        return json_null();
    snprintf(vid, sizeof(vid), "0x%04X", s->vid);
    snprintf(did, sizeof(did), "0x%04X", s->did);
    return json_pack("{s:s, s:s, s:s}", "description", s->description, "vid", vid, "did", did);
}

static json_t *report(struct suite *s, int code)
{
    json_t *r = json_pack(
        "{s:i, s:s, s:s, s:i, s:o, s:b, s:o, s:o, s:o, s:O, s:O, s:O, s:O}", "schema_version", 1, "test_name",
        s->name, "status", s->failed ? "FAIL" : "PASS", "exit_code", code, "failure",
        s->failed ? json_string(s->failure) : json_null(), "skipped", s->skipped && !s->failed, "skip_reason",
        s->skipped && !s->failed ? json_string(s->skip_reason) : json_null(), "adapter", adapter_json(s),
        "timing",
        s->timing.count
            ? json_pack("{s:i, s:f, s:f, s:f, s:f}", "samples", (int)s->timing.count, "avg_ms", s->timing.avg,
                        "min_ms", s->timing.min, "max_ms", s->timing.max, "p99_ms", s->timing.p99)
            : json_null(),
        "measured", s->measured, "artifacts", s->artifacts, "expects", s->expects, "services", s->services);

    if (r && s->samples_ms)
        json_object_set(json_object_get(r, "timing"), "samples_ms", s->samples_ms);
    return r;
}

static void write_report(struct suite *s, json_t *r)
{
    char path[512];

    if (s->json_path)
        snprintf(path, sizeof(path), "%s", s->json_path);
    else
        snprintf(path, sizeof(path), "%s.json", s->name);
    if (!r || json_dump_file(r, path, JSON_INDENT(2) | JSON_REAL_PRECISION(9)))
        fprintf(stderr, "%s: %s cannot be written\n", s->name, path);
}

/* ---- a wait that may hang ------------------------------------------------ */

/* The thread looks on: the wait itself must stay in its own thread, whose time is measured. */
static struct {
    pthread_mutex_t lock;
    struct suite *s;
    uint64_t end; /* 0: nobody waits */
    uint32_t ms;
    bool running;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *watch_main(void *unused)
{
    for (;;) {
        nanosleep(&(struct timespec){0, 20000000}, NULL);
        pthread_mutex_lock(&watch.lock);
        if (watch.end && suite_now(watch.s) > watch.end) {
            suite_fail(watch.s, "no vblank within %u ms: the wait hangs" SUITE_SLACK, watch.ms);
            json_t *r = report(watch.s, 1);
            printf("FAIL: %s: %s\n", watch.s->name, watch.s->failure);
            if (watch.s->json)
                write_report(watch.s, r);
            fflush(NULL);
            _exit(1);
        }
        pthread_mutex_unlock(&watch.lock);
    }
    return unused;
}

NTSTATUS suite_wait_vblank_bounded(struct suite *s)
{
    pthread_t thread;
    NTSTATUS st;

    if (s->host) /* in a sim a wait that hangs is seen by the sim */
        return suite_wait_vblank(s);
    pthread_mutex_lock(&watch.lock);
    watch.s = s;
    watch.ms = (uint32_t)suite_limit(s, suite_default(s->timeout_ms, 2000));
    watch.end = suite_now(s) + watch.ms * NSEC_PER_MSEC;
    if (!watch.running && !pthread_create(&thread, NULL, watch_main, NULL)) {
        pthread_detach(thread);
        watch.running = true;
    }
    pthread_mutex_unlock(&watch.lock);
    st = suite_wait_vblank(s);
    pthread_mutex_lock(&watch.lock);
    watch.end = 0;
    pthread_mutex_unlock(&watch.lock);
    return st;
}

int suite_run_report(const char *name, suite_fn *fn, const struct suite_host *host, int argc, char **argv,
                     json_t **out)
{
    struct suite s = {.name = name, .program = argv[0], .host = host, .argc = argc, .argv = argv};
    int parsed = parse(&s, argc, argv), code;
    json_t *r;

    if (parsed)
        return parsed < 0 ? 2 : 0;
    signal(SIGPIPE, SIG_IGN); /* a peer that is gone is noticed by what it does not say */
    s.measured = json_object();
    s.artifacts = json_array();
    s.expects = json_pack("{s:[], s:[], s:[]}", "events", "services", "doctor");
    s.services = json_array();
    s.rng.state = s.seed;
    open_adapter(&s);
    if (!s.failed)
        fn(&s);
    if (s.adapter)
        D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){.hAdapter = s.adapter});
    INVARIANT(!s.failed || s.failure[0]);
    INVARIANT(!s.skipped || s.skip_reason[0]);
    code = s.failed ? 1 : 0;
    r = s.role ? NULL : report(&s, code);
    if (!s.role && !(host && host->sim)) {
        if (s.failed)
            printf("FAIL: %s: %s\n", name, s.failure);
        else if (s.skipped)
            printf("SKIP: %s: %s\n", name, s.skip_reason);
        else
            printf("PASS: %s\n", name);
        if (s.json)
            write_report(&s, r);
    } else if (s.role && s.failed) {
        suite_say(&s, "FAIL %s", s.failure);
    }
    if (out)
        *out = json_incref(r);
    json_decref(r);
    json_decref(s.measured);
    json_decref(s.artifacts);
    json_decref(s.samples_ms);
    json_decref(s.expects);
    json_decref(s.services);
    return code;
}

int suite_run(const char *name, suite_fn *fn, const struct suite_host *host, int argc, char **argv)
{
    return suite_run_report(name, fn, host, argc, argv, NULL);
}
