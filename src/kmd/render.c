/* SPDX-License-Identifier: MIT */
/* render.c: from a client's stream to a descriptor in the ring.
 *
 *   DMA buffer: stream header | packets | padding | allocation table          private data: struct kmd_dma
 *
 * Invariants:
 *  1. Every byte of the client's buffer is read once, into the DMA buffer; what is checked is the copy.
 *  2. A stream that does not fit is cut between two packets: each part is a stream of its own, with the whole table.
 *  3. Every entry of the table has a patch location; Patch writes the guest address there, again when the buffer is
 *     submitted again after a preemption.
 *  4. An id is in the table once. Two allocations with one id are refused; an allocation that is listed twice is
 *     READONLY only if every one of its entries is without WriteOperation.
 */
#include "kmd/kmd.h"

ULONG kmd_table_bytes(ULONG entries)
{
    return entries ? (ULONG)(sizeof(struct aerogpu_alloc_table_header) +
                             entries * sizeof(struct aerogpu_alloc_entry))
                   : 0;
}

static struct kmd_seen *find_seen(struct kmd_context *c, ULONG id)
{
    ULONG i = (id * 2654435761u) & c->seen_mask;

    while (c->seen[i].serial == c->seen_serial && c->seen[i].id != id)
        i = (i + 1) & c->seen_mask;
    return &c->seen[i];
}

/* Builds the table without addresses at `table`, which is `offset` bytes into the DMA buffer. */
NTSTATUS kmd_build_table(struct kmd_context *c, CONST DXGK_ALLOCATIONLIST *list, ULONG n, PUCHAR table,
                         ULONG offset, struct kmd_patches *patches, ULONG *size)
{
    struct kmd *k = c->device->kmd;
    struct aerogpu_alloc_table_header *header = (PVOID)table;
    struct aerogpu_alloc_entry *entries = (PVOID)(header + 1);
    ULONG count = 0, readonly = 0;

    if (!++c->seen_serial) { /* once in 2^32 renders */
        RtlZeroMemory(c->seen, (c->seen_mask + 1) * sizeof(*c->seen));
        c->seen_serial = 1;
    }
    for (ULONG i = 0; i < n; i++) {
        struct kmd_open *o = list[i].hDeviceSpecificAllocation;
        struct kmd_seen *seen;
        if (!o)
            continue;
        if (o->read_only && list[i].WriteOperation)
            return STATUS_ACCESS_DENIED;
        seen = find_seen(c, o->allocation->alloc_id);
        if (seen->serial == c->seen_serial) {
            if (seen->allocation != o->allocation)
                return STATUS_INVALID_PARAMETER;
            if (list[i].WriteOperation)
                entries[seen->entry].flags &= ~AEROGPU_ALLOC_FLAG_READONLY;
            continue;
        }
        if (!patches->room--)
            return STATUS_INVALID_PARAMETER;
        *seen = (struct kmd_seen){c->seen_serial, o->allocation->alloc_id, count, o->allocation};
        entries[count] =
            (struct aerogpu_alloc_entry){.alloc_id = o->allocation->alloc_id,
                                         .flags = list[i].WriteOperation ? 0 : AEROGPU_ALLOC_FLAG_READONLY,
                                         .size_bytes = o->allocation->size};
        if (o->allocation->share_token && c->device->client->number) {
            entries[count].flags |= AEROGPU_ALLOC_FLAG_EXT_SHARED;
            patches->shared = TRUE;
            patches->groups |= o->allocation->groups;
        }
        RtlZeroMemory(patches->at, sizeof(*patches->at));
        patches->at->AllocationIndex = i;
        patches->at->SlotId = count & 0xFFFFFF;
        patches->at->PatchOffset = offset + (ULONG)sizeof(*header) + count * (ULONG)sizeof(*entries) +
                                   (ULONG)offsetof(struct aerogpu_alloc_entry, gpa);
        patches->at++;
        count++;
    }
    *size = kmd_table_bytes(count);
    if (!count)
        return STATUS_SUCCESS;
    *header = (struct aerogpu_alloc_table_header){.magic = AEROGPU_ALLOC_TABLE_MAGIC,
                                                  .abi_version = AEROGPU_ABI_VERSION_U32,
                                                  .size_bytes = *size,
                                                  .entry_count = count,
                                                  .entry_stride_bytes = sizeof(*entries)};
    for (ULONG i = 0; i < count; i++)
        readonly += entries[i].flags & AEROGPU_ALLOC_FLAG_READONLY;
    kmd_count(&k->perf.tables);
    k->perf.table_entries += count;
    k->perf.table_readonly += readonly;
    return STATUS_SUCCESS;
}

/* ---- Render -------------------------------------------------------------- */

/* Whoever writes what others see, or reads what they wrote, comes in the order of the ring: of his session's part of it, and of
 * the part of those with whom he shares what he names, so that nobody is late for what others do for themselves. */
ULONG kmd_order(CONST struct kmd_context *c, CONST struct kmd_patches *patches, ULONG flags)
{
    if (!c->device->client->number || !(patches->shared || flags & AEROGPU_SUBMIT_FLAG_PRESENT))
        return 0;
    return AEROGPU_SUBMIT_FLAG_EXT_ORDERED | (patches->groups ? AEROGPU_SUBMIT_FLAG_EXT_CROSSES : 0);
}

struct pass {
    struct kmd_context *c;
    PUCHAR dma;
    ULONG room; /* bytes that packets may take, the header included */
    ULONG used;
    ULONG flags;
};

/* Copies packets from `at` on; returns where it stopped in *at. */
static NTSTATUS copy_packets(struct pass *p, CONST UCHAR *in, ULONG size, ULONG *at)
{
    while (*at < size) {
        struct aerogpu_cmd_hdr hdr;
        PUCHAR out = p->dma + p->used;
        NTSTATUS s;
        ULONG out_size;
        if (size - *at < sizeof(hdr))
            return STATUS_INVALID_PARAMETER;
        RtlCopyMemory(&hdr, in + *at, sizeof(hdr));
        if (hdr.size_bytes < sizeof(hdr) || hdr.size_bytes % 4 || hdr.size_bytes > size - *at)
            return STATUS_INVALID_PARAMETER;
        out_size = hdr.size_bytes;
        if (hdr.opcode == AEROGPU_CMD_IMPORT_SHARED_SURFACE && out_size < KMD_IMPORT_MAX)
            out_size = KMD_IMPORT_MAX;
        if (out_size > p->room - p->used)
            return p->used > sizeof(struct aerogpu_cmd_stream_header)
                       ? STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER
                       : STATUS_BUFFER_TOO_SMALL;
        RtlCopyMemory(out, &hdr, sizeof(hdr));
        RtlCopyMemory(out + sizeof(hdr), in + *at + sizeof(hdr), hdr.size_bytes - sizeof(hdr));
        s = kmd_stream_packet(p->c->device, out, hdr.opcode, hdr.size_bytes);
        out_size = hdr.size_bytes;
        if (NT_SUCCESS(s) && hdr.opcode == AEROGPU_CMD_IMPORT_SHARED_SURFACE)
            s = kmd_stream_import(p->c->device, out, &out_size);
        if (!NT_SUCCESS(s))
            return s;
        if (hdr.opcode == AEROGPU_CMD_PRESENT || hdr.opcode == AEROGPU_CMD_PRESENT_EX)
            p->flags |= AEROGPU_SUBMIT_FLAG_PRESENT;
        *at += hdr.size_bytes;
        p->used += out_size;
    }
    return STATUS_SUCCESS;
}

static NTSTATUS check_header(struct aerogpu_cmd_stream_header *h, ULONG size)
{
    if (size < sizeof(*h) || h->magic != AEROGPU_CMD_STREAM_MAGIC ||
        AEROGPU_ABI_VERSION_MAJOR(h->abi_version) != AEROGPU_ABI_MAJOR || h->size_bytes < sizeof(*h) ||
        h->size_bytes % 4 || h->size_bytes > size)
        return STATUS_INVALID_PARAMETER;
    return STATUS_SUCCESS;
}

static NTSTATUS render(struct kmd_context *c, DXGKARG_RENDER *r)
{
    struct aerogpu_cmd_stream_header header = {0};
    struct pass p = {.c = c, .dma = r->pDmaBuffer};
    struct kmd_patches patches = {r->pPatchLocationListOut, r->PatchLocationListOutSize, FALSE, FALSE};
    struct kmd_dma *dma = r->pDmaBufferPrivateData;
    ULONG reserve = kmd_table_bytes(r->AllocationListSize) + KMD_TABLE_ALIGN, at, table, table_size;
    NTSTATUS s, end;

    if (r->DmaBufferPrivateDataSize < sizeof(*dma) || reserve + sizeof(header) > r->DmaSize)
        return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    if (r->CommandLength >= sizeof(header))
        RtlCopyMemory(&header, r->pCommand, sizeof(header));
    s = check_header(&header, r->CommandLength);
    if (!NT_SUCCESS(s))
        return s;
    at = r->MultipassOffset ? r->MultipassOffset : sizeof(header);
    if (at > header.size_bytes) /* the client changed the header between two passes */
        return STATUS_INVALID_PARAMETER;
    p.room = r->DmaSize - reserve;
    p.used = sizeof(header);
    end = copy_packets(&p, r->pCommand, header.size_bytes, &at);
    if (!NT_SUCCESS(end) && end != STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER)
        return end;
    header.size_bytes = p.used;
    RtlCopyMemory(p.dma, &header, sizeof(header));
    table = (p.used + KMD_TABLE_ALIGN - 1) & ~(KMD_TABLE_ALIGN - 1);
    s = kmd_build_table(c, r->pAllocationList, r->AllocationListSize, p.dma + table, table, &patches,
                        &table_size);
    if (!NT_SUCCESS(s))
        return s;
    p.flags |= kmd_order(c, &patches, p.flags);
    *dma = (struct kmd_dma){.magic = KMD_DMA_MAGIC,
                            .flags = p.flags,
                            .client = c->device->client->number,
                            .session = c->device->client->session,
                            .groups = patches.groups,
                            .context_id = c->id,
                            .stream_size = p.used,
                            .table_offset = table_size ? table : 0,
                            .table_size = table_size,
                            .kind = p.flags & AEROGPU_SUBMIT_FLAG_PRESENT ? KMD_SUBMIT_PRESENT
                                                                          : KMD_SUBMIT_RENDER,
                            .buffer = p.dma};
    r->pDmaBuffer = p.dma + (table_size ? table + table_size : p.used);
    r->pDmaBufferPrivateData = dma + 1;
    r->pPatchLocationListOut = patches.at;
    r->MultipassOffset = at;
    return end;
}

NTSTATUS NTAPI kmd_Render(CONST HANDLE context, DXGKARG_RENDER *r)
{
    struct kmd_context *c = context;
    HANDLE secured;
    NTSTATUS s;

    if (c->system || !r->CommandLength)
        return STATUS_INVALID_PARAMETER;
    if (r->AllocationListSize > c->list_size)
        return STATUS_INVALID_PARAMETER;
    /* The buffer is the client's memory: it must not go away while it is read. */
    secured = MmSecureVirtualMemory((PVOID)(ULONG_PTR)r->pCommand, r->CommandLength, PAGE_READONLY);
    if (!secured)
        return STATUS_INVALID_PARAMETER;
    s = render(c, r);
    MmUnsecureVirtualMemory(secured);
    if (!NT_SUCCESS(s) && s != STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER)
        kmd_log(c->device->kmd, DPFLTR_WARNING_LEVEL, "Render: context %llu, %llu bytes are refused: %llx",
                c->id, r->CommandLength, (ULONG)s);
    return s;
}

/* ---- Patch --------------------------------------------------------------- */

/* A copy for whoever asks later what was submitted: the DMA buffer itself is used again. */
static VOID keep_recent(struct kmd *k, CONST struct kmd_dma *dma, ULONGLONG gpa)
{
    ULONG size = dma->table_offset ? dma->table_offset + dma->table_size : dma->stream_size;
    struct kmd_recent *r = &k->recent[k->recent_count++ % KMD_RECENT];

    *r = (struct kmd_recent){.submitted_gpa = gpa};
    if (size > KMD_RECENT_BYTES / KMD_RECENT)
        return;
    if (k->recent_at + size > KMD_RECENT_BYTES)
        k->recent_at = 0;
    RtlCopyMemory((PUCHAR)k->recent_memory.va + k->recent_at, dma->buffer, size);
    r->cmd_gpa = (ULONGLONG)k->recent_memory.pa.QuadPart + k->recent_at;
    r->table_gpa = dma->table_size ? r->cmd_gpa + dma->table_offset : 0;
    k->recent_at += (size + 63) & ~63u;
}

NTSTATUS NTAPI kmd_Patch(CONST HANDLE adapter, CONST DXGKARG_PATCH *p)
{
    struct kmd *k = adapter;
    CONST struct kmd_dma *dma =
        (PVOID)((PUCHAR)p->pDmaBufferPrivateData + p->DmaBufferPrivateDataSubmissionStartOffset);
    NTSTATUS s = STATUS_SUCCESS;

    if (p->DmaBufferPrivateDataSubmissionEndOffset <
        p->DmaBufferPrivateDataSubmissionStartOffset + sizeof(*dma))
        return STATUS_SUCCESS; /* nothing of ours */
    ExAcquireFastMutex(&k->mutex);
    for (UINT i = 0; i < p->PatchLocationListSubmissionLength; i++) {
        CONST D3DDDI_PATCHLOCATIONLIST *l = &p->pPatchLocationList[p->PatchLocationListSubmissionStart + i];
        CONST DXGK_ALLOCATIONLIST *a;
        struct kmd_open *o;
        ULONGLONG gpa;
        if (l->AllocationIndex >= p->AllocationListSize || l->PatchOffset > p->DmaBufferSize - sizeof(gpa)) {
            s = STATUS_INVALID_PARAMETER;
            break;
        }
        a = &p->pAllocationList[l->AllocationIndex];
        o = a->hDeviceSpecificAllocation;
        gpa = o && a->SegmentId == KMD_APERTURE
                  ? kmd_resolve(k, o->allocation, a->PhysicalAddress, o->allocation->size)
                  : 0;
        if (!gpa) {
            kmd_log(k, DPFLTR_ERROR_LEVEL, "Patch: allocation %llu of the list at %llx is not in one piece",
                    l->AllocationIndex, (ULONGLONG)a->PhysicalAddress.QuadPart, 0);
            s = STATUS_INVALID_PARAMETER;
            break;
        }
        gpa += l->AllocationOffset;
        RtlCopyMemory((PUCHAR)p->pDmaBuffer + l->PatchOffset, &gpa, sizeof(gpa));
    }
    if (NT_SUCCESS(s) && dma->magic == KMD_DMA_MAGIC) {
        struct kmd_context *c = p->hContext;
        c->grave->used = c->device->grave->used = TRUE;
        keep_recent(k, dma,
                    (ULONGLONG)p->DmaBufferPhysicalAddress.QuadPart + p->DmaBufferSubmissionStartOffset);
        kmd_reap(k);
    }
    ExReleaseFastMutex(&k->mutex);
    return s;
}

/* ---- SubmitCommand: at DISPATCH_LEVEL, writes a descriptor and returns ---- */

NTSTATUS NTAPI kmd_SubmitCommand(CONST HANDLE adapter, CONST DXGKARG_SUBMITCOMMAND *s)
{
    struct kmd *k = adapter;
    CONST struct kmd_context *c = s->hContext;
    CONST struct kmd_dma *dma =
        (PVOID)((PUCHAR)s->pDmaBufferPrivateData + s->DmaBufferPrivateDataSubmissionStartOffset);
    ULONGLONG at = (ULONGLONG)s->DmaBufferPhysicalAddress.QuadPart + s->DmaBufferSubmissionStartOffset;
    struct aerogpu_submit_desc desc = {0};
    ULONG kind = KMD_SUBMIT_INTERNAL;

    if (s->DmaBufferPrivateDataSubmissionEndOffset >=
            s->DmaBufferPrivateDataSubmissionStartOffset + sizeof(*dma) &&
        dma->magic == KMD_DMA_MAGIC && !s->Flags.NullRendering) {
        desc.flags = dma->flags | (s->Flags.Present ? AEROGPU_SUBMIT_FLAG_PRESENT : 0);
        desc.context_id = dma->context_id;
        if (dma->session && k->scan_session && dma->session != k->scan_session)
            desc.flags |= AEROGPU_SUBMIT_FLAG_EXT_HIDDEN;
        desc.reserved0 = dma->client | (ULONGLONG)dma->session << 32;
        desc.cmd_reserved0 = k->features & AEROGPU_EXT_FEATURE(EXT_GROUPS) ? dma->groups : 0;
        desc.cmd_gpa = at;
        desc.cmd_size_bytes = dma->stream_size;
        desc.alloc_table_gpa = dma->table_size ? at + dma->table_offset : 0;
        desc.alloc_table_size_bytes = dma->table_size;
        kind = dma->kind;
    }
    kmd_count(&k->perf.submissions);
    kmd_count(kind == KMD_SUBMIT_RENDER    ? &k->perf.renders
              : kind == KMD_SUBMIT_PRESENT ? &k->perf.presents
                                           : &k->perf.internals);
    return kmd_hw_submit(k, &desc, c ? c->node : 0, s->SubmissionFenceId);
}
