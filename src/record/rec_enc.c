/* SPDX-License-Identifier: MIT */
#include "record/rec_enc.h"

void enc_text(struct enc *e, const char *s, size_t n)
{
    if (n > (size_t)SHM_SLACK / 4 && (e->p >= e->end || n > (size_t)(e->end - e->p))) {
        e->full = true;
        return;
    }
    enc_var(e, n + 1);
    memcpy(e->p, s, n);
    e->p += n;
}

void enc_str(struct enc *e, const char *s)
{
    if (s && enc_room(e))
        enc_text(e, s, strlen(s));
    else
        enc_u8(e, 0);
}

uint8_t *REC_ABI rec_put_reference(uint8_t *p, enum rec_range_kind k, uint64_t v)
{
    struct rec_range r;

    if (!v) {
        *p++ = 0;
        return p;
    }
    /* an address may also be the first behind its resource */
    if (rec_range_find(rec_self, k, v, &r) || (k == REC_VA && rec_range_find(rec_self, k, v - 1, &r))) {
        uint64_t at = v - r.start;

        if (at % r.step == 0)
            return varint_put(varint_put(p, r.id), at / r.step);
    }
    *p++ = 1;
    memcpy(p, &v, 8);
    return p + 8;
}
