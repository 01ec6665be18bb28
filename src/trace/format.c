/* SPDX-License-Identifier: MIT */
#include "trace/format.h"

#include <stddef.h>

const char *trace_blob_kind_name(uint32_t kind)
{
    switch (kind) {
#define K(value, name)                                                                                       \
    case value:                                                                                              \
        return #name;
        TRACE_BLOB_KINDS(K)
#undef K
    default:
        return NULL;
    }
}

const char *trace_record_type_name(uint32_t type)
{
    static const char *const names[] = {NULL, "BeginFrame", "Present", "Packet", "Blob", "Submission"};

    return type < sizeof(names) / sizeof(names[0]) ? names[type] : NULL;
}
