/* SPDX-License-Identifier: MIT */
/* ntintsafe.h: arithmetic that cannot wrap around unseen (the WDK's page on the safe integer functions). STATUS_INTEGER_OVERFLOW,
 * and all bits of the result set, where it does not fit; any IRQL. */
#pragma once

#include "wddm/ntdef.h"

#define WDDM_SAFE_OPERATION(name, type, builtin)                                                             \
    static FORCEINLINE NTSTATUS Rtl##name(type Left, type Right, type *Result)                               \
    {                                                                                                        \
        if (!builtin(Left, Right, Result))                                                                   \
            return STATUS_SUCCESS;                                                                           \
        *Result = (type)-1;                                                                                  \
        return STATUS_INTEGER_OVERFLOW;                                                                      \
    }
#define WDDM_SAFE_OPERATIONS(name, type)                                                                     \
    WDDM_SAFE_OPERATION(name##Add, type, __builtin_add_overflow)                                             \
    WDDM_SAFE_OPERATION(name##Sub, type, __builtin_sub_overflow)                                             \
    WDDM_SAFE_OPERATION(name##Mult, type, __builtin_mul_overflow)

WDDM_SAFE_OPERATIONS(UInt, UINT)
WDDM_SAFE_OPERATIONS(ULong, ULONG)
WDDM_SAFE_OPERATIONS(UShort, USHORT)
WDDM_SAFE_OPERATIONS(ULongLong, ULONGLONG)
WDDM_SAFE_OPERATIONS(ULongPtr, ULONG_PTR)
WDDM_SAFE_OPERATIONS(SizeT, SIZE_T)
WDDM_SAFE_OPERATIONS(Long, LONG)
WDDM_SAFE_OPERATIONS(LongLong, LONGLONG)

#define WDDM_SAFE_CONVERSION(name, from, to)                                                                 \
    static FORCEINLINE NTSTATUS Rtl##name(from Operand, to *Result)                                          \
    {                                                                                                        \
        if (!__builtin_add_overflow(Operand, 0, Result))                                                     \
            return STATUS_SUCCESS;                                                                           \
        *Result = (to)-1;                                                                                    \
        return STATUS_INTEGER_OVERFLOW;                                                                      \
    }

WDDM_SAFE_CONVERSION(SizeTToULong, SIZE_T, ULONG)
WDDM_SAFE_CONVERSION(SizeTToUInt, SIZE_T, UINT)
WDDM_SAFE_CONVERSION(ULongLongToULong, ULONGLONG, ULONG)
WDDM_SAFE_CONVERSION(ULongLongToSizeT, ULONGLONG, SIZE_T)
WDDM_SAFE_CONVERSION(ULongToUShort, ULONG, USHORT)
WDDM_SAFE_CONVERSION(ULongToUChar, ULONG, UCHAR)
WDDM_SAFE_CONVERSION(ULongToLong, ULONG, LONG)
WDDM_SAFE_CONVERSION(LongToULong, LONG, ULONG)
WDDM_SAFE_CONVERSION(IntToUInt, INT, UINT)
WDDM_SAFE_CONVERSION(UIntToInt, UINT, INT)

#undef WDDM_SAFE_OPERATION
#undef WDDM_SAFE_OPERATIONS
#undef WDDM_SAFE_CONVERSION
