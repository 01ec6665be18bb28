/* SPDX-License-Identifier: MIT */
/* crossing.h: calls of a miniport's code, and the registers that it has to leave as they were.
 *
 *   KERNEL_GUEST(fn)(args…) ──▶ dxgk_crossing: keeps them ──▶ fn ──▶ compares ─┬─ the same ──▶ returns what fn did
 *                                                                            ├─ others: a violation that names them, and they are put
 *                                                                            │  back
 *                                                                            └─ another stack: the miniport dies of it
 *
 * By Windows' convention a function keeps RBX, RBP, RDI, RSI, R12 to R15 and XMM6 to XMM15 (the WDK: "x64 software conventions"). Who does
 * not breaks its caller, somewhere and later. Shared objects have the same convention where they are called (APIENTRY).
 */
#pragma once

#if defined(__x86_64__)
extern __thread const void *dxgk_crossing_to __attribute__((tls_model("initial-exec")));
void dxgk_crossing(void) __attribute__((visibility("hidden")));
extern const char dxgk_crossing_end[] __attribute__((visibility("hidden")));
/* Where it returns to lies so far above the stack that it calls from. */
enum { CROSSING_RETURN = 312 };
/* What calls `fn`, with its type; its arguments call nothing of the miniport's. */
#define KERNEL_GUEST(fn)                                                                                     \
    ({                                                                                                       \
        void *crossing_ = (void *)dxgk_crossing;                                                             \
        dxgk_crossing_to = (const void *)(fn);                                                               \
        __asm__(""                                                                                           \
                : "+r"(crossing_)); /* whose convention is fn's: the compiler knows another declaration */   \
        (typeof(fn))crossing_;                                                                               \
    })
#else
#define KERNEL_GUEST(fn) (fn)
#endif
