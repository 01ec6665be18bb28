/* SPDX-License-Identifier: MIT */
/* rows.h: a dump as it is written, among the files that do it: rows.c, rows_bound.c, rows_memory.c. */
#pragma once

#include "vkbox/judge.h"

/* Of VkObjectType. */
enum {
    VKBOX_MEMORY = 8,
    VKBOX_BUFFER = 9,
    VKBOX_IMAGE = 10,
    VKBOX_BUFFER_VIEW = 13,
    VKBOX_IMAGE_VIEW = 14,
    VKBOX_SET = 23
};
enum { STALE = 4, LEADS = 64 };

#define DESTROYED ", destroyed"

struct rows {
    const struct vkbox_reader *r;
    const struct vkbox_event *ev;
    const struct vkbox_verdict *v;
    struct bb_package *p;
    enum bb_sure memory; /* that the fault is about what is named */
    char stale[STALE][400];
    uint32_t num_stale;
    const struct vkbox_object *faulted, *pipeline; /* what the fault is about; what was bound. NULL: none */
    const struct vkbox_object *leads[LEADS]; /* buffers and images that the command has bound, or names */
    uint32_t num_leads;
    bool foreign;     /* the command may reach what a command bound that the registry does not know */
    char others[300]; /* those that could lead to the address besides the one that it lies at; "": none */
};

const struct vkbox_device *rows_device(const struct rows *o);
void rows_describe(const struct vkbox_object *o, uint64_t handle, char out[160]);
/* When the memory behind a buffer or image was freed; 0: it was not. */
uint64_t rows_freed_ns(const struct vkbox_reader *r, const struct vkbox_object *o);

/* rows_bound.c. What was bound at the command, and what of that is gone. */
void rows_put_bound(struct rows *o);
void rows_put_stale(struct rows *o);
/* Whether the command has it bound, or names it. */
bool rows_lead(const struct rows *o, const struct vkbox_object *of);

/* rows_memory.c */
void rows_put_resources(struct rows *o, struct bb_resources *known);
void rows_put_fault(struct rows *o, struct bb_resources *known);
