/* SPDX-License-Identifier: MIT */
#include "d3d12/record/rec_values.h"

#include "d3d12/gen/pipeline_stream.h"
#include "d3d12/gen/table.h"
#include "d3d12/record/rec_hooks.h"

void enc_iid(struct enc *e, const GUID *iid)
{
    static const GUID zero;
    uint16_t i = iid ? d12_iface_of(iid) : D12_IFACE_UNKNOWN;

    if (i != D12_IFACE_UNKNOWN) {
        enc_var(e, (uint64_t)i + 1);
        return;
    }
    enc_var(e, 0);
    enc_guid(e, iid ? iid : &zero);
}

/* Code points beyond ASCII become UTF-8; with a 16-bit WCHAR surrogate pairs are joined. */
void enc_wstr(struct enc *e, const WCHAR *s)
{
    char text[1024 + 4];
    size_t n = 0;

    if (!s || !enc_room(e)) {
        enc_u8(e, 0);
        return;
    }
    for (; *s && n < sizeof(text) - 8; s++) {
        uint32_t c = (uint32_t)*s;

        if (sizeof(WCHAR) == 2 && c >= 0xd800 && c < 0xdc00 && s[1])
            c = 0x10000 + ((c & 0x3ff) << 10) + ((uint32_t) * ++s & 0x3ff);
        if (c < 0x80) {
            text[n++] = (char)c;
        } else if (c < 0x800) {
            text[n++] = (char)(0xc0 | c >> 6);
            text[n++] = (char)(0x80 | (c & 63));
        } else if (c < 0x10000) {
            text[n++] = (char)(0xe0 | c >> 12);
            text[n++] = (char)(0x80 | (c >> 6 & 63));
            text[n++] = (char)(0x80 | (c & 63));
        } else {
            text[n++] = (char)(0xf0 | (c >> 18 & 7));
            text[n++] = (char)(0x80 | (c >> 12 & 63));
            text[n++] = (char)(0x80 | (c >> 6 & 63));
            text[n++] = (char)(0x80 | (c & 63));
        }
    }
    if (*s) { /* there is more */
        memcpy(text + n, "\xe2\x80\xa6", 3);
        n += 3;
    }
    enc_text(e, text, n);
}

void enc_handle(struct enc *e, HANDLE h)
{
    enc_var(e, h ? rec_event_number(h) : 0);
}

void enc_new_object(struct enc *e, void *p, const GUID *iid, uint16_t natural, bool ok)
{
    uint16_t iface = iid ? d12_iface_of(iid) : natural;

    if (!ok || !p) {
        enc_u8(e, 0);
        return;
    }
    if (iface == D12_IFACE_UNKNOWN || d12_iface_is(natural, iface))
        iface = natural;
    enc_var(e, rec_object_seen(p, iface)->id);
}

/* Pairs of type and value; what stands behind an unknown subobject cannot be read, and the recording says so. */
void enc_stream(struct enc *e, const void *p, size_t n)
{
    size_t pos = 0, at = 0, count = 0;
    uint32_t type;
    enum stream_step s;

    if (!p) {
        enc_u8(e, 0);
        return;
    }
    while ((s = stream_next(p, n, &pos, &type, &at)) == STREAM_ITEM)
        count++;
    if (s != STREAM_END)
        rec_stream_trouble(s == STREAM_UNKNOWN ? type : UINT32_MAX, pos);
    enc_var(e, count + 1);
    pos = 0;
    while (count-- && enc_room(e) && stream_next(p, n, &pos, &type, &at) == STREAM_ITEM) {
        enc_var(e, type);
        enc_stream_subobject(e, type, (const char *)p + at);
    }
}
