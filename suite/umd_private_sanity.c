/* SPDX-License-Identifier: MIT */
/* The UMDRIVERPRIVATE blob has its version and says what QUERY_DEVICE_V2 says. */
#include "suite.h"

#include <aerogpu/pci.h>

void test_umd_private_sanity(struct suite *s)
{
    struct aerogpu_umd_private p = {0};
    struct aerogpu_escape_query_device_v2 v2 = {0};
    D3DKMT_QUERYADAPTERINFO q = {.hAdapter = s->adapter,
                                 .Type = KMTQAITYPE_UMDRIVERPRIVATE,
                                 .pPrivateDriverData = &p,
                                 .PrivateDriverDataSize = sizeof(p)};
    uint64_t features;

    CHECK_STATUS(s, D3DKMTQueryAdapterInfo(&q), "UMDRIVERPRIVATE");
    memcpy(&features, (uint8_t *)&p + 20, sizeof(features));
    CHECK(s, p.size_bytes >= sizeof(p), "size_bytes %u", p.size_bytes);
    CHECK(s, p.struct_version == AEROGPU_UMD_PRIVATE_VERSION, "struct_version %u", p.struct_version);
    CHECK(s, p.device_mmio_magic == AEROGPU_MMIO_MAGIC, "device_mmio_magic 0x%08X", p.device_mmio_magic);
    CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_DEVICE_V2, &v2), "QUERY_DEVICE_V2");
    CHECK(s, p.device_abi_version == v2.abi_version_u32, "ABI 0x%08X, QUERY_DEVICE_V2 says 0x%08X",
          p.device_abi_version, v2.abi_version_u32);
    CHECK(s, features == v2.features_lo, "features 0x%llx, QUERY_DEVICE_V2 says 0x%llx",
          (unsigned long long)features, (unsigned long long)v2.features_lo);
    CHECK(s, !(p.flags & AEROGPU_UMD_PRIVATE_FLAG_LEGACY), "flags 0x%x claim the legacy device", p.flags);
    CHECK(s, !(p.flags & AEROGPU_UMD_PRIVATE_FLAG_VBLANK) == !(features & AEROGPU_FEATURE_VBLANK),
          "flags 0x%x and features 0x%llx disagree on vblank", p.flags, (unsigned long long)features);
}
