/* SPDX-License-Identifier: MIT */
/* From ABI 1.1 on the device offers TRANSFER. */
#include "suite.h"

#include <aerogpu/pci.h>

void test_transfer_feature_sanity(struct suite *s)
{
    struct aerogpu_escape_query_device_v2 v2 = {0};

    CHECK_STATUS(s, SUITE_ESCAPE(s, QUERY_DEVICE_V2, &v2), "QUERY_DEVICE_V2");
    if ((v2.abi_version_u32 & 0xFFFF) < 1) {
        suite_skip(s, "ABI minor %u is older than TRANSFER", v2.abi_version_u32 & 0xFFFF);
        return;
    }
    CHECK(s, v2.features_lo & AEROGPU_FEATURE_TRANSFER, "ABI 1.%u without TRANSFER",
          v2.abi_version_u32 & 0xFFFF);
}
