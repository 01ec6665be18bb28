/* SPDX-License-Identifier: MIT */
/* pthread.h: the recorder's locks on Windows, under the names that it uses on Linux. */
#pragma once

#include <windows.h>

typedef SRWLOCK pthread_mutex_t;
#define PTHREAD_MUTEX_INITIALIZER SRWLOCK_INIT
#define pthread_mutex_lock(m)     AcquireSRWLockExclusive(m)
#define pthread_mutex_unlock(m)   ReleaseSRWLockExclusive(m)
