/* SPDX-License-Identifier: MIT */
/* subuid.h: whose a subordinate user number is (subuid(5)). A user may have 65536 of them, for containers; whoever counts by users counts
 * them as one.
 *
 * Not libsubid: where a directory serves these numbers it asks that, and whoever counts would wait for a server elsewhere. */
#pragma once

#include <sys/types.h>

/* Who was given a range of numbers that `uid` is in, as the two files say, or `uid` itself. Who has no line in `passwd` is known by the
 * first number of his range. Reads the files anew each time: about 10 us where they are short. A line that is none is passed over. */
uid_t subuid_owner(uid_t uid, const char *subuid, const char *passwd);

#define SUBUID_FILE   "/etc/subuid"
#define SUBUID_PASSWD "/etc/passwd"
