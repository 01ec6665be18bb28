/* SPDX-License-Identifier: MIT */
/* devices.h: what the record says of devices and their processes, and which of them makes good a loss.
 *
 * That is one device, which works after it as the lost one did before (frames, if that showed any):
 *  - one of the same process, or one of a process that runs the same program, once the lost one's process is gone;
 *  - made after the loss, or a spare that had done next to nothing before. A device that was at work beside the lost one all the
 *    time proves nothing, nor does one that is made to ask something.
 * Work is frames, if the lost device showed any; else submissions with commands to run, if it had any; else submissions.
 *
 * The record is the program's to write: what it says is clamped before it is used.
 */
#pragma once

#include "lose/watch.h"

enum fate { LIVES, EXITED, KILLED };
enum kind { FRAMES, WORKS, SUBMITS };

/* A time that the program wrote: while it ran, and not in the future. 0: never. */
uint64_t record_time(const struct run *r, const _Atomic uint64_t *time);

/* Of a process that had a device; `*code`: its exit code, or the signal (0: unknown, or none but its end was no exit()). */
enum fate device_fate(const struct run *r, uint32_t slot, int *code);
bool device_is_gone(const struct run *r, uint32_t slot);

/* What counts as work of this device and of who follows it; and of the whole program. */
enum kind device_kind(const struct lose_device *d);
enum kind kind_of_program(const struct run *r);
uint64_t device_work(const struct lose_device *d, enum kind kind);
uint64_t work_of_kind(const struct work *w, enum kind kind);

/* The device that makes good best the loss of device `slot`, which began at `lost` with this done before, or NULL; and what it did. */
const struct lose_device *successor(const struct run *r, uint32_t slot, uint64_t lost,
                                    const struct work *before, uint64_t *work);
const struct lose_device *successor_of_loss(const struct run *r, uint32_t loss, uint64_t *work);
/* Whether that has worked enough. */
bool loss_proven(const struct run *r, uint32_t loss);
/* Whether the loss of device `slot` is counted. */
bool loss_is_noted(const struct run *r, uint32_t slot);
