/* SPDX-License-Identifier: MIT */
/* The memory that a recorded program shares with the collector, as a wild or hostile program leaves it: a sequence of what it writes, to
 * the fields of chunks, to the head and into chunks, and of looks of the collector between. What the collector makes of it is
 * a whole file of as many blocks as it says, or an error of one line. What is in the calls is the target d3d12's business. */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "d3d12/gen/table.h"
#include "record/collect_memory.h"
#include "record/shm.h"
#include "record/trace_file.h"

enum { GROWN = 2 * SHM_STEP, FIELDS = 8 };

static struct collect_memory memory;
static char path[64];

static void finish(void)
{
    unlink(path);
}

static void make(void)
{
    memory.fd = memfd_create("collect", MFD_CLOEXEC);
    must(memory.fd >= 0 && !ftruncate(memory.fd, SHM_SIZE));
    memory.shm = mmap(NULL, SHM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, memory.fd, 0);
    must(memory.shm != MAP_FAILED && !collect_memory_reserve(&memory, GROWN));
    snprintf(path, sizeof(path), "/dev/shm/collect-fuzz-%d", (int)getpid());
    atexit(finish);
}

static void write_field(struct shm_chunk *c, unsigned field, uint32_t value)
{
    switch (field % FIELDS) {
    case 0:
        c->state = value % 5;
        break;
    case 1:
        c->kind = value;
        break;
    case 2:
        c->thread = value;
        break;
    case 3:
        c->frame = value;
        break;
    case 4:
        c->first_seq = (uint64_t)value << (value & 31);
        break;
    case 5:
        c->order = value;
        break;
    case 6:
        c->committed = value;
        break;
    default:
        c->partial = value;
    }
}

/* What the program does next. */
static void write_some(struct shm *s, struct bytes *in)
{
    unsigned what = bytes_u8(in), chunk = bytes_u8(in) % GROWN;
    size_t at, n;

    switch (what % 4) {
    case 0: /* a chunk that makes sense, as far as the bytes do */
        n = bytes_u8(in) < bytes_left(in) ? what / 4 : bytes_left(in);
        n = n < bytes_left(in) ? n : bytes_left(in);
        memcpy(shm_data(s, chunk), bytes_take(in, n), n);
        s->chunks[chunk].kind = what & 4 ? TRC_CALLS : TRC_BLOBS;
        s->chunks[chunk].thread = 1 + chunk % 3;
        s->chunks[chunk].order = s->order++;
        s->chunks[chunk].committed = s->chunks[chunk].partial = (uint32_t)n;
        s->chunks[chunk].state = what & 8 ? SHM_OPEN : SHM_FULL;
        break;
    case 1:
        write_field(&s->chunks[chunk], what / 4, bytes_u32(in));
        break;
    case 2: /* anything in front of the chunks */
        at = bytes_u8(in) % (offsetof(struct shm, chunks) / 4);
        ((uint32_t *)s)[at] = bytes_u32(in);
        break;
    default: /* all of them are somebody's */
        for (unsigned i = 0; i < GROWN; i++)
            s->chunks[i].state = what / 4 % 5;
    }
}

/* Whether the file is whole; what is wrong with calls is said, too. */
static void read_back(uint64_t blocks)
{
    struct error e = {0};
    struct trc_call c;
    struct trc *t = NULL;

    if (trc_open(&t, &d12_api, path, &e)) {
        must(e.code && e.text[0]);
        return;
    }
    must(trc_num_blocks(t) == blocks);
    while (trc_next(t, &c, &e) > 0)
        must(c.api == &d12_api);
    trc_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes in = bytes_of(data, size);
    struct collect_sink to = {0};
    struct error e = {0};
    int err = 0;

    if (!memory.shm)
        make();
    memset(memory.shm, 0, offsetof(struct shm, chunks) + GROWN * sizeof(struct shm_chunk));
    memory.shm->num_chunks = memory.chunks = SHM_STEP; /* others have their memory still */
    to.last_frame = bytes_u8(&in) & 1 ? 3 : UINT32_MAX;
    must(!trc_writer_create(&to.w, &d12_api, path, "{}", &e));
    while (!err && bytes_left(&in) >= 3) {
        write_some(memory.shm, &in);
        if (bytes_u8(&in) & 1) {
            err = collect_memory_drain(&memory, &to, &e);
            if (memory.chunks < GROWN)
                collect_memory_grow(&memory);
        }
    }
    err = err ? err : collect_memory_drain_open(&memory, &to, true, &e);
    must(!err || (err == -EBADMSG && e.code == err && strstr(e.text, "chunk ")));
    must(!trc_writer_finish(to.w, &(struct error){0}));
    read_back(to.blocks);
    return 0;
}
