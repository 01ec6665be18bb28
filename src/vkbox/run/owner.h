/* SPDX-License-Identifier: MIT */
/* owner.h: the process that a record is of. A record tells its number as it is in the process's own PID namespace; in that of the
 * reader it has another. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

enum owner_has { OWNER_HAS_NOTHING, OWNER_HAS_OTHERS, OWNER_HAS_IT };

/* What a process (by its number here) has in its memory: nothing that can be seen, as one that is about to end; files, but no such record, as
 * after an exec; or it. `record`: a part of its path. Never this process. */
enum owner_has owner_look(pid_t pid, const char *record);

/* The number here of the process that has `record` ("FOLDER/FILE", the end of its path) in its memory; 0: nobody that can be seen has.
 * `told`: its number in the PID namespace with number `counts_in`, 0: which that is is not known. */
pid_t owner_find(const char *record, pid_t told, uint64_t counts_in);
