/* SPDX-License-Identifier: MIT */
/* Boxes that a program wrote over: a small one that makes sense, with patches. The first byte says what happened; nine bytes
 * each are a patch: which kind of slot, which one, which word of it, and the value; the rest are words of the first chunk. */
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vkbox/judge.h"
#include "vkbox/run/progress.h"

enum { PATCH = 9, MAX_PATCHES = 64 };

static const struct {
    size_t at, size, num;
} slots[] = {
    {0, offsetof(struct vkbox, crash), 1},
    {offsetof(struct vkbox, crash), sizeof(struct vkbox_crash), 1},
    {offsetof(struct vkbox, devices), sizeof(struct vkbox_device), VKBOX_DEVICES},
    {offsetof(struct vkbox, queues), sizeof(struct vkbox_queue), VKBOX_QUEUES},
    {offsetof(struct vkbox, error), sizeof(struct vkbox_error), VKBOX_ERRORS},
    {offsetof(struct vkbox, command_buffers), sizeof(struct vkbox_command_buffer), VKBOX_COMMAND_BUFFERS},
    {offsetof(struct vkbox, submission), sizeof(struct vkbox_submission), VKBOX_SUBMISSIONS},
    {offsetof(struct vkbox, objects), sizeof(struct vkbox_object), VKBOX_OBJECTS},
    {offsetof(struct vkbox, chunks), sizeof(struct vkbox_chunk), VKBOX_CHUNKS},
    {offsetof(struct vkbox, code), 4, VKBOX_CODE / 4},
    {offsetof(struct vkbox, marks), 4, VKBOX_DEVICES *VKBOX_MARKS},
};

static void make_sense(struct vkbox *b)
{
    b->version = VKBOX_VERSION;
    b->size = sizeof(*b);
    b->schema = VKBOX_NUM_COMMANDS;
    b->magic = VKBOX_MAGIC;
    b->submissions = 1;
    b->devices[0].state = VKBOX_LIVE;
    b->queues[0].state = VKBOX_LIVE;
    b->queues[0].submitted = 1;
    b->command_buffers[0].state = VKBOX_LIVE;
    b->command_buffers[0].recording = 1;
    b->command_buffers[0].points = 2;
    b->marks[0][0] = 1;
    b->submission[1].number = 1;
    b->submission[1].num_command_buffers = 1;
    b->submission[1].command_buffers[0].recording = 1;
    b->chunks[0].next = VKBOX_NO_INDEX;
    b->objects[0].state = VKBOX_LIVE;
    b->objects[0].type = 9; /* buffer */
    b->objects[0].handle = 1;
    b->objects[0].size = 4096;
    b->objects[0].address = 0x10000;
    b->crash.processor = 1;
    b->crash.signal = 11;
    b->crash.address = 0x11000;
}

static void patch(struct vkbox *b, const uint8_t *p)
{
    size_t kind = (p[0] & 0x7f) % (sizeof(slots) / sizeof(slots[0]));
    size_t slot = (size_t)(p[1] | p[2] << 8) % slots[kind].num;
    size_t word = (size_t)(p[3] | p[4] << 8) % (slots[kind].size / 4);

    memcpy((uint8_t *)b + slots[kind].at + slot * slots[kind].size + word * 4, p + 5, 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    struct vkbox_event ev = {.device = VKBOX_NO_INDEX, .in_driver = true, .signal = 9};
    struct vkbox_reader reader;
    struct vkbox_verdict verdict;
    struct bb_package *package = NULL;
    struct error e = {0};
    struct progress_head heads[VKBOX_QUEUES];
    struct vkbox *b;
    uint64_t due;
    size_t words;

    if (size < 1)
        return 0;
    if (fd < 0)
        fd = memfd_create("vkbox", MFD_CLOEXEC);
    must(!ftruncate(fd, 0) && !ftruncate(fd, sizeof(*b)));
    b = mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    must(b != MAP_FAILED);
    make_sense(b);
    ev.what = data[0] % 4;
    data++, size--;
    for (int i = 0; i < MAX_PATCHES && size >= PATCH && data[0] & 0x80; i++, data += PATCH, size -= PATCH)
        patch(b, data);
    words = size / 4 < VKBOX_CHUNK_WORDS ? size / 4 : VKBOX_CHUNK_WORDS;
    memcpy(b->chunks[0].words, data, words * 4);
    if (!b->chunks[0].used)
        b->chunks[0].used = (uint32_t)words;
    /* Who watches looks at it as it is. */
    due = progress_heads(b, 0, heads);
    must(!(progress_stuck(b, heads, due, ev.what * UINT64_C(0x55)) & ~due));
    munmap(b, sizeof(*b));
    if (!vkbox_copy(&reader, fd, &e)) {
        must(!vkbox_judge(&reader, &ev, &verdict));
        must(!bb_package_create(&package, 0));
        vkbox_rows(&reader, &ev, &verdict, package);
        bb_package_destroy(package);
        vkbox_verdict_finish(&verdict);
        vkbox_finish(&reader);
    }
    return 0;
}
