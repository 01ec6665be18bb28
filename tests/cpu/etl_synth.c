/* SPDX-License-Identifier: MIT */
#include "etl_synth.h"

#include <stdlib.h>
#include <string.h>

static void reserve(struct etl_synth *s, size_t more)
{
    if (s->size + more > s->cap) {
        s->cap = (s->size + more) * 2;
        s->file = realloc(s->file, s->cap);
    }
    memset(s->file + s->size, 0, more);
}

static void put16(uint8_t *p, uint16_t v)
{
    memcpy(p, &v, 2);
}

static void put32(uint8_t *p, uint32_t v)
{
    memcpy(p, &v, 4);
}

static void put64(uint8_t *p, uint64_t v)
{
    memcpy(p, &v, 8);
}

static size_t new_buffer(struct etl_synth *s, uint32_t cpu, uint8_t type)
{
    size_t at = s->size;
    uint8_t *b;

    reserve(s, ETL_SYNTH_BUFFER);
    b = s->file + at;
    s->size += ETL_SYNTH_BUFFER;
    put32(b, ETL_SYNTH_BUFFER);
    put32(b + 4, 0x48);
    put64(b + 0x18, s->sequence++);
    put16(b + 0x28, (uint16_t)cpu);
    put16(b + 0x2a, 1);
    put16(b + 0x34, 0x20); /* the processor has 16 bits */
    put16(b + 0x36, type);
    return at;
}

static uint8_t *add_event(struct etl_synth *s, uint32_t cpu, uint32_t size)
{
    uint32_t saved;
    uint8_t *b;

    if (s->open[cpu]) {
        memcpy(&saved, s->file + s->open[cpu] + 4, 4);
        if (saved + ((size + 7) & ~7u) > ETL_SYNTH_BUFFER)
            s->open[cpu] = 0;
    }
    if (!s->open[cpu])
        s->open[cpu] = new_buffer(s, cpu, 0);
    b = s->file + s->open[cpu];
    memcpy(&saved, b + 4, 4);
    put32(b + 4, saved + ((size + 7) & ~7u));
    return b + saved;
}

void etl_synth_init(struct etl_synth *s, uint32_t num_cpus, bool pack)
{
    uint8_t *b, *ev;

    *s = (struct etl_synth){.num_cpus = num_cpus, .pack = pack};
    s->open = calloc(num_cpus, sizeof(*s->open));
    new_buffer(s, 0, 4);
    b = s->file;
    put32(b + 4, 0x48 + 0x138);
    put32(b + 0x2c, pack ? 3 : 0);
    ev = b + 0x48;
    put32(ev, 0xc0020002u); /* SYSTEM64 */
    put16(ev + 4, 32 + 0x118);
    put64(ev + 16, 1000);
    ev += 32;
    put32(ev, ETL_SYNTH_BUFFER);
    put32(ev + 4, 0x0501000a); /* 10.0 */
    put32(ev + 8, 19045);
    put32(ev + 0x0c, num_cpus);
    put32(ev + 0x20, pack ? 0x04000001 : 1);
    put32(ev + 0x2c, 8);
    put32(ev + 0x34, 3000);
    put64(ev + 0x100, 10000000);
    put64(ev + 0x108, 133000000000000000);
    put32(ev + 0x110, 1);
}

void etl_synth_finish(struct etl_synth *s)
{
    free(s->file);
    free(s->open);
}

void etl_synth_perfinfo(struct etl_synth *s, uint32_t cpu, uint64_t ticks, uint16_t hook, const void *payload,
                        uint32_t size)
{
    uint8_t *ev = add_event(s, cpu, 16 + size);

    put32(ev, 0xc0110002u);
    put16(ev + 4, (uint16_t)(16 + size));
    put16(ev + 6, hook);
    put64(ev + 8, 1000 + ticks);
    memcpy(ev + 16, payload, size);
}

void etl_synth_manifest(struct etl_synth *s, uint32_t cpu, uint64_t ticks, const uint8_t guid[16],
                        uint16_t id, uint8_t version, const void *payload, uint32_t size, const void *schema,
                        uint16_t schema_size, const void *traits, uint16_t traits_size)
{
    uint32_t pad_s = schema ? 8 + ((schema_size + 7u) & ~7u) : 0,
             pad_t = traits ? 8 + ((traits_size + 7u) & ~7u) : 0;
    uint8_t *ev = add_event(s, cpu, 80 + pad_s + pad_t + size);

    put16(ev, (uint16_t)(80 + pad_s + pad_t + size));
    ev[2] = 19;
    ev[3] = 0xc0;
    put16(ev + 4, schema || traits ? 0x41 : 0x40);
    put32(ev + 8, 1234);
    put32(ev + 12, 567);
    put64(ev + 16, 1000 + ticks);
    memcpy(ev + 24, guid, 16);
    put16(ev + 40, id);
    ev[42] = version;
    ev += 80;
    if (schema) {
        put16(ev + 2, 11);
        put16(ev + 4, traits != NULL);
        put16(ev + 6, schema_size);
        memcpy(ev + 8, schema, schema_size);
        ev += pad_s;
    }
    if (traits) {
        put16(ev + 2, 12);
        put16(ev + 6, traits_size);
        memcpy(ev + 8, traits, traits_size);
        ev += pad_t;
    }
    memcpy(ev, payload, size);
}

void etl_synth_close(struct etl_synth *s)
{
    uint8_t *out;
    size_t n = ETL_SYNTH_BUFFER;

    if (!s->pack)
        return;
    /* literals only: a zero flag word before every 32 bytes */
    out = calloc(1, s->size * 2);
    memcpy(out, s->file, ETL_SYNTH_BUFFER);
    for (size_t at = ETL_SYNTH_BUFFER; at < s->size; at += ETL_SYNTH_BUFFER) {
        uint8_t *head = out + n;
        uint32_t saved;
        memcpy(&saved, s->file + at + 4, 4);
        memcpy(head, s->file + at, 0x48);
        n += 0x48;
        for (uint32_t i = 0x48; i < saved; i += 32) {
            uint32_t k = saved - i < 32 ? saved - i : 32;
            n += 4;
            memcpy(out + n, s->file + at + i, k);
            n += k;
        }
        n = (n + 7) & ~(size_t)7;
        put32(head, (uint32_t)(out + n - head));
        put16(head + 0x34, 0x60);
    }
    free(s->file);
    s->file = out;
    s->size = n;
}
