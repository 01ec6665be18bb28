/* SPDX-License-Identifier: MIT */
/* tasks.h: how many more threads the user of this process may have (RLIMIT_NPROC: threads of all of his processes count). */
#pragma once

#include <limits.h>

/* UINT_MAX: as many as the machine has room for. What /proc does not show is not counted. */
unsigned tasks_left(void);
