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

void enc_reference(struct enc *e, enum rec_range_kind k, uint64_t v)
{
    struct rec_range r;
    uint64_t at;

    if (!v) {
        enc_u8(e, 0);
        return;
    }
    /* an address may also be the first behind its resource */
    if (rec_range_find(rec_self, k, v, &r) || (k == REC_VA && rec_range_find(rec_self, k, v - 1, &r))) {
        at = v - r.start;
        if (at % r.step == 0) {
            enc_var(e, r.id);
            enc_var(e, at / r.step);
            return;
        }
    }
    enc_u8(e, 1);
    memcpy(e->p, &v, 8);
    e->p += 8;
}

void enc_bytes(struct enc *e, const void *p, size_t n)
{
    if (!p) {
        enc_u8(e, 0);
    } else if (n <= ENC_INLINE) {
        if (!enc_room(e))
            return;
        enc_var(e, 2 * (uint64_t)n + 1);
        memcpy(e->p, p, n);
        e->p += n;
    } else {
        enc_var(e, 2 * rec_blob(p, n) + 2);
    }
}
