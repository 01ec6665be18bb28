/* SPDX-License-Identifier: MIT */
/* stream.c: what a client may say in a stream, and what it leaves behind.
 *
 *   handle of a client, below 2^20 ─▶ number of its device << 20 | handle, at the GPU
 *   Patch: device, context and token are used ─▶ their end: a stream of our own ends all that their number can name
 *
 * The ABI has one namespace of handles for everybody. A device gets a part of it here, so that no client can name,
 * by accident or on purpose, what another has made; surfaces cross that border by share token only, and a token can be
 * said by those who opened its allocation.
 *
 * Invariants:
 *  1. A packet that is known here is at least as long as its struct, and its counted tail lies inside it.
 *  2. What a stream did is not asked: it may have ended at an error, or said of a name what is not true. All handles that a
 *     device's number makes possible end with it, and nothing that it said can make that fail.
 *  3. What a dead device left is destroyed in the order of the ring, before a device of the same number says its first
 *     word: the number is given out again only then. What says so is allocated when the device is made.
 *  4. A reset empties the GPU: nothing is left to destroy.
 */
#include "kmd/kmd.h"

#define HANDLE_BITS  20
#define HANDLE_LIMIT (1u << HANDLE_BITS)
#define REAPER_REST  (5ull * 10000000) /* 100 ns */
#define EPITAPH_MAX  24u

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
        if (o->allocation->share_token == token && token && (!creator || o->creator)) {
            o->allocation->grave->used |= creator;
            s = STATUS_SUCCESS;
        }
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

/* ---- what other clients made ----------------------------------------------- */

static BOOLEAN describe_import(CONST struct kmd_allocation *a, ULONG handle, PUCHAR packet, ULONG *size)
{
    struct aerogpu_cmd_create_texture2d t = {.hdr = {AEROGPU_CMD_CREATE_TEXTURE2D, sizeof(t)},
                                             .texture_handle = handle,
                                             .usage_flags = AEROGPU_RESOURCE_USAGE_TEXTURE |
                                                            AEROGPU_RESOURCE_USAGE_RENDER_TARGET,
                                             .format = a->format,
                                             .width = a->width,
                                             .height = a->height,
                                             .mip_levels = 1,
                                             .array_layers = 1,
                                             .row_pitch_bytes = a->pitch,
                                             .backing_alloc_id = a->alloc_id};
    struct aerogpu_cmd_create_buffer b = {.hdr = {AEROGPU_CMD_CREATE_BUFFER, sizeof(b)},
                                          .buffer_handle = handle,
                                          .size_bytes = a->size & ~3ull,
                                          .backing_alloc_id = a->alloc_id};

    NT_ASSERT(sizeof(b) <= KMD_IMPORT_MAX);
    if (!a->width != !a->format) /* a format that has no name here */
        return FALSE;
    *size = a->format ? sizeof(t) : sizeof(b);
    RtlCopyMemory(packet, a->format ? (PVOID)&t : (PVOID)&b, *size);
    return TRUE;
}

NTSTATUS kmd_stream_import(struct kmd_device *d, PUCHAR packet, ULONG *size)
{
    struct aerogpu_cmd_import_shared_surface c;
    NTSTATUS s = STATUS_SUCCESS;

    RtlCopyMemory(&c, packet, sizeof(c));
    ExAcquireFastMutex(&d->kmd->mutex);
    for (PLIST_ENTRY e = d->opens.Flink; e != &d->opens; e = e->Flink) {
        CONST struct kmd_allocation *a = CONTAINING_RECORD(e, struct kmd_open, link)->allocation;
        if (a->share_token == c.share_token && a->client != d->client->number) {
            s = describe_import(a, c.out_resource_handle, packet, size) ? STATUS_SUCCESS
                                                                        : STATUS_NOT_SUPPORTED;
            break;
        }
    }
    ExReleaseFastMutex(&d->kmd->mutex);
    return s;
}

/* ---- what is left behind: with `mutex` held ------------------------------- */

struct kmd_grave *kmd_grave_create(ULONG opcode, ULONG client, ULONG number, ULONGLONG token)
{
    struct kmd_grave *n = kmd_alloc(sizeof(*n));

    if (n)
        *n = (struct kmd_grave){.opcode = opcode, .client = client, .number = number, .token = token};
    return n;
}

/* Says to the GPU that it has ended; returns how long that is. */
static ULONG epitaph(CONST struct kmd_grave *n, PUCHAR at)
{
    union {
        struct aerogpu_cmd_hdr hdr;
        struct aerogpu_cmd_release_shared_surface release;
        struct aerogpu_cmd_ext_destroy_context context;
        struct aerogpu_cmd_ext_destroy_handles handles;
    } u;

    RtlZeroMemory(&u, sizeof(u));
    u.hdr.opcode = n->opcode;
    switch (n->opcode) {
    case AEROGPU_CMD_RELEASE_SHARED_SURFACE:
        u.hdr.size_bytes = sizeof(u.release);
        u.release.share_token = n->token;
        break;
    case AEROGPU_CMD_EXT_DESTROY_CONTEXT:
        u.hdr.size_bytes = sizeof(u.context);
        u.context.context_id = n->number;
        break;
    default:
        u.hdr.size_bytes = sizeof(u.handles);
        u.handles.first = n->number << HANDLE_BITS;
        u.handles.last = u.handles.first | (HANDLE_LIMIT - 1);
    }
    RtlCopyMemory(at, &u, u.hdr.size_bytes);
    return u.hdr.size_bytes;
}

static struct kmd_grave *grave_at(PLIST_ENTRY e)
{
    return CONTAINING_RECORD(e, struct kmd_grave, link);
}

static VOID forget(struct kmd_grave *n)
{
    kmd_list_remove(&n->link);
    kmd_free(n);
}

/* No stream: while the reaper's is under way, it is all that can be said. */
static VOID say_who_ended(struct kmd *k)
{
    for (PLIST_ENTRY e = k->dead.Flink, next = e->Flink; e != &k->dead; e = next, next = e->Flink) {
        struct aerogpu_submit_desc desc = {.flags = AEROGPU_SUBMIT_FLAG_EXT_CLIENT_ENDS,
                                           .context_id = KMD_OWN_CONTEXT,
                                           .reserved0 = grave_at(e)->client};
        if (!grave_at(e)->opcode && NT_SUCCESS(kmd_hw_submit_internal(k, &desc)))
            forget(grave_at(e));
    }
}

VOID kmd_reap(struct kmd *k)
{
    struct aerogpu_cmd_stream_header header = {.magic = AEROGPU_CMD_STREAM_MAGIC,
                                               .abi_version = AEROGPU_ABI_VERSION_U32};
    struct aerogpu_submit_desc desc = {0};
    ULONG used = sizeof(header), n = 0, client;

    if (k->dead.Flink == &k->dead || !k->powered || k->reset_pending)
        return;
    /* The last stream has been executed when its fence has completed, or without EXT_ENGINES one behind it. Where none comes, since
     * nobody has a device that could work any more, it has been after REAPER_REST with nothing in the ring: what hangs for longer is
     * reset. */
    if (k->reaper_busy && !kmd_hw_internal_done(k, k->reaper_fence) &&
        (k->features & AEROGPU_EXT_FEATURE(EXT_ENGINES) || !kmd_hw_idle(k) ||
         kmd_now() - k->reaper_time < REAPER_REST)) {
        say_who_ended(k);
        return;
    }
    client = grave_at(k->dead.Flink)->client;
    for (PLIST_ENTRY e = k->dead.Flink; e != &k->dead && grave_at(e)->client == client &&
                                        used <= KMD_REAPER_BYTES - EPITAPH_MAX && !desc.flags;
         e = e->Flink, n++)
        if (grave_at(e)->opcode)
            used += epitaph(grave_at(e), (PUCHAR)k->reaper.va + used);
        else
            desc.flags = AEROGPU_SUBMIT_FLAG_EXT_CLIENT_ENDS;
    header.size_bytes = used;
    RtlCopyMemory(k->reaper.va, &header, sizeof(header));
    desc.context_id = KMD_OWN_CONTEXT;
    desc.reserved0 = client;
    if (used > sizeof(header)) {
        desc.cmd_gpa = (ULONGLONG)k->reaper.pa.QuadPart;
        desc.cmd_size_bytes = used;
    }
    k->reaper_time = kmd_now();
    k->reaper_busy = NT_SUCCESS(kmd_hw_submit_internal(k, &desc));
    k->reaper_fence = desc.signal_fence;
    while (k->reaper_busy && n--) /* else the ring is full, and they are said later */
        forget(grave_at(k->dead.Flink));
    if (k->dead.Flink != &k->dead)
        say_who_ended(k);
}

VOID kmd_bury(struct kmd *k, struct kmd_grave *n)
{
    if (n && n->used)
        kmd_list_add(&k->dead, &n->link);
    else
        kmd_free(n); /* the GPU has never heard of it */
}

VOID kmd_forget_names(struct kmd *k)
{
    for (PLIST_ENTRY e = k->dead.Flink, next = e->Flink; e != &k->dead; e = next, next = e->Flink)
        if (grave_at(e)->opcode)
            forget(grave_at(e));
    k->reaper_busy = FALSE;
}

VOID kmd_forget_all(struct kmd *k)
{
    while (k->dead.Flink != &k->dead)
        forget(grave_at(k->dead.Flink));
    k->reaper_busy = FALSE;
}

static BOOLEAN taken(struct kmd *k, ULONG number)
{
    for (PLIST_ENTRY e = k->devices.Flink; e != &k->devices; e = e->Flink)
        if (CONTAINING_RECORD(e, struct kmd_device, link)->number == number)
            return TRUE;
    for (PLIST_ENTRY e = k->dead.Flink; e != &k->dead; e = e->Flink)
        if (grave_at(e)->opcode == AEROGPU_CMD_EXT_DESTROY_HANDLES && grave_at(e)->number == number)
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
