/* A query is asked without waiting and becomes done; an event is signalled once for once; the state stays. */
#include "suite.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

void test_event_query(struct suite *s)
{
    uint32_t n = suite_default(s->iterations, 20), pending = 0;
    struct umd_device *d = NULL;
    struct suite_scene scene;
    double ms[512];
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    uint64_t count = 0;
    NTSTATUS st;

    if (n > 512)
        n = 512;
    CHECK(s, fd >= 0, "no event");
    st = umd_open(&d, NULL);
    if (NT_SUCCESS(st))
        st = suite_scene_create(&scene, d, 256, 256);
    for (uint32_t i = 0; i < n && NT_SUCCESS(st) && !s->failed; i++) {
        struct umd_query q;
        uint64_t start;
        suite_scene_draw(&scene);
        start = suite_now(s);
        st = umd_query_issue(d, &q);
        while (NT_SUCCESS(st) && umd_query_get(&q) == STATUS_PENDING) {
            pending++;
            if (suite_now(s) - start > 5 * NSEC_PER_SEC) {
                suite_fail(s, "query %u is not done after 5 s", i);
                break;
            }
            suite_sleep(s, 50000);
        }
        ms[i] = (double)(suite_now(s) - start) / 1e6;
        if (NT_SUCCESS(st) && !s->failed && umd_query_get(&q) != STATUS_SUCCESS)
            suite_fail(s, "query %u was done and is not any more", i);
        if (NT_SUCCESS(st))
            st = umd_signal_event(d, fd);
        if (NT_SUCCESS(st))
            st = umd_finish(d, 5000);
    }
    if (NT_SUCCESS(st) && !s->failed) {
        st = umd_wait(d, (uint64_t)0, 0);
        suite_timing(s, ms, n);
        if (!(s->host && s->host->sim))
            poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 2000);
        if (read(fd, &count, sizeof(count)) != sizeof(count) || count != n)
            suite_fail(s, "%llu signals for %u requests", (unsigned long long)count, n);
    }
    suite_measure(s, "polls_while_pending", pending);
    umd_close(d);
    close(fd);
    CHECK(s, NT_SUCCESS(st), "submissions failed with 0x%08X", (uint32_t)st);
}
