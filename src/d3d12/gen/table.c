#include "d3d12/gen/table.h"

#include <string.h>

#include "d3d12/gen/pipeline_stream.h"
#include "d3d12_api.h"

uint16_t d12_iface_of(const void *guid)
{
    for (uint16_t i = 0; i < D12_NUM_IFACES; i++)
        if (!memcmp(&d12_ifaces[i].iid, guid, 16))
            return i;
    return D12_IFACE_UNKNOWN;
}

int d12_iface_is(uint16_t iface, uint16_t base)
{
    for (; iface < D12_NUM_IFACES; iface = d12_ifaces[iface].base)
        if (iface == base)
            return 1;
    return 0;
}

int d12_subobject_type(uint32_t type)
{
    return type < D12_NUM_SUBOBJECTS && d12_subobjects[type].size ? d12_subobjects[type].type : -1;
}
