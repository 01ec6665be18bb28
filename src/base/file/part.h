/* SPDX-License-Identifier: MIT */
/* part.h: a file that is loaded or run as a part of this program: that it is whole, and of this version.
 *
 * A package may be replaced while a program runs, and a disk may have been full: of a file that is cut what is missing is a SIGBUS in
 * whoever maps it, and another version's tables are garbage. So each part has its version in a note, which is read, not mapped, before
 * anything of it is run.
 */
#pragma once

#include "base/error.h"

#define PART_NAME "AeroGPU"
enum { PART_VERSION = 1 }; /* the note's type */

/* At file scope, once in each part: the note. */
#define PART(version)                                                                                        \
    __asm__(".pushsection .note.aerogpu, \"a\", %note\n"                                                     \
            ".balign 4\n"                                                                                    \
            ".long 2f - 1f, 4f - 3f, 1\n"                                                                    \
            "1: .asciz \"" PART_NAME "\"\n"                                                                  \
            "2: .balign 4\n"                                                                                 \
            "3: .asciz \"" version "\"\n"                                                                    \
            "4: .balign 4\n"                                                                                 \
            ".popsection")

/* 0; -ENOEXEC: it is no regular file, or no program or library of this machine's; -EIO: it is cut; -ELIBBAD: it is no part of this
 * program, or of another version; or what opening it answered. */
int part_check(const char *path, const char *version, struct error *e);
