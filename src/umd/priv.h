/* SPDX-License-Identifier: MIT */
/* priv.h: what the files of the user-mode driver share. */
#pragma once

#include "umd/umd.h"

struct umd_device {
    D3DKMT_HANDLE adapter, device, context;
    uint32_t source;
    struct aerogpu_umd_private info;
    struct abi_builder stream;
    uint8_t *command;
    uint32_t command_size;
    D3DDDI_ALLOCATIONLIST *list;
    uint32_t list_size;
    const struct dxgk_progress *progress;
    struct umd_resource *resources;
    struct umd_resource *target, *vertices, *constants[8], *uav;
    bool own_names; /* the driver keeps names of devices apart, and ends them; else that is left to us */
    uint32_t last_name, free_names[256], num_free_names;
    struct {
        uint32_t name;
        bool layout; /* else a shader */
    } * made;        /* not own_names: what is to be destroyed at the end, resources aside */
    size_t num_made, room_made;
    NTSTATUS failed;       /* first failure that ends the device */
    uint64_t work, budget; /* of the stream under construction; for a submission (split.c) */
    struct umd_pace {
        struct {
            uint64_t fence, work; /* work up to and with this submission */
        } marks[64];
        uint32_t first, count;
        uint64_t submitted; /* work, in all */
        uint64_t since_ns, since_work,
            since_fence; /* the GPU has been busy since then, when so much was done */
    } pace;
    struct umd_stats stats;
};

/* Nanoseconds of the clock that everything here takes time from. */
uint64_t umd_now(void);
/* log.c: a line, where somebody asked for them. */
void umd_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Notes a device that is gone; returns `s`. */
NTSTATUS umd_check(struct umd_device *d, NTSTATUS s);
/* Notes that the stream makes a shader, or an input layout. */
void umd_made(struct umd_device *d, uint32_t name, bool layout);
/* A name that DESTROY_RESOURCE was said for. */
void umd_free_name(struct umd_device *d, uint32_t name);
/* The handle that a binding slot holds changes from `*slot` to `r`. */
void umd_rebind(struct umd_resource **slot, struct umd_resource *r, bool write);
/* What holds of a device between two calls. */
void umd_device_check(const struct umd_device *d);
void umd_forget(struct umd_resource *r);
/* Submission `fence` took the stream's work along; and: a look at how far the GPU is, `now` if it has got there this very
 * moment. */
void umd_pace_submitted(struct umd_device *d, uint64_t fence);
void umd_pace_look(struct umd_device *d, bool now);
