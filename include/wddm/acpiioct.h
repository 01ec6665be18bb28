/* SPDX-License-Identifier: MIT */
/* acpiioct.h: how a driver calls a method of the ACPI tables (DxgkCbEvalAcpiMethod). The machine has no such tables: each call answers
 * STATUS_NOT_SUPPORTED.
 *
 * Names, members, order and values: the WDK's public documentation of acpiioct.h.
 */
#pragma once

#include "wddm/ntddk.h"

#define ACPI_EVAL_INPUT_BUFFER_COMPLEX_SIGNATURE 0x43696541 /* 'CieA' */
#define ACPI_EVAL_OUTPUT_BUFFER_SIGNATURE        0x426F6541 /* 'BoeA' */
#define ACPI_METHOD_HARDWARE_ID                  0x4449485F /* _HID */

enum {
    ACPI_METHOD_ARGUMENT_INTEGER = 0,
    ACPI_METHOD_ARGUMENT_STRING = 1,
    ACPI_METHOD_ARGUMENT_BUFFER = 2,
    ACPI_METHOD_ARGUMENT_PACKAGE = 3
};

typedef struct _ACPI_METHOD_ARGUMENT {
    USHORT Type;
    USHORT DataLength;
    union {
        ULONG Argument;
        UCHAR Data[4];
    };
} ACPI_METHOD_ARGUMENT, *PACPI_METHOD_ARGUMENT;

/* An argument has room for four bytes at least. */
#define ACPI_METHOD_ARGUMENT_LENGTH(length)                                                                  \
    (offsetof(ACPI_METHOD_ARGUMENT, Data) + ((length) > sizeof(ULONG) ? (length) : sizeof(ULONG)))
#define ACPI_METHOD_NEXT_ARGUMENT(argument)                                                                  \
    ((ACPI_METHOD_ARGUMENT *)((PUCHAR)(argument) + ACPI_METHOD_ARGUMENT_LENGTH((argument)->DataLength)))

typedef struct _ACPI_EVAL_INPUT_BUFFER_COMPLEX {
    ULONG Signature;
    union {
        UCHAR MethodName[4];
        ULONG MethodNameAsUlong;
    };
    ULONG Size; /* of the arguments, bytes */
    ULONG ArgumentCount;
    ACPI_METHOD_ARGUMENT Argument[1];
} ACPI_EVAL_INPUT_BUFFER_COMPLEX, *PACPI_EVAL_INPUT_BUFFER_COMPLEX;

typedef struct _ACPI_EVAL_OUTPUT_BUFFER {
    ULONG Signature;
    ULONG Length;
    ULONG Count;
    ACPI_METHOD_ARGUMENT Argument[1];
} ACPI_EVAL_OUTPUT_BUFFER, *PACPI_EVAL_OUTPUT_BUFFER;
