/* SPDX-License-Identifier: MIT */
/* pid_namespace.h: whose numbers of processes and threads these are (pid_namespaces(7)). */
#pragma once

#include <stdint.h>

/* That of this process: the inode of /proc/self/ns/pid. 0: it cannot be seen. */
uint64_t pid_namespace(void);

/* As a dump says it: "system", the machine's own; "own NUMBER", a container's; "" of 0. */
void pid_namespace_text(uint64_t number, char out[32]);
