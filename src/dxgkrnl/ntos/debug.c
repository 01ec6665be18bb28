/* SPDX-License-Identifier: MIT */
/* debug.c: what a miniport tells a debugger. */
#include "dxgkrnl/adapter.h"
#include "dxgkrnl/ntos/print.h"
#include "dxgkrnl/ntos/routines.h"

#include <string.h>

/* A line of the debugger's output; without its end, if it has one. */
static void debug_line(ULONG level, PCSTR format, ms_va_list ap)
{
    static const enum log_level levels[] = {LOG_ERROR, LOG_WARN, LOG_DEBUG, LOG_INFO};
    char text[512];

    dxgk_print(text, sizeof(text), format, ap);
    text[strcspn(text, "\r\n")] = '\0';
    log_line(level < 4 ? levels[level] : LOG_DEBUG, "kmd", "%s", text);
}

ULONG NTAPI DbgPrintEx(ULONG ComponentId, ULONG Level, PCSTR Format, ...)
{
    ms_va_list ap;

    UNREFERENCED_PARAMETER(ComponentId);
    ms_va_start(ap, Format);
    debug_line(Level, Format, ap);
    ms_va_end(ap);
    return (ULONG)STATUS_SUCCESS;
}
