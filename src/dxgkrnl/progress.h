/* progress.h: how far a context is, in memory that its client maps: a fence without a call.
 *
 * The client only reads, but for `waiters` and `awaited`; dxgkrnl believes nothing it finds here.
 */
#ifndef DXGKRNL_PROGRESS_H_
#define DXGKRNL_PROGRESS_H_

#include <stdatomic.h>
#include <stdint.h>

struct dxgk_progress {
    _Atomic uint64_t queued;    /* packets that Render, Present, waits and signals have queued so far */
    _Atomic uint64_t completed; /* of those: executed, shown, or dropped with the device */
    _Atomic uint32_t
        state; /* of the device: D3DKMT_DEVICEEXECUTION_STATE, set before what it drops completes */
    _Atomic uint32_t change;  /* rises with every change of `completed` and `state`; a futex */
    _Atomic uint32_t waiters; /* how many wait on `change`: while it is 0 nobody is woken */
    _Atomic uint64_t
        awaited; /* the last packet that the client waited for; who waits for each gets it within Render */
};

#endif
