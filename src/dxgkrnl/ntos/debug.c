/* SPDX-License-Identifier: MIT */
/* debug.c: what a miniport tells a debugger. */
#include "dxgkrnl/adapter.h"
#include "dxgkrnl/ntos/print.h"
#include "dxgkrnl/ntos/routines.h"

#include <string.h>

/* A line of the debugger's output; without its end, if it has one. */
static void debug_line(const char *routine, ULONG level, PCSTR format, ms_va_list ap)
{
    static const enum log_level levels[] = {LOG_ERROR, LOG_WARN, LOG_DEBUG, LOG_INFO};
    struct kernel *k = SELF();
    char text[512];

    if (dxgk_kernel_irql(k) > PASSIVE_LEVEL && dxgk_print_is_wide(format))
        dxgk_kernel_violation(k, "%s of wide text called at IRQL %d, allowed up to %d", routine,
                              dxgk_kernel_irql(k), PASSIVE_LEVEL);
    dxgk_print(text, sizeof(text), format, ap);
    text[strcspn(text, "\r\n")] = '\0';
    log_line(level < 4 ? levels[level] : LOG_DEBUG, "kmd", "%s", text);
}

ULONG NTAPI DbgPrintEx(ULONG ComponentId, ULONG Level, PCSTR Format, ...)
{
    ms_va_list ap;

    UNREFERENCED_PARAMETER(ComponentId);
    CHECK(DbgPrintEx);
    ms_va_start(ap, Format);
    debug_line("DbgPrintEx", Level, Format, ap);
    ms_va_end(ap);
    return (ULONG)STATUS_SUCCESS;
}

ULONG NTAPI vDbgPrintEx(ULONG ComponentId, ULONG Level, PCSTR Format, ms_va_list arglist)
{
    UNREFERENCED_PARAMETER(ComponentId);
    CHECK(vDbgPrintEx);
    debug_line("vDbgPrintEx", Level, Format, arglist);
    return (ULONG)STATUS_SUCCESS;
}

ULONG NTAPI DbgPrint(PCSTR Format, ...)
{
    ms_va_list ap;

    CHECK(DbgPrint);
    ms_va_start(ap, Format);
    debug_line("DbgPrint", DPFLTR_INFO_LEVEL, Format, ap);
    ms_va_end(ap);
    return (ULONG)STATUS_SUCCESS;
}

/* ---- a debugger that is not there ---------------------------------------- */

BOOLEAN wddm_KdDebuggerNotPresent = TRUE, wddm_KdDebuggerEnabled = FALSE;

BOOLEAN NTAPI KdRefreshDebuggerNotPresent(VOID)
{
    SELF();
    return wddm_KdDebuggerNotPresent;
}

VOID NTAPI DbgBreakPoint(VOID)
{
    dxgk_kernel_violation(SELF(), "DbgBreakPoint without a debugger");
}

ULONG NTAPI DbgPrompt(PCSTR Prompt, PSTR Response, ULONG Length)
{
    CHECK(DbgPrompt);
    UNREFERENCED_PARAMETER(Prompt);
    if (Length)
        *Response = '\0';
    return 0;
}

VOID NTAPI KeBugCheckEx(ULONG BugCheckCode, ULONG_PTR BugCheckParameter1, ULONG_PTR BugCheckParameter2,
                        ULONG_PTR BugCheckParameter3, ULONG_PTR BugCheckParameter4)
{
    dxgk_kernel_violation(SELF(), "the miniport called KeBugCheckEx(%#x, %#llx, %#llx, %#llx, %#llx)",
                          BugCheckCode, (unsigned long long)BugCheckParameter1,
                          (unsigned long long)BugCheckParameter2, (unsigned long long)BugCheckParameter3,
                          (unsigned long long)BugCheckParameter4);
    dxgk_tdr_fail(OWNER(), BugCheckCode, "the miniport called KeBugCheckEx");
}

VOID NTAPI KeBugCheck(ULONG BugCheckCode)
{
    KeBugCheckEx(BugCheckCode, 0, 0, 0, 0);
}

/* ---- who is asked at a bug check ----------------------------------------- */

BOOLEAN NTAPI KeRegisterBugCheckCallback(PKBUGCHECK_CALLBACK_RECORD CallbackRecord,
                                         PKBUGCHECK_CALLBACK_ROUTINE CallbackRoutine, PVOID Buffer,
                                         ULONG Length, PUCHAR Component)
{
    PKBUGCHECK_CALLBACK_RECORD r = CallbackRecord;

    if (r->State != BufferEmpty)
        return FALSE;
    if (!CallbackRoutine) {
        dxgk_kernel_violation(SELF(), "KeRegisterBugCheckCallback without a routine");
        return FALSE;
    }
    dxgk_ntos_initialised("KeRegisterBugCheckCallback", KNOWN_BUGCHECK, r, sizeof(*r));
    *r = (KBUGCHECK_CALLBACK_RECORD){.CallbackRoutine = CallbackRoutine,
                                     .Buffer = Buffer,
                                     .Length = Length,
                                     .Component = Component,
                                     .State = BufferInserted};
    return TRUE;
}

BOOLEAN NTAPI KeDeregisterBugCheckCallback(PKBUGCHECK_CALLBACK_RECORD CallbackRecord)
{
    struct dxgk *d = OWNER();

    if (!dxgk_ntos_is(d, KNOWN_BUGCHECK, CallbackRecord))
        return FALSE;
    dxgk_ntos_deleted(d, CallbackRecord);
    CallbackRecord->State = BufferEmpty;
    return TRUE;
}

BOOLEAN NTAPI KeRegisterBugCheckReasonCallback(PKBUGCHECK_REASON_CALLBACK_RECORD CallbackRecord,
                                               PKBUGCHECK_REASON_CALLBACK_ROUTINE CallbackRoutine,
                                               KBUGCHECK_CALLBACK_REASON Reason, PUCHAR Component)
{
    PKBUGCHECK_REASON_CALLBACK_RECORD r = CallbackRecord;
    struct kernel *k = SELF();

    if (r->State != BufferEmpty)
        return FALSE;
    if (!CallbackRoutine || Reason < KbCallbackSecondaryDumpData || Reason > KbCallbackAddPages) {
        dxgk_kernel_violation(k,
                              CallbackRoutine
                                  ? "KeRegisterBugCheckReasonCallback for reason %d, which there is not"
                                  : "KeRegisterBugCheckReasonCallback without a routine, for reason %d",
                              Reason);
        return FALSE;
    }
    dxgk_ntos_initialised("KeRegisterBugCheckReasonCallback", KNOWN_BUGCHECK_REASON, r, sizeof(*r));
    *r = (KBUGCHECK_REASON_CALLBACK_RECORD){.CallbackRoutine = CallbackRoutine,
                                            .Component = Component,
                                            .Reason = Reason,
                                            .State = BufferInserted};
    return TRUE;
}

BOOLEAN NTAPI KeDeregisterBugCheckReasonCallback(PKBUGCHECK_REASON_CALLBACK_RECORD CallbackRecord)
{
    struct dxgk *d = OWNER();

    if (!dxgk_ntos_is(d, KNOWN_BUGCHECK_REASON, CallbackRecord))
        return FALSE;
    dxgk_ntos_deleted(d, CallbackRecord);
    CallbackRecord->State = BufferEmpty;
    return TRUE;
}

/* No dump is written; what would go into one is asked for all the same, and looked at. */
static void ask_for_data(struct dxgk *d, PKBUGCHECK_REASON_CALLBACK_RECORD r)
{
    static uint8_t room[PAGE_SIZE];
    KBUGCHECK_SECONDARY_DUMP_DATA data = {
        .InBuffer = room, .InBufferLength = sizeof(room), .MaximumAllowed = sizeof(room)};

    KERNEL_CALL(d->kernel, "a bug check callback", HIGH_LEVEL, 0,
                KERNEL_GUEST(r->CallbackRoutine)(KbCallbackSecondaryDumpData, r, &data, sizeof(data)));
    if (data.OutBufferLength > data.MaximumAllowed || (data.OutBufferLength && !data.OutBuffer))
        dxgk_kernel_violation(d->kernel, "a bug check callback gave %u bytes at %p for the dump; allowed: %u",
                              data.OutBufferLength, data.OutBuffer, data.MaximumAllowed);
}

void dxgk_ntos_bugcheck(struct dxgk *d)
{
    KIRQL old = dxgk_kernel_raise(d->kernel, HIGH_LEVEL);
    size_t at = 0;
    void *known;

    while ((known = dxgk_ntos_next(d, &at, KNOWN_BUGCHECK, KNOWN_BUGCHECK_REASON))) {
        PKBUGCHECK_CALLBACK_RECORD r = known;
        PKBUGCHECK_REASON_CALLBACK_RECORD reason = known;
        if (dxgk_ntos_is(d, KNOWN_BUGCHECK, known) && r->State == BufferInserted) {
            r->State = BufferStarted;
            at = 0; /* it may register and deregister */
            KERNEL_CALL(d->kernel, "a bug check callback", HIGH_LEVEL, 0,
                        KERNEL_GUEST(r->CallbackRoutine)(r->Buffer, r->Length));
        } else if (dxgk_ntos_is(d, KNOWN_BUGCHECK_REASON, known) && reason->State == BufferInserted &&
                   reason->Reason == KbCallbackSecondaryDumpData) {
            reason->State = BufferStarted;
            at = 0;
            ask_for_data(d, reason);
        }
    }
    dxgk_kernel_lower(d->kernel, old);
}

/* Nobody here catches what is raised (excpt.h). */
VOID NTAPI ExRaiseStatus(NTSTATUS Status)
{
    ENTER(ExRaiseStatus);

    dxgk_kernel_violation(k, "the miniport raised %08x, which nobody handles", (unsigned)Status);
}

static void probe(struct kernel *k, const char *routine, const VOID *address, SIZE_T length, ULONG alignment)
{
    ULONG_PTR at = (ULONG_PTR)address;

    if (length && (alignment & (alignment - 1) || (alignment && at & (alignment - 1))))
        dxgk_kernel_violation(k, "%s: %p is no multiple of %u: Windows raises an exception", routine, address,
                              alignment);
    if (length && (at >= MM_USER_PROBE_ADDRESS || length > MM_USER_PROBE_ADDRESS - at))
        dxgk_kernel_violation(k, "%s: %p is no address of a process: Windows raises an exception", routine,
                              address);
}

/* On Windows both are above MM_USER_PROBE_ADDRESS; here they lie where processes have theirs. */
static void probe_own(struct kernel *k, const char *routine, const VOID *address, SIZE_T length)
{
    const char *what = dxgk_pool_has(&OWNER()->ntos.pool, address) ? "pool"
                       : dxgk_kernel_in_object(k, address)         ? "the miniport's own data"
                                                                   : NULL;

    if (length && what)
        dxgk_kernel_violation(k, "%s: %p is %s, and no address of a process: Windows raises an exception",
                              routine, address, what);
}

VOID NTAPI ProbeForRead(const VOID *Address, SIZE_T Length, ULONG Alignment)
{
    ENTER(ProbeForRead);
    probe_own(k, "ProbeForRead", Address, Length);
    probe(k, "ProbeForRead", Address, Length, Alignment);
}

VOID NTAPI ProbeForWrite(PVOID Address, SIZE_T Length, ULONG Alignment)
{
    ENTER(ProbeForWrite);
    probe_own(k, "ProbeForWrite", Address, Length);
    probe(k, "ProbeForWrite", Address, Length, Alignment);
}
