/* SPDX-License-Identifier: MIT */
#include "cpu/model/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Makes the stream's next event available; marks it done at its end. */
static void refill(struct cpu_merge *m, uint32_t i)
{
    struct cpu_stream *s = &m->streams[i];

    if (!s->done && s->at == s->num) {
        s->at = 0;
        s->num = m->fill(m->ctx, i, s->events);
        s->done = s->num == 0;
        if (s->num && s->events[0].ns < s->last_ns)
            cpu_note(m->notes, "CPU %u: time goes back by %llu ns at %llu", s->cpu,
                     (unsigned long long)(s->last_ns - s->events[0].ns), (unsigned long long)s->last_ns);
        if (s->num)
            s->last_ns = s->events[s->num - 1].ns;
    }
    m->heads[i] = s->done ? UINT64_MAX : s->events[s->at].ns;
}

/* heap[] holds the streams, the one with the earliest head first; each is not later than those at 2i+1 and 2i+2. */
static void sift_down(struct cpu_merge *m, uint32_t i)
{
    const uint32_t n = m->num_streams, stream = m->heap[i];
    const uint64_t head = m->heads[stream];

    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= n)
            break;
        if (child + 1 < n && m->heads[m->heap[child + 1]] < m->heads[m->heap[child]])
            child++;
        if (m->heads[m->heap[child]] >= head)
            break;
        m->heap[i] = m->heap[child];
        i = child;
    }
    m->heap[i] = stream;
}

static int merge_next(struct cpu_source *source, const struct cpu_event **run)
{
    struct cpu_merge *m = (struct cpu_merge *)source;
    uint64_t second = UINT64_MAX;
    struct cpu_stream *s;
    uint32_t n;

    if (!m->num_streams)
        return 0;
    if (m->taken) {
        m->streams[m->heap[0]].at += m->taken;
        m->taken = 0;
        refill(m, m->heap[0]);
        sift_down(m, 0);
    }
    s = &m->streams[m->heap[0]];
    if (s->done)
        return 0;
    for (uint32_t i = 1; i <= 2 && i < m->num_streams; i++)
        if (m->heads[m->heap[i]] < second)
            second = m->heads[m->heap[i]];
    *run = &s->events[s->at];
    for (n = 1; s->at + n < s->num && (*run)[n].ns <= second; n++)
        ;
    m->taken = n;
    for (uint32_t i = 0; i < n; i++)
        m->counts[(*run)[i].type]++;
    return (int)n;
}

int cpu_merge_init(struct cpu_merge *m, const uint16_t *cpus, uint32_t num, uint32_t max_events,
                   cpu_fill_fn fill, void *ctx, struct cpu_notes *notes)
{
    *m = (struct cpu_merge){
        .source = {merge_next}, .notes = notes, .fill = fill, .ctx = ctx, .num_streams = num};
    m->streams = calloc(num + 1, sizeof(*m->streams));
    m->heads = calloc(num + 1, sizeof(*m->heads));
    m->heap = calloc(num + 1, sizeof(*m->heap));
    m->counts = calloc(65536, sizeof(*m->counts));
    if (!m->streams || !m->heads || !m->heap || !m->counts)
        goto fail;
    for (uint32_t i = 0; i < num; i++) {
        m->streams[i].cpu = cpus[i];
        m->streams[i].events = malloc(max_events * sizeof(struct cpu_event));
        if (!m->streams[i].events)
            goto fail;
    }
    for (uint32_t i = 0; i < num; i++) {
        refill(m, i);
        m->heap[i] = i;
    }
    for (uint32_t i = num / 2; i-- > 0;)
        sift_down(m, i);
    return 0;
fail:
    cpu_merge_finish(m);
    return -ENOMEM;
}

void cpu_merge_finish(struct cpu_merge *m)
{
    for (uint32_t i = 0; m->streams && i < m->num_streams; i++)
        free(m->streams[i].events);
    free(m->streams);
    free(m->heads);
    free(m->heap);
    free(m->counts);
    memset(m, 0, sizeof(*m));
}
