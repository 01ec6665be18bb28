/* SPDX-License-Identifier: MIT */
/* priv.h: what machine.c shares with the two kinds. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "aerogpu/pci.h"
#include "machine/machine.h"

enum { BAR0_ADDRESS = 0xFEB00000, BAR1_ADDRESS = 0xE0000000 };

struct machine_ops {
    int (*start)(struct machine *m, struct error *e); /* after memory and clock, before the device */
    int (*run)(struct machine *m, struct error *e);   /* the device is there */
    void (*stop)(struct machine *m); /* no callback comes after it; the device is still there */
    void (*free)(struct machine *m);
    int (*wait_ready)(struct machine *m, int timeout_ms, struct error *e);
    int (*prepare)(struct machine *m, uint32_t client, int timeout_ms, struct error *e); /* NULL: always is */
    bool (*drop_write)(struct machine *m, uint32_t reg);                                 /* NULL: never */
    int (*wait)(struct machine *m, bool (*done)(void *ctx), void *ctx, uint64_t timeout_ns);
    bool (*poll_begin)(struct machine *m); /* NULL: never */
    void (*poll_end)(struct machine *m);
    void (*sleep)(struct machine *m, uint64_t ns);
    void (*set_irq)(struct machine *m, void (*irq)(void *ctx), void *ctx);
    void (*get_stats)(struct machine *m, struct machine_stats *out);
    int (*map)(struct machine *m, uint64_t gpa, uint64_t size, int fd,
               struct error *e); /* NULL: nothing to do */
    void (*unmap)(struct machine *m, uint64_t gpa, uint64_t size);
    struct loop *(*loop)(struct machine *m); /* NULL: it has none */
    int (*kill_executor)(struct machine *m);
    int (*stop_executor)(struct machine *m, uint64_t ns);
    bool (*end_work)(struct machine *m, uint32_t client, bool hangs);
    /* All NULL where nothing but a model executes. */
    void (*device_name)(struct machine *m, char name[256], bool *is_cpu);
    int (*executor_pid)(struct machine *m);
    int (*client_pid)(struct machine *m, uint32_t client);
    unsigned (*descriptors)(const struct machine *m, int *fds, unsigned max); /* besides memory's */
    uint64_t (*client_bytes)(struct machine *m, uint32_t client);
    bool (*is_ending)(struct machine *m, uint32_t client);
    void (*client_gone)(struct machine *m, uint32_t client);
    bool (*progress)(struct machine *m, struct exec_progress *out);
    bool (*last_death)(struct machine *m, struct exec_death *out, struct exec_progress *progress);
    const struct gpu_host_ops *host;
    const struct gpu_backend_ops *backend;
};

struct machine_region {
    uint64_t gpa, size;
};

struct machine {
    const struct machine_ops *ops;
    struct machine_params params;
    struct clock clock;
    uint8_t *ram;
    uint64_t ram_size;
    int ram_fd;
    struct gpu *gpu;
    pthread_mutex_t map_lock; /* what follows */
    struct machine_region *regions;
    size_t num_regions, max_regions;
    _Atomic uint32_t stale_fences;
    _Atomic uint64_t fence_page; /* where the driver put it */
    void *kind;                  /* struct live or struct sim */
};

extern const struct machine_ops machine_live_ops, machine_sim_ops;

/* dma_map of both kinds. */
void *machine_dma_map(void *machine, uint64_t gpa, uint64_t size);
