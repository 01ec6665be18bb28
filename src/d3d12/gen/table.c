/* SPDX-License-Identifier: MIT */
#include "d3d12/gen/table.h"

#include <string.h>

#include "d3d12_api.h"

uint16_t d12_iface_of(const void *guid)
{
    for (uint16_t i = 0; i < D12_NUM_IFACES; i++)
        if (!memcmp(&d12_ifaces[i].iid, guid, 16))
            return i;
    return D12_IFACE_UNKNOWN;
}
