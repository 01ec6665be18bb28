/* SPDX-License-Identifier: MIT */
/* stream.c: what a client may say in a stream, and what it leaves behind.
 *
 *   handle of a client, below 2^20 ─▶ number of its device << 20 | handle, at the GPU
 *   Patch: created and destroyed names are noted ─▶ DestroyDevice: what is left is destroyed by a stream of our own
 *
 * The ABI has one namespace of handles for everybody. A device gets a part of it here, so that no client can name,
 * by accident or on purpose, what another has made; surfaces cross that border by share token only, and a token can be
 * said by those who opened its allocation.
 *
 * Invariants:
 *  1. A packet that is known here is at least as long as its struct, and its counted tail lies inside it.
 *  2. Names are noted when a stream is about to be submitted: those of streams that never are count for nothing.
 *  3. What a dead device left is destroyed in the order of the ring, before a device of the same number says its first
 *     word: the number is given out again only then.
 *  4. A reset empties the GPU: nothing is left to destroy.
 */
#include "kmd/kmd.h"

#define HANDLE_BITS   20
#define HANDLE_LIMIT  (1u << HANDLE_BITS)
#define CHUNK         4096u
#define CHUNKS        (HANDLE_LIMIT / CHUNK)
#define REAPER_BYTES  65536u
#define REAPER_REST   (5ull * 10000000) /* 100 ns */
#define DESTROY_BYTES 16u

/* ---- the packets, from the tables of cmd.h and ext.h -------------------- */

struct field {
    UCHAR kind, bytes, count;
};
#define FIELD(type, name, kind, doc)        {AEROGPU_KIND_##kind, sizeof(AEROGPU_CTYPE_##type), 1},
#define ARRAY(type, name, count, kind, doc) {AEROGPU_KIND_##kind, sizeof(AEROGPU_CTYPE_##type), count},
#define PACKET(opcode, NAME, name, size, tail, count_field, minor, class, doc)                               \
    static CONST struct field fields_##name[] = {AEROGPU_FIELDS_##NAME(FIELD, ARRAY){0, 0, 0}};
AEROGPU_PACKETS(PACKET)
AEROGPU_EXT_PACKETS(PACKET)
#undef PACKET
#undef FIELD
#undef ARRAY

enum {
#define TAIL(NAME, bytes, named, doc)     BYTES_OF_##NAME = bytes, NAMED_##NAME = named,
#define ELEMENT(NAME, name, bytes, named) BYTES_OF_##NAME = bytes, NAMED_##NAME = named,
    AEROGPU_TAILS(TAIL) AEROGPU_ELEMENTS(ELEMENT)
#undef TAIL
#undef ELEMENT
};

static CONST struct packet {
    ULONG opcode, size;
    CONST struct field *fields;
    ULONG count_at, count_bytes; /* 0: the tail is not counted */
    UCHAR element, named;
    struct aerogpu_packet_class class;
} packets[] = {
#define COUNTED(name, count_field) offsetof(struct aerogpu_cmd_##name, count_field)
#define PACKET(opcode, NAME, name, size, tail, count_field, minor, class, doc)                               \
    {opcode,                                                                                                 \
     size,                                                                                                   \
     fields_##name,                                                                                          \
     COUNTED(name, count_field),                                                                             \
     COUNTED(name, count_field) ? sizeof(((struct aerogpu_cmd_##name *)0)->count_field) : 0,                 \
     BYTES_OF_##tail,                                                                                        \
     NAMED_##tail,                                                                                           \
     {AEROGPU_IS_##class}},
    AEROGPU_PACKETS(PACKET) AEROGPU_EXT_PACKETS(PACKET)
#undef PACKET
};

enum {
#define PACKET(opcode, NAME, name, size, tail, count_field, minor, class, doc) INDEX_##NAME,
    AEROGPU_PACKETS(PACKET) AEROGPU_EXT_PACKETS(PACKET)
#undef PACKET
};

static CONST UCHAR by_opcode[0x800] = {
#define PACKET(opcode, NAME, name, size, tail, count_field, minor, class, doc) [opcode] = INDEX_##NAME + 1,
    AEROGPU_PACKETS(PACKET)
#undef PACKET
};

static CONST UCHAR by_extension[] = {
#define PACKET(opcode, NAME, name, size, tail, count_field, minor, class, doc)                               \
    [opcode - AEROGPU_EXT_FIRST_OPCODE] = INDEX_##NAME + 1,
    AEROGPU_EXT_PACKETS(PACKET)
#undef PACKET
};

static CONST struct packet *find(ULONG opcode)
{
    ULONG ext = opcode - AEROGPU_EXT_FIRST_OPCODE;
    ULONG n = ext < RTL_NUMBER_OF(by_extension)   ? by_extension[ext]
              : opcode < RTL_NUMBER_OF(by_opcode) ? by_opcode[opcode]
                                                  : 0;

    return n ? &packets[n - 1] : NULL;
}

/* ---- checking and renaming, in the copy ---------------------------------- */

static NTSTATUS rename_handle(struct kmd_device *d, PUCHAR at)
{
    ULONG h;

    RtlCopyMemory(&h, at, sizeof(h));
    if (!h)
        return STATUS_SUCCESS;
    if (h >= HANDLE_LIMIT)
        return STATUS_INVALID_PARAMETER;
    h |= d->number << HANDLE_BITS;
    RtlCopyMemory(at, &h, sizeof(h));
    return STATUS_SUCCESS;
}

/* A token may be said by who has its allocation open; exported and released by who created it. */
static NTSTATUS check_token(struct kmd_device *d, CONST UCHAR *at, BOOLEAN creator)
{
    NTSTATUS s = STATUS_ACCESS_DENIED;
    ULONGLONG token;

    RtlCopyMemory(&token, at, sizeof(token));
    ExAcquireFastMutex(&d->kmd->mutex);
    for (PLIST_ENTRY e = d->opens.Flink; e != &d->opens; e = e->Flink) {
        struct kmd_open *o = CONTAINING_RECORD(e, struct kmd_open, link);
        if (o->allocation->share_token == token && token && (!creator || o->creator))
            s = STATUS_SUCCESS;
    }
    ExReleaseFastMutex(&d->kmd->mutex);
    return s;
}

static NTSTATUS rename_tail(struct kmd_device *d, CONST struct packet *p, PUCHAR packet, ULONG size)
{
    ULONG room = size - p->size, n;
    ULONGLONG count = 0;
    NTSTATUS s = STATUS_SUCCESS;

    if (p->count_bytes) {
        RtlCopyMemory(&count, packet + p->count_at, p->count_bytes);
        if (count > room / p->element)
            return STATUS_INVALID_PARAMETER;
    } else if (p->named) {
        count = room >= 12 ? 3 : 0; /* BIND */
    }
    for (n = 0; p->named && n < (ULONG)count && NT_SUCCESS(s); n++)
        s = rename_handle(d, packet + p->size + n * p->element);
    return s;
}

NTSTATUS kmd_stream_packet(struct kmd_device *d, PUCHAR packet, ULONG opcode, ULONG size)
{
    CONST struct packet *p = find(opcode);
    ULONG at = sizeof(struct aerogpu_cmd_hdr);
    NTSTATUS s = STATUS_SUCCESS;

    /* Of our own packets only those known here: another could carry names that nobody has looked at. */
    if (!p)
        return opcode >= AEROGPU_EXT_FIRST_OPCODE ? STATUS_NOT_SUPPORTED : STATUS_SUCCESS; /* skipped */
    if (p->class.id == AEROGPU_CLASS_KERNEL)
        return STATUS_NOT_SUPPORTED; /* a context ends with its client, and is not for clients to end */
    if (size < p->size)
        return STATUS_INVALID_PARAMETER;
    for (CONST struct field *f = p->fields; f->bytes && NT_SUCCESS(s); f++)
        for (ULONG i = 0; i < f->count && NT_SUCCESS(s); i++, at += f->bytes)
            if (f->kind == AEROGPU_KIND_TOKEN)
                s = check_token(d, packet + at, p->class.id != AEROGPU_CLASS_CREATE);
            else if (f->kind == AEROGPU_KIND_HANDLE || f->kind == AEROGPU_KIND_NEW ||
                     f->kind == AEROGPU_KIND_END)
                s = rename_handle(d, packet + at);
    return NT_SUCCESS(s) ? rename_tail(d, p, packet, size) : s;
}

/* ---- names that exist ---------------------------------------------------- */

struct kmd_handles {
    LIST_ENTRY link; /* among those of dead devices */
    ULONG number;
    ULONG next;            /* a dead device's: where the reaper goes on */
    PUCHAR chunks[CHUNKS]; /* a byte a handle: which packet destroys it, as an index + 1 */
};

static NTSTATUS note(struct kmd_handles *h, ULONG handle, UCHAR value)
{
    PUCHAR *chunk = &h->chunks[(handle & (HANDLE_LIMIT - 1)) / CHUNK];

    if (!*chunk && !value)
        return STATUS_SUCCESS;
    if (!*chunk)
        *chunk = kmd_alloc(CHUNK);
    if (!*chunk)
        return STATUS_NO_MEMORY;
    (*chunk)[handle % CHUNK] = value;
    return STATUS_SUCCESS;
}

/* All of these have the handle first, or (a view) the new one first. */
NTSTATUS kmd_stream_note(struct kmd_device *d, CONST UCHAR *stream, ULONG size)
{
    NTSTATUS s = STATUS_SUCCESS;

    if (!d->handles)
        return s;
    for (ULONG at = sizeof(struct aerogpu_cmd_stream_header); at < size && NT_SUCCESS(s);) {
        struct aerogpu_cmd_hdr hdr;
        CONST struct packet *p;
        ULONG handle;
        /* What was checked lies where the device and its executor can write: it is checked again. */
        if (size - at < sizeof(hdr))
            return STATUS_INVALID_PARAMETER;
        RtlCopyMemory(&hdr, stream + at, sizeof(hdr));
        p = find(hdr.opcode);
        if (hdr.size_bytes < (p ? p->size : sizeof(hdr)) || hdr.size_bytes > size - at)
            return STATUS_INVALID_PARAMETER;
        if (p && (p->class.id == AEROGPU_CLASS_CREATE || p->class.id == AEROGPU_CLASS_DESTROY)) {
            RtlCopyMemory(&handle, stream + at + sizeof(hdr), sizeof(handle));
            if (handle >> HANDLE_BITS == d->number) /* not the driver's own, in a present */
                s = note(d->handles, handle,
                         p->class.id == AEROGPU_CLASS_CREATE ? by_opcode[p->class.ending] : 0);
        }
        at += hdr.size_bytes;
    }
    return s;
}

struct kmd_handles *kmd_handles_create(ULONG number)
{
    struct kmd_handles *h = kmd_alloc(sizeof(*h));

    if (h)
        h->number = number;
    return h;
}

VOID kmd_handles_destroy(struct kmd_handles *h)
{
    for (ULONG i = 0; h && i < CHUNKS; i++)
        kmd_free(h->chunks[i]);
    kmd_free(h);
}

/* ---- the reaper: with `mutex` held --------------------------------------- */

struct reap {
    PUCHAR at;
    ULONG left;
};

static VOID append(struct reap *r, CONST VOID *packet, ULONG size)
{
    NT_ASSERT(size <= r->left && !(size & 3));
    RtlCopyMemory(r->at, packet, size);
    r->at += size;
    r->left -= size;
}

static BOOLEAN reap_handles(struct reap *r, struct kmd_handles *h)
{
    for (; h->next < HANDLE_LIMIT; h->next++) {
        PUCHAR chunk = h->chunks[h->next / CHUNK];
        struct aerogpu_cmd_destroy_resource c = {.hdr.size_bytes = sizeof(c)};
        if (!chunk) {
            h->next |= CHUNK - 1;
            continue;
        }
        if (!chunk[h->next % CHUNK])
            continue;
        if (r->left < sizeof(c))
            return FALSE;
        c.hdr.opcode = packets[chunk[h->next % CHUNK] - 1].opcode;
        c.resource_handle = h->number << HANDLE_BITS | h->next;
        append(r, &c, sizeof(c));
    }
    return TRUE;
}

static VOID reap_names(struct kmd *k, struct reap *r)
{
    while (k->dead_names && r->left >= sizeof(struct aerogpu_cmd_release_shared_surface)) {
        struct kmd_dead_name *n = k->dead_names;
        struct aerogpu_cmd_release_shared_surface release = {
            .hdr = {AEROGPU_CMD_RELEASE_SHARED_SURFACE, sizeof(release)}, .share_token = n->token};
        struct aerogpu_cmd_ext_destroy_context destroy = {
            .hdr = {AEROGPU_CMD_EXT_DESTROY_CONTEXT, sizeof(destroy)}, .context_id = n->context_id};
        if (n->token)
            append(r, &release, sizeof(release));
        else
            append(r, &destroy, sizeof(destroy));
        k->dead_names = n->next;
        kmd_free(n);
    }
}

VOID kmd_reap(struct kmd *k)
{
    struct aerogpu_cmd_stream_header header = {.magic = AEROGPU_CMD_STREAM_MAGIC,
                                               .abi_version = AEROGPU_ABI_VERSION_U32};
    struct aerogpu_submit_desc desc = {0};
    struct reap r;

    if ((k->dead.Flink == &k->dead && !k->dead_names) || !k->powered || k->reset_pending)
        return;
    NT_ASSERT(!k->reaper_busy || k->reaper_fence <= k->submitted);
    /* The last stream has been executed when a fence behind it has completed. Where none comes, since nobody has a device that
     * could work any more, it has been after REAPER_REST with nothing in the ring: what hangs for longer is reset. */
    if (k->reaper_busy && k->completed <= k->reaper_fence &&
        (!kmd_hw_idle(k) || kmd_now() - k->reaper_time < REAPER_REST))
        return;
    r.at = (PUCHAR)k->reaper.va + sizeof(header);
    r.left = REAPER_BYTES - (ULONG)sizeof(header);
    reap_names(k, &r);
    while (k->dead.Flink != &k->dead) {
        struct kmd_handles *h = CONTAINING_RECORD(k->dead.Flink, struct kmd_handles, link);
        if (!reap_handles(&r, h))
            break;
        kmd_list_remove(&h->link);
        kmd_handles_destroy(h);
    }
    header.size_bytes = (ULONG)(r.at - (PUCHAR)k->reaper.va);
    if (header.size_bytes == sizeof(header))
        return;
    RtlCopyMemory(k->reaper.va, &header, sizeof(header));
    desc.context_id = KMD_OWN_CONTEXT;
    desc.cmd_gpa = (ULONGLONG)k->reaper.pa.QuadPart;
    desc.cmd_size_bytes = header.size_bytes;
    k->reaper_busy = TRUE;
    k->reaper_fence = k->submitted;
    k->reaper_time = kmd_now();
    if (!NT_SUCCESS(kmd_hw_submit_internal(k, &desc)))
        k->reaper_busy = FALSE; /* a full ring and a full queue: these are lost until a reset */
}

/* With `mutex` held; takes the names over. A device that named nothing leaves nothing to wait for. */
VOID kmd_bury(struct kmd *k, struct kmd_handles *h)
{
    ULONG i = 0;

    while (i < CHUNKS && !h->chunks[i])
        i++;
    NT_ASSERT(h->number && h->number < KMD_OWN_NUMBER);
    if (i == CHUNKS)
        kmd_handles_destroy(h);
    else
        kmd_list_add(&k->dead, &h->link);
    kmd_reap(k);
}

VOID kmd_forget_names(struct kmd *k)
{
    while (k->dead.Flink != &k->dead) {
        struct kmd_handles *h = CONTAINING_RECORD(k->dead.Flink, struct kmd_handles, link);
        kmd_list_remove(&h->link);
        kmd_handles_destroy(h);
    }
    while (k->dead_names) {
        struct kmd_dead_name *n = k->dead_names;
        k->dead_names = n->next;
        kmd_free(n);
    }
    for (PLIST_ENTRY e = k->devices.Flink; e != &k->devices; e = e->Flink) {
        struct kmd_handles *h = CONTAINING_RECORD(e, struct kmd_device, link)->handles;
        for (ULONG i = 0; h && i < CHUNKS; i++) {
            kmd_free(h->chunks[i]);
            h->chunks[i] = NULL;
        }
    }
    k->reaper_busy = FALSE;
}

VOID kmd_name_dies(struct kmd *k, ULONGLONG token, ULONG context_id)
{
    struct kmd_dead_name *n = kmd_alloc(sizeof(*n));

    if (!n)
        return;
    *n = (struct kmd_dead_name){k->dead_names, token, context_id};
    k->dead_names = n;
}

static BOOLEAN taken(struct kmd *k, ULONG number)
{
    for (PLIST_ENTRY e = k->devices.Flink; e != &k->devices; e = e->Flink)
        if (CONTAINING_RECORD(e, struct kmd_device, link)->number == number)
            return TRUE;
    for (PLIST_ENTRY e = k->dead.Flink; e != &k->dead; e = e->Flink)
        if (CONTAINING_RECORD(e, struct kmd_handles, link)->number == number)
            return TRUE;
    return FALSE;
}

/* With `mutex` held. The search goes on where the last one ended, so that a number rests before it is used again. */
ULONG kmd_device_number(struct kmd *k)
{
    for (ULONG i = 0; i < KMD_MAX_DEVICES; i++) {
        k->next_device = k->next_device % KMD_MAX_DEVICES + 1;
        if (!taken(k, k->next_device))
            return k->next_device;
    }
    return 0;
}
