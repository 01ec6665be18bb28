/* SPDX-License-Identifier: MIT */
/* endian.h: what <endian.h> gives on Linux; Windows runs on little-endian machines only. */
#ifndef RECORD_WINDOWS_ENDIAN_H_
#define RECORD_WINDOWS_ENDIAN_H_

#define le16toh(v) (v)
#define le32toh(v) (v)
#define le64toh(v) (v)

#endif
