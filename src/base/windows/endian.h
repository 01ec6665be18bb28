/* SPDX-License-Identifier: MIT */
/* endian.h: what <endian.h> gives on Linux; Windows runs on little-endian machines only. */
#pragma once

#define le16toh(v) (v)
#define le32toh(v) (v)
#define le64toh(v) (v)
