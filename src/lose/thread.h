/* SPDX-License-Identifier: MIT */
/* thread.h: what a thread is at, as /proc tells it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether the process's first thread waits for events: it sleeps in a call that is made for that. */
bool thread_waits_for_events(pid_t pid);
/* Whether a thread sleeps for a time that it has set itself, and that comes to an end: less than a day of it is left. */
bool thread_sleeps(pid_t pid, uint32_t tid);
/* How often it went to sleep; -1: it is not known. */
long thread_switches(pid_t pid, uint32_t tid);
/* Whether it wants a processor now. */
bool thread_wants_processor(pid_t pid, uint32_t tid);
