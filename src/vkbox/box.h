/* SPDX-License-Identifier: MIT */
/* box.h: what the layer keeps of a process that uses Vulkan: one file in memory, which outlives it.
 *
 * The layer writes, while the program runs; `aerogpu run` reads, when it crashed. Nothing is a pointer: everything refers by
 * index. Times are nanoseconds of CLOCK_MONOTONIC, 0 for "not yet".
 *
 * Invariants:
 *  1. What was written before an instant can be read after `kill -9` at that instant.
 *  2. The reader believes nothing: every index and count is checked where it is used (read.c).
 *  3. A slot of a device, queue, command buffer or object has one writer at a time; its `state` is written last when it is
 *     taken and first when it is given up.
 *  4. A command buffer's chunks are a list. What lies in them before `used` is whole calls.
 *  5. Device memory that the marks lie in is this file's: the device writes them, nobody has to copy.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "base/file/scratch.h"

#define VKBOX_LAYER "VK_LAYER_AEROGPU_blackbox"
#define VKBOX_VARIABLE                                                                                       \
    "AEROGPU_BLACKBOX" /* names the folder in which each process makes its file; "1": nobody watches */
#define VKBOX_EXACT  "AEROGPU_BLACKBOX_EXACT" /* "1": every command is marked */
#define VKBOX_GUARD  "AEROGPU_BLACKBOX_GUARD" /* "1": memory lies between pages that fault */
#define VKBOX_KNOWN  "AEROGPU_BLACKBOX_KNOWN" /* the folder with what a run before left (known.h) */
#define VKBOX_SUFFIX ".vkbox"
/* Where folders of records are made: the first that can be written. */
#define VKBOX_BASES                                                                                          \
    {                                                                                                        \
        scratch_runtime_dir(), "/dev/shm", "/tmp"                                                            \
    }
#define VKBOX_OWN_FOLDER                                                                                     \
    "aerogpu-blackbox-" /* and the user's number, there: records that nobody watches, and a folder for each that watches */

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define VKBOX_ROOM(n) ((n) / 256) /* each input is a whole box, which is looked through */
#else
#define VKBOX_ROOM(n) (n)
#endif

enum {
    VKBOX_MAGIC = 0x42564741, /* "AGVB" */
    VKBOX_VERSION = 7,
    VKBOX_DEVICES = 16,
    VKBOX_QUEUES = 64,
    VKBOX_COMMAND_BUFFERS = VKBOX_ROOM(16384),
    VKBOX_MARKS =
        VKBOX_ROOM(16384) < 1024 ? 1024 : VKBOX_ROOM(16384), /* of a device; a page's multiple in bytes */
    VKBOX_SUBMISSIONS = VKBOX_ROOM(8192),
    VKBOX_SUBMITTED = 12, /* command buffers, and semaphores each way, that a submission names itself */
    VKBOX_OBJECTS = VKBOX_ROOM(98304),
    VKBOX_CHUNKS = VKBOX_ROOM(16384),
    VKBOX_CHUNK_WORDS = 510,
    VKBOX_MORE = VKBOX_CHUNK_WORDS / 2,            /* command buffers that a chunk of a submission names */
    VKBOX_MORE_SEMAPHORES = VKBOX_CHUNK_WORDS / 4, /* and semaphores */
    VKBOX_SUBMITTED_MOST = VKBOX_SUBMITTED + 65 * VKBOX_MORE, /* that are kept of one: all that there are */
    VKBOX_SEMAPHORES_MOST = VKBOX_SUBMITTED + 16 * VKBOX_MORE_SEMAPHORES, /* each way */
    VKBOX_CODE = VKBOX_ROOM(24 << 20),
    VKBOX_ERRORS = 64,
    VKBOX_NAME = 48,
    VKBOX_STAGES = 5,
    VKBOX_STACKS = VKBOX_ROOM(8192),
    VKBOX_FRAMES = 16,
    VKBOX_MODULES = 512,
    VKBOX_REGISTERS = 16,
    VKBOX_DESCRIPTORS = VKBOX_ROOM(1 << 18),
    VKBOX_NO_INDEX = UINT32_MAX,
};

/* Allocation callbacks that the driver was given for all of an instance or device. */
enum vkbox_callbacks { VKBOX_NO_CALLBACKS, VKBOX_CALLBACKS, VKBOX_GENERATED_CALLBACKS };

enum vkbox_state { VKBOX_FREE, VKBOX_LIVE, VKBOX_GONE };

struct vkbox_device {
    _Atomic uint32_t state;
    _Atomic uint32_t lost; /* set by the reader: from now on calls answer VK_ERROR_DEVICE_LOST */
    uint64_t handle, created_ns, destroyed_ns;
    uint32_t vendor, id, api_version, driver_version, driver_id;
    uint32_t marks;                      /* enum vkbox_marks */
    uint32_t processor;                  /* 1: it is one (VK_PHYSICAL_DEVICE_TYPE_CPU) */
    uint32_t guards;                     /* 1: its allocations are guarded, where they can be */
    _Atomic uint32_t guarded, unguarded; /* so many were, and were not */
    char name[128], driver[64], driver_info[64];
};

/* How a device writes its marks. */
enum vkbox_marks {
    VKBOX_MARKS_NONE,
    VKBOX_MARKS_IMPORTED, /* into this file */
    VKBOX_MARKS_COPIED,   /* into memory of the process, which copies them while it waits */
};

struct vkbox_queue {
    _Atomic uint32_t state;
    uint32_t device, family, index, flags;
    uint64_t handle;
    _Atomic uint64_t submitted; /* number of the last submission to it, 0: none */
    _Atomic uint64_t finished;  /* up to this one all have ended, as the program was told; 0: none */
    _Atomic uint64_t open;      /* and up to this one not all had, as it was told at `open_ns`; 0: none */
    _Atomic uint64_t open_ns;
    char name[VKBOX_NAME];
};

/* What the program did with it while the device was at it. */
enum vkbox_left { VKBOX_LEFT_NOT, VKBOX_LEFT_RECORDED, VKBOX_LEFT_FREED };

/* A command buffer, as it was recorded last. */
struct vkbox_command_buffer {
    _Atomic uint32_t state;
    uint32_t device;
    uint64_t handle;
    _Atomic uint32_t recording; /* counts recordings: a submission names one */
    uint32_t secondary;         /* 1: it is executed by others */
    uint32_t first;             /* chunk, or VKBOX_NO_INDEX */
    uint32_t mark;              /* index of its mark in the device's, or VKBOX_NO_INDEX */
    uint32_t
        points; /* marks in it; the device writes 1 to `points` (point.h), each when everything before it has finished */
    uint32_t left;  /* enum vkbox_left */
    uint32_t cut;   /* 1: there was no room for all of it */
    uint32_t known; /* 1: each command of some groups is marked: a run before crashed there (known.h) */
    _Atomic uint64_t
        since; /* the submission at which its mark began anew: it may be that of each from there on */
    char name[VKBOX_NAME];
};

struct vkbox_submitted {
    uint32_t command_buffer, recording;
};

struct vkbox_semaphore {
    uint64_t handle, value; /* value 0: binary */
};

/* What a submission has no place for itself: the first chunk and the last, counted from 1; 0: none. */
struct vkbox_more {
    uint32_t first, last;
};

/* One batch of vkQueueSubmit. Its number is its place in the order of all, from 1; vkbox_slot_of() is where it lies. */
struct vkbox_submission {
    _Atomic uint64_t number; /* written last */
    uint64_t time_ns;
    uint32_t queue, thread;
    uint32_t stack;            /* that submitted it */
    uint64_t fence;            /* signalled by the last batch of its call */
    _Atomic uint32_t returned; /* 1: the driver has taken it. It may wait within the call */
    uint32_t num_command_buffers, num_waits, num_signals;
    struct vkbox_submitted command_buffers[VKBOX_SUBMITTED];
    struct vkbox_semaphore waits[VKBOX_SUBMITTED], signals[VKBOX_SUBMITTED];
    struct vkbox_more more, more_waits, more_signals;
};

/* Who but a submission may signal a semaphore. */
enum vkbox_outside { VKBOX_NOBODY, VKBOX_HOST, VKBOX_PRESENTATION, VKBOX_IMPORTED };

/* A shader of a pipeline. */
struct vkbox_code {
    uint32_t stage;        /* VkShaderStageFlagBits, 0: none */
    uint32_t offset, size; /* of its SPIR-V in vkbox.code; offset VKBOX_NO_INDEX: there was no room */
    char entry[16];
};

struct vkbox_object {
    _Atomic uint32_t state;
    uint32_t type; /* VkObjectType */
    uint32_t device,
        detail; /* detail: of images and their views the format, of semaphores enum vkbox_outside */
    uint64_t handle, created_ns, destroyed_ns;
    uint64_t size, address; /* bytes; address 0: not known */
    uint64_t parent,
        offset; /* of buffers and images the memory, of views what they show; of modules offset is in `code`,
                 * of sets in `descriptors`, of which they have `size` */
    uint32_t width, height, depth;
    uint32_t values;                   /* 1: a semaphore that has values */
    uint32_t created_by, destroyed_by; /* stacks */
    char name[VKBOX_NAME];
    struct vkbox_code code[VKBOX_STAGES]; /* of pipelines */
};

/* What one descriptor of a set names. */
struct vkbox_descriptor {
    uint32_t type; /* VkDescriptorType + 1; 0: nothing was written */
    uint32_t binding, element;
    uint64_t written_ns;
    uint64_t handle, other; /* buffer, or view; sampler */
    uint64_t offset, range; /* of a buffer, bytes */
};

/* Who called: return addresses, the innermost first. Number 0 is none. */
struct vkbox_stack {
    uint32_t num;
    uint64_t pc[VKBOX_FRAMES];
};

/* A program or library that has code on one of the stacks. */
struct vkbox_module {
    uint64_t first, end, base; /* its addresses; what its file's addresses are counted from */
    uint32_t build_id_size;
    uint8_t build_id[20];
    char name[64]; /* without folders */
};

/* A result of a call that is an error. */
struct vkbox_error {
    _Atomic uint64_t number; /* from 1, written last; the slot is number % VKBOX_ERRORS */
    uint64_t time_ns;
    uint32_t call; /* enum vkbox_call */
    int32_t result;
    uint32_t device, thread;
};

/* What the driver tells of a device that it lost (VK_EXT_device_fault). */
struct vkbox_said {
    uint32_t tells; /* 1: it does */
    uint32_t
        type; /* VkDeviceFaultAddressTypeEXT of the first address that is a page fault's, 0: it names none */
    uint64_t address; /* to `precision` bytes, a power of two */
    uint64_t precision;
    char text[256];
};

/* The first thing that went wrong so that the process cannot go on with its device. */
enum vkbox_crash_kind {
    VKBOX_NO_CRASH,
    VKBOX_DEVICE_LOST, /* a call answered so */
    VKBOX_SIGNAL,      /* the process gets one that ends it */
    VKBOX_HANG,        /* written by the reader */
};

struct vkbox_crash {
    _Atomic uint32_t kind;
    uint32_t device; /* or VKBOX_NO_INDEX */
    uint64_t time_ns;
    uint32_t call, thread;
    int32_t signal, code; /* of siginfo */
    uint32_t handled;     /* 1: the program has a handler for it, and may go on */
    _Atomic uint32_t
        inside;      /* the event's number, until that handler returns to a program that goes on; 0: it has */
    uint32_t sender; /* process that sent the signal, as it says itself; 0: it does not say */
    uint32_t processor; /* 1: the processor raised it, and what follows is known */
    uint32_t again;     /* 1: it came again when its instruction was run again: nobody made it up */
    uint32_t
        has_address; /* 1: and said which address; it does not of one that is not canonical, or not aligned */
    uint64_t address, pc;                /* si_addr; the instruction */
    uint64_t sp;                         /* the stack's pointer there */
    uint64_t fault;                      /* of a page fault the error code */
    uint64_t registers[VKBOX_REGISTERS]; /* x86-64: r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp */
    char thread_name[16];
    struct vkbox_said said;
};

struct vkbox_chunk {
    uint32_t next; /* or VKBOX_NO_INDEX */
    _Atomic uint32_t used;
    uint32_t words
        [VKBOX_CHUNK_WORDS]; /* calls: command << 16 | words, then the words (gen.py); or of struct vkbox_submitted */
};

struct vkbox {
    uint32_t magic, version;
    uint64_t size, schema; /* sizeof(struct vkbox); of the command table */
    uint32_t pid, exact;
    uint64_t pid_namespace;  /* in which `pid`, and threads, have their numbers; 0: not known */
    int64_t clock_offset_ns; /* of the program's CLOCK_MONOTONIC: boot_clock_offset() */
    uint64_t start_ns;
    uint64_t secret; /* of the marks (point.h) */
    char program[64];
    _Atomic uint32_t event;     /* counted up when the reader should look; a futex */
    _Atomic uint32_t collected; /* the reader has copied what there is; a futex */
    _Atomic uint64_t submissions, errors, next_code;
    _Atomic uint32_t ring;         /* so many submissions there is room for; 0: for all that fit */
    _Atomic uint64_t frames;       /* vkQueuePresentKHR */
    _Atomic uint32_t objects_lost; /* that there was no room for */
    uint32_t guard;                /* 1: --guard */
    _Atomic uint32_t ended;        /* 1: the process ended by itself */
    _Atomic uint32_t full;         /* 1: there was no room for some of it, which reads as zeros */
    _Atomic uint32_t buffers_lost; /* command buffers that there was no room for */
    _Atomic uint32_t devices_lost; /* devices */
    _Atomic uint32_t queues_lost;  /* queues */
    _Atomic uint32_t
        signals_lost; /* 1: a submission that signals semaphores, and may not have ended, is kept no more */
    _Atomic uint32_t checkpoints; /* 1: the program has put some into its command buffers */
    _Atomic uint32_t callbacks;   /* 1: the driver was given allocation callbacks whose code is of no file */
    char verdict[256];            /* written by the reader, before a device is lost or it has looked */
    struct vkbox_crash crash;
    struct vkbox_device devices[VKBOX_DEVICES];
    struct vkbox_queue queues[VKBOX_QUEUES];
    struct vkbox_error error[VKBOX_ERRORS];
    struct vkbox_command_buffer command_buffers[VKBOX_COMMAND_BUFFERS];
    struct vkbox_submission submission[VKBOX_SUBMISSIONS];
    struct vkbox_object objects[VKBOX_OBJECTS];
    struct vkbox_descriptor descriptors[VKBOX_DESCRIPTORS];
    struct vkbox_stack stacks[VKBOX_STACKS];
    struct vkbox_module modules[VKBOX_MODULES];
    struct vkbox_chunk chunks[VKBOX_CHUNKS];
    uint8_t code[VKBOX_CODE];
    _Alignas(4096) uint32_t marks[VKBOX_DEVICES][VKBOX_MARKS];
};

/* So many submissions are kept at the most: fewer where the file system got full before. */
static inline uint32_t vkbox_ring(const struct vkbox *b)
{
    const uint32_t ring = atomic_load_explicit(&b->ring, memory_order_relaxed);

    return ring && ring < VKBOX_SUBMISSIONS ? ring : VKBOX_SUBMISSIONS;
}

static inline uint32_t vkbox_slot_of(const struct vkbox *b, uint64_t number)
{
    return (uint32_t)(number % vkbox_ring(b));
}

/* So many command buffers of a submission are kept. */
static inline uint32_t vkbox_submitted_count(const struct vkbox_submission *s)
{
    const uint32_t n = *(const volatile uint32_t *)&s->num_command_buffers;

    return n < VKBOX_SUBMITTED_MOST ? n : VKBOX_SUBMITTED_MOST;
}

/* The words of the entry `i` of those that a submission has no place for itself, of which a chunk has `each`; NULL: it is not there. */
static inline const uint32_t *vkbox_more_at(const struct vkbox *b, const struct vkbox_more *more, uint32_t i,
                                            uint32_t each)
{
    uint32_t at = more->first - 1;

    for (; i >= each && at < VKBOX_CHUNKS; i -= each)
        at = b->chunks[at].next;
    return at < VKBOX_CHUNKS ? &b->chunks[at].words[VKBOX_CHUNK_WORDS / each * i] : NULL;
}

/* One of them; what is not there is slot VKBOX_NO_INDEX. */
static inline struct vkbox_submitted vkbox_submitted_at(const struct vkbox *b,
                                                        const struct vkbox_submission *s, uint32_t i)
{
    const uint32_t *words;

    if (i < VKBOX_SUBMITTED)
        return s->command_buffers[i];
    words = vkbox_more_at(b, &s->more, i - VKBOX_SUBMITTED, VKBOX_MORE);
    return words ? (struct vkbox_submitted){words[0], words[1]} : (struct vkbox_submitted){VKBOX_NO_INDEX, 0};
}

/* Of `num` semaphores that it waits for, or signals, the one at `i`; what is not kept is handle 0. */
static inline struct vkbox_semaphore vkbox_semaphore_at(const struct vkbox *b,
                                                        const struct vkbox_semaphore *own,
                                                        const struct vkbox_more *more, uint32_t i)
{
    const uint32_t *words;

    if (i < VKBOX_SUBMITTED)
        return own[i];
    words =
        i < VKBOX_SEMAPHORES_MOST ? vkbox_more_at(b, more, i - VKBOX_SUBMITTED, VKBOX_MORE_SEMAPHORES) : NULL;
    return words ? (struct vkbox_semaphore){words[0] | (uint64_t)words[1] << 32,
                                            words[2] | (uint64_t)words[3] << 32}
                 : (struct vkbox_semaphore){0, 0};
}
