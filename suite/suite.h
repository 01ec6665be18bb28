/* SPDX-License-Identifier: MIT */
/* suite.h: the frame of the validation programs. Each test is one file with one function; the same function is a
 * program of its own, which reaches the service over $AEROGPU_SOCKET, and a part of `aerogpu validate --sim`.
 *
 *   suite_run ─▶ options ─▶ required adapter? ─▶ the test ─▶ PASS, FAIL or SKIP on stdout, and as JSON
 *
 * Invariants:
 *  1. A test reaches the stack through D3DKMT and the user-mode driver only, as any program could.
 *  2. It fails once: the first failure is the reported one. A test that cannot run here says why and is SKIPped.
 *  3. Time comes from suite_now and passes in suite_sleep, so that a test runs in virtual time too; other processes and
 *     services of its own it has through struct suite_host, so that a sim has them as well.
 *  4. What a test draws at random comes from --seed.
 *  5. What the event log must show, that of the service and those of services of the test's own (suite_expect_service_event), and which rows of `aerogpu doctor`, the test says (suite_expect_*); whoever runs it and
 *     can read the log checks it. An event of a reset, a fault, a bug check or a broken rule that no test expects fails it.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "dxgkrnl/faults.h"
#include "umd/umd.h"

#define SUITE_VID 0xA3A0u

/* T(name, what it shows): every test, in the order in which the runner takes them. */
#define SUITE_TESTS(T)                                                                                       \
    T(device_state_sanity, "device identity: magic, ABI version, features")                                  \
    T(umd_private_sanity, "the UMDRIVERPRIVATE blob")                                                        \
    T(segment_budget_sanity, "segments and memory budget")                                                   \
    T(transfer_feature_sanity, "TRANSFER is offered from ABI 1.1 on")                                        \
    T(fence_state_sanity, "fences only go up, completed <= submitted, and work moves them")                  \
    T(ring_state_sanity, "ring indices and the last descriptors")                                            \
    T(perf_state_sanity, "counters")                                                                         \
    T(scanout_state_sanity, "cached scanout state, registers and mode agree")                                \
    T(cursor_state_sanity, "cursor registers follow the cursor")                                             \
    T(modeset_roundtrip_sanity, "another mode and back")                                                     \
    T(dump_createalloc_sanity, "the trace of created allocations")                                           \
    T(vblank_wait, "a vblank can be waited for")                                                             \
    T(wait_vblank_pacing, "cadence of WaitForVerticalBlankEvent")                                            \
    T(vblank_wait_pacing, "the same, with a narrower band")                                                  \
    T(vblank_wait_sanity, "every wait meets the next vblank")                                                \
    T(vblank_state_sanity, "vblank number, time and period")                                                 \
    T(get_scanline_sanity, "the scan line moves and matches the vertical blank")                             \
    T(raster_status_pacing, "the raster goes through its lines once a vblank")                               \
    T(dbgctl_selftest_sanity, "the driver's self-test")                                                      \
    T(dbgctl_escape_security_sanity, "gated escapes refuse who may not")                                     \
    T(map_shared_handle_stress, "debug tokens of shared handles (gated)")                                    \
    T(triangle, "a triangle drawn, read back and presented")                                                 \
    T(readback_sanity, "copies to guest memory give what was drawn")                                         \
    T(compute_smoke, "a dispatch writes a buffer that is read back")                                         \
    T(event_query, "queries do not wait, and events arrive once")                                            \
    T(submit_fence_stress, "a fence and a query a submission, presents marked and held back")                \
    T(dwm_ddi_sanity, "what a compositor asks every frame does not wait for a busy GPU")                     \
    T(submission_split, "long work is cut into submissions of less than 100 ms")                             \
    T(alloc_table_readonly_sanity, "READONLY follows WriteOperation")                                        \
    T(alloc_id_persistence, "ids stay, and two allocations never share one")                                 \
    T(shared_surface, "a surface shared between two devices")                                                \
    T(shared_surface_ipc, "a surface shared between two processes")                                          \
    T(shared_surface_many_producers, "many producers, one consumer, one submission")                         \
    T(shared_surface_stress, "create, open, destroy, again and again")                                       \
    T(shared_allocations, "a shared surface is one allocation")                                              \
    T(present_intervals, "intervals 0 to 4 take that many vblanks")                                          \
    T(dwm_flush_pacing, "the compositor keeps its pace with clients")                                        \
    T(vblank_under_load, "vblank keeps its pace while the GPU is busy")                                      \
    T(many_clients, "64 client processes at once")                                                           \
    T(client_kill, "a client that is killed disturbs nobody")                                                \
    T(device_removed_semantics, "after a reset old handles say device removed, new work runs")               \
    T(tdr_recovery, "a hang is detected, the adapter reset, and work runs again")                            \
    T(tdr_storm, "hang after hang")                                                                          \
    T(dma_fault, "a bad stream is a fault of its context only")                                              \
    T(freed_writeback, "nothing is written back into an allocation that is gone")                            \
    T(lost_interrupt, "a lost interrupt is found out")                                                       \
    T(doubled_interrupt, "an interrupt that comes twice counts once")                                        \
    T(delayed_interrupt, "an interrupt may be late")                                                         \
    T(lost_doorbell, "a doorbell that is lost is rung again")                                                \
    T(stale_fence, "a fence page that is not written loses no completion")                                   \
    T(late_answer, "an executor that answers late is waited for")                                            \
    T(late_vblank, "a vblank that is noticed late disturbs no pace")                                         \
    T(missing_vblank, "vblanks that are missed block nobody")                                                \
    T(burst_vblank, "vblanks reported again and again are one")                                              \
    T(executor_kill, "the executor dies and comes back")                                                     \
    T(ring_full, "more work than the ring holds waits its turn")                                             \
    T(blocked_ddi, "a driver call that does not come back ends in a report")                                 \
    T(reset_failure, "a reset that fails ends in a report, not in a hang")

struct suite_host {
    uint64_t (*now)(void *ctx);
    void (*sleep)(void *ctx, uint64_t ns);
    void *ctx;
    bool sim;

    /* What else a sim has; NULL in this machine, where processes are processes. Peers are numbers above 0; in a peer, 0 is
     * whoever started it. A peer that is ended badly, or killed, has the exit code -1. */
    int (*peer_start)(void *ctx, const char *test, const char *role);
    void (*peer_say)(void *ctx, int peer, const char *line);
    bool (*peer_hear)(void *ctx, int peer, char *line, size_t size, int timeout_ms);
    int (*peer_end)(void *ctx, int peer, int timeout_ms, bool killed);
    /* Another stack, with these settings, that D3DKMT leads to until it goes; its exit code and events. */
    int (*service_up)(void *ctx, const char *settings, struct error *e);
    int (*service_down)(void *ctx, json_t **events);
};

struct suite {
    const char *name, *program;
    const struct suite_host *host;
    char **argv;
    int argc;

    /* options */
    uint32_t samples, interval_ms, iterations, stress_iterations, timeout_ms, producers, ring_id, minutes,
        seed,                          /* 0: the test's default */
        slack;                         /* what upper limits of time are multiplied by: suite_limit */
    uint32_t require_vid, require_did; /* 0: any */
    bool require_umd, require_agpu, require_ours, allow_others, dump, validate_sharing, processes;
    const char *display, *json_path, *role, *log_dir;
    bool json;

    D3DKMT_HANDLE adapter;
    uint32_t source;
    bool ours; /* the miniport is AeroGPU's own: it is held to more than what any AeroGPU miniport must do */

    /* what becomes the report */
    char failure[400], skip_reason[200], description[128];
    uint32_t vid, did;
    bool failed, skipped;
    struct {
        double avg, min, max, p99;
        uint32_t count;
    } timing;
    json_t *measured; /* figures of the test, by name */
    json_t *artifacts;
    json_t *samples_ms;
    json_t *expects;  /* {events: [{source, id, count}], services: the same, doctor: [signal]} */
    json_t *services; /* of its own, when they are down: [{code, events}] */
    struct rng rng;   /* of --seed */
};

typedef void suite_fn(struct suite *s);
#define SUITE_DECLARE(name, doc) suite_fn test_##name;
SUITE_TESTS(SUITE_DECLARE)
#undef SUITE_DECLARE

suite_fn *suite_find(const char *name);
/* A whole program: parses argv, runs, reports, returns the exit code. `host` NULL: this machine. */
int suite_run(const char *name, suite_fn *fn, const struct suite_host *host, int argc, char **argv);
/* The same with the report (schema of report.json's tests) in *out, for whoever runs tests itself. */
int suite_run_report(const char *name, suite_fn *fn, const struct suite_host *host, int argc, char **argv,
                     json_t **out);

uint64_t suite_now(struct suite *s);
void suite_sleep(struct suite *s, uint64_t ns);
uint64_t suite_sleep_ms(struct suite *s, uint32_t ms);
void suite_log(struct suite *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void suite_fail(struct suite *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Whether the display is this user's, who is no stranger then (docs/dxgkrnl.md). */
bool suite_is_seated(const struct suite *s);
/* With the status's name. What a stranger cannot do because the display is not his is no failure: then it is skipped. */
void suite_fail_status(struct suite *s, const char *what, NTSTATUS status);
void suite_skip(struct suite *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* `what` has to be refused. Which status refuses is documented of our miniport's only. */
void suite_refused(struct suite *s, NTSTATUS status, NTSTATUS ours, const char *what);
static inline uint32_t suite_default(uint32_t value, uint32_t otherwise)
{
    return value ? value : otherwise;
}

/* An upper limit of time (or of vblanks): larger on a machine that has other things to do. */
static inline double suite_limit(const struct suite *s, double limit)
{
    return limit * suite_default(s->slack, 1);
}

/* The same for the longest that something may take, in ms. */
static inline int suite_ms(const struct suite *s, uint32_t ms)
{
    double limit = suite_limit(s, ms);

    return limit < INT32_MAX ? (int)limit : INT32_MAX;
}

/* Ends the message of a failure that such a limit is behind. */
#define SUITE_SLACK " (--time-slack N multiplies this limit)"

/* Fails the test and leaves it unless `cond`. */
#define CHECK(s, cond, ...)                                                                                  \
    do {                                                                                                     \
        if (!(cond)) {                                                                                       \
            suite_fail(s, __VA_ARGS__);                                                                      \
            return;                                                                                          \
        }                                                                                                    \
    } while (0)
/* The same for NTSTATUS: must be STATUS_SUCCESS. */
#define CHECK_STATUS(s, call, what)                                                                          \
    do {                                                                                                     \
        NTSTATUS check_status_ = (call);                                                                     \
        if (check_status_ != STATUS_SUCCESS) {                                                               \
            suite_fail_status(s, what, check_status_);                                                       \
            return;                                                                                          \
        }                                                                                                    \
    } while (0)
#define CHECK_EQ_STATUS(s, call, want, what)                                                                 \
    do {                                                                                                     \
        NTSTATUS check_status_ = (call);                                                                     \
        char check_a_[16], check_b_[16];                                                                     \
        if (check_status_ != (want)) {                                                                       \
            suite_fail(s, "%s: %s, expected %s%s", what, umd_status_name(check_status_, check_a_),           \
                       umd_status_name(want, check_b_), check_status_ == STATUS_TIMEOUT ? SUITE_SLACK : ""); \
            return;                                                                                          \
        }                                                                                                    \
    } while (0)

/* Interval samples in milliseconds become the test's timing. */
void suite_timing(struct suite *s, const double *ms, uint32_t n);
void suite_measure(struct suite *s, const char *name, double value);
void suite_artifact(struct suite *s, const char *path);

NTSTATUS suite_escape(struct suite *s, uint32_t op, void *block, uint32_t size);
#define SUITE_ESCAPE(s, NAME, e) suite_escape(s, AEROGPU_ESCAPE_OP_##NAME, e, sizeof(*(e)))
NTSTATUS suite_wait_vblank(struct suite *s);
/* The same, but a wait that hangs ends the test (and its process) as failed, after --wait-timeout-ms, else 2 s. */
NTSTATUS suite_wait_vblank_bounded(struct suite *s);
/* How many vblanks the system has noticed: what a wait waits for one more of. The device's own number runs ahead of it as long as
 * news of a vblank is under way. */
NTSTATUS suite_noticed_vblanks(struct suite *s, struct umd_device *d, uint32_t *count);
NTSTATUS suite_mode(struct suite *s, D3DKMT_DISPLAYMODE *mode);

/* ---- scenes that several tests use (scene.c) ----------------------------- */

struct suite_scene {
    struct umd_device *device;
    struct umd_resource *target, *vertices;
    uint32_t vs, ps, layout;
};
/* A red ground with a green triangle in the middle, width x height. */
NTSTATUS suite_scene_create(struct suite_scene *sc, struct umd_device *d, uint32_t width, uint32_t height);
void suite_scene_draw(struct suite_scene *sc);
void suite_scene_destroy(struct suite_scene *sc);
/* Whether the picture is that scene; says what is wrong. */
bool suite_scene_check(struct suite *s, const uint32_t *pixels, uint32_t width, uint32_t height);
/* A picture next to the test's report, as an artifact, with --dump; 0xAARRGGBB. */
void suite_dump(struct suite *s, const char *what, const uint32_t *pixels, uint32_t width, uint32_t height);
/* A dispatch of `groups_x` x `groups_y` groups: 0 returns at once, 65535 x 65535 never ends in anybody's life. */
NTSTATUS suite_dispatch(struct umd_device *d, struct umd_resource **buffer, uint32_t groups_x,
                        uint32_t groups_y);
/* Submits work that will not end; STATUS_SUCCESS when it is under way. */
NTSTATUS suite_hang(struct suite *s, struct umd_device *d);

/* ---- other processes (peer.c) -------------------------------------------- */

struct suite_peer {
    const struct suite_host *host; /* of a sim: `pid` is the host's number of it; else NULL */
    int pid, to, from;             /* pipes: lines of text */
};
/* This test again as another process, with --role=ROLE. */
bool suite_peer_start(struct suite *s, struct suite_peer *p, const char *role);
void suite_peer_say(struct suite_peer *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A line from it, without the newline; false, and what there is of a line, after timeout_ms or when it is gone. */
bool suite_peer_hear(struct suite_peer *p, char *line, size_t size, int timeout_ms);
int suite_peer_end(struct suite_peer *p, int timeout_ms); /* exit status, -1: had to be killed */
void suite_peer_kill(struct suite_peer *p);
/* In the other process: the same pipes. */
void suite_say(struct suite *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool suite_hear(struct suite *s, char *line, size_t size, int timeout_ms);

/* ---- a service of the test's own (service.c): for what a service does not survive, or settings ---- */

struct suite_service {
    const struct suite_host *host; /* of a sim */
    char folder[64], socket[96], settings[96];
    int pid;
    void *out; /* FILE: its standard output */
    D3DKMT_HANDLE adapter;
};
/* `settings` are those of GraphicsDrivers, `parameters` the driver's. The test's adapter is this service's from now on.
 * False: the test has failed or is skipped. suite_service_down in each case. */
bool suite_service_up(struct suite *s, struct suite_service *v, const char *settings, const char *parameters);
/* Its exit code, and its events [{source, id, text}], a new reference. */
int suite_service_down(struct suite *s, struct suite_service *v, json_t **events);
unsigned suite_count_events(const json_t *events, const char *source, int id);
/* The last event that is no remark on what the driver says of itself (dxgkrnl 10 and 11); NULL: there is none. */
const json_t *suite_trouble(const json_t *events);

/* ---- what goes wrong, and what must go on (recovery.c) ------------------- */

/* Resets that the adapter counts. */
uint32_t suite_tdr_count(struct suite *s);
/* Draws the scene on a fresh device until it comes out right, at most `ms` (and the slack); how long that took. */
void suite_works_again(struct suite *s, uint32_t ms, double *took_ms);
/* min to max, from the seed. */
uint32_t suite_random(struct suite *s, uint32_t min, uint32_t max);
/* The event log must have `count` of these since the test began, and the doctor must name this row. */
enum { SUITE_SOME = -1, SUITE_ANY_NUMBER = -2 };
void suite_expect_event(struct suite *s, const char *source, unsigned id, int count);
/* The same of the services of its own, all together, until they are unloaded. What is expected there was planted. */
void suite_expect_service_event(struct suite *s, const char *source, unsigned id, int count);
void suite_expect_row(struct suite *s, const char *signal);
/* Makes something go wrong `value` times (dxgkrnl/faults.h). False, and the test is skipped, where that is not allowed. */
bool suite_fault(struct suite *s, enum dxgk_fault fault, uint32_t value);
/* What is left of it will not happen. */
void suite_disarm(struct suite *s, enum dxgk_fault fault);
