/* SPDX-License-Identifier: MIT */
/* Command streams: any bytes give packets, one error or both; every packet lies inside the stream, prints, and becomes
 * JSON. */
#include "fuzz.h"

#include "abi/print.h"
#include "abi/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct strbuf text = {0};
    struct error e = {0};
    struct abi_stream s;
    struct abi_packet p;
    uint32_t end = 24;
    int r = abi_stream_open(&s, data, size, &e);

    if (r)
        return e.text[0] ? 0 : (abort(), 0);
    while ((r = abi_stream_next(&s, &p, &e)) > 0) {
        json_t *j;
        if (p.offset != end || p.offset + p.size > s.size)
            abort();
        if (p.desc && p.size < p.desc->size &&
            p.opcode != AEROGPU_CMD_SET_BLEND_STATE) /* it was shorter once */
            abort();
        if (p.tail && (p.tail < p.data || p.tail + p.tail_size > p.data + p.size))
            abort();
        end += p.size;
        strbuf_clear(&text);
        abi_print_packet(&text, &p, 16);
        j = abi_packet_json(&p);
        if (!j || !text.len)
            abort();
        json_decref(j);
    }
    if ((r < 0) != (e.text[0] != '\0') || (!r && end != s.size) || abi_stream_next(&s, &p, &e) > 0)
        abort();
    strbuf_finish(&text);
    return 0;
}
