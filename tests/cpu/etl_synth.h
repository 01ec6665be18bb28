/* SPDX-License-Identifier: MIT */
/* etl_synth.h: ETL files made up event by event. No public file has processor power events; these follow the
 * published layouts, and a report made from them says nothing about a real machine. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETL_SYNTH_BUFFER 4096

struct etl_synth {
    uint8_t *file;
    size_t size, cap;
    uint32_t num_cpus;
    size_t *open; /* per CPU: offset of its buffer in the file, 0 = none */
    bool pack;    /* XPRESS, literals only */
    uint64_t sequence;
};

/* Times are ticks of 100 ns; the first is 1000. */
void etl_synth_init(struct etl_synth *s, uint32_t num_cpus, bool pack);
void etl_synth_finish(struct etl_synth *s);

/* PERFINFO64 header: processor power and interrupt events. */
void etl_synth_perfinfo(struct etl_synth *s, uint32_t cpu, uint64_t ticks, uint16_t hook, const void *payload,
                        uint32_t size);
/* EVENT_HEADER64 with an optional extended item of each type. */
void etl_synth_manifest(struct etl_synth *s, uint32_t cpu, uint64_t ticks, const uint8_t guid[16],
                        uint16_t id, uint8_t version, const void *payload, uint32_t size, const void *schema,
                        uint16_t schema_size, const void *traits, uint16_t traits_size);
/* Packs, and closes all buffers. */
void etl_synth_close(struct etl_synth *s);
