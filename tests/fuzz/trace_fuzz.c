/* SPDX-License-Identifier: MIT */
/* Recordings: any bytes give records, an error or both; every blob that was named can be loaded, and
 * salvaging a file never gives fewer records than reading it as it should be. */
#include "fuzz.h"

#include "trace/reader.h"

static int read_all(const uint8_t *data, size_t size, bool salvage)
{
    struct trace_reader *r;
    struct trace_record rec;
    struct trace_blob blob;
    struct trace_buffer bytes = {0};
    struct error e = {0};
    int records = 0, rc;

    rc = trace_reader_open(&r, &(struct trace_reader_params){.data = data, .size = size, .salvage = salvage},
                           &e);
    if (rc)
        return e.text[0] ? -1 : (abort(), 0);
    while ((rc = trace_reader_next(r, &rec, &e)) > 0) {
        records++;
        if (rec.type == TRACE_BLOB && trace_reader_load(r, rec.blob.offset, rec.blob.size, &bytes, &e))
            abort();
        if (rec.type == TRACE_PACKET && trace_reader_load(r, rec.packet.offset, rec.payload_len, &bytes, &e))
            abort();
        if (rec.type != TRACE_SUBMISSION)
            continue;
        for (uint32_t i = 0; i < rec.submission.num_ranges; i++)
            if (!trace_reader_find_blob(r, rec.submission.ranges[i].blob, TRACE_BLOB_ALLOC_MEMORY, "range",
                                        &blob, NULL) &&
                trace_reader_load(r, blob.offset, blob.size, &bytes, &e))
                abort();
    }
    if (rc && !e.text[0])
        abort();
    for (uint32_t i = 0; i < trace_reader_info(r)->num_frames && i < 4; i++)
        trace_reader_seek_frame(r, trace_reader_info(r)->frames[i].index, NULL);
    trace_buffer_finish(&bytes);
    trace_reader_destroy(r);
    return records;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int strict = read_all(data, size, false), salvaged = read_all(data, size, true);

    if (salvaged < strict)
        abort();
    return 0;
}
