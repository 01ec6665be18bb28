/* SPDX-License-Identifier: MIT */
/* QUERY_DEVICE and QUERY_DEVICE_V2 agree on a device that is AeroGPU with a known major ABI. */
#include "suite.h"

#include <aerogpu/pci.h>

void test_device_state_sanity(struct suite *s)
{
    struct aerogpu_escape_query_device v1 = {0};
    struct aerogpu_escape_query_device_v2 v2 = {0};

    CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_DEVICE, &v1), "QUERY_DEVICE");
    CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_DEVICE_V2, &v2), "QUERY_DEVICE_V2");
    CHECK(s, v2.detected_mmio_magic == AEROGPU_MMIO_MAGIC, "magic 0x%08X", v2.detected_mmio_magic);
    CHECK(s, v1.mmio_version == v2.abi_version_u32, "QUERY_DEVICE says version 0x%08X, V2 0x%08X",
          v1.mmio_version, v2.abi_version_u32);
    CHECK(s, v2.abi_version_u32 >> 16 == 1, "ABI major %u", v2.abi_version_u32 >> 16);
    CHECK(s, v2.features_lo & AEROGPU_FEATURE_FENCE_PAGE, "no FENCE_PAGE in features 0x%llx",
          (unsigned long long)v2.features_lo);
    CHECK(s, !v2.features_hi, "features_hi 0x%llx", (unsigned long long)v2.features_hi);
    suite_log(s, "abi %u.%u, features 0x%llx", v2.abi_version_u32 >> 16, v2.abi_version_u32 & 0xFFFF,
              (unsigned long long)v2.features_lo);
}
