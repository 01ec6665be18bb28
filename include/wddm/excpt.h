/* SPDX-License-Identifier: MIT */
/* excpt.h: the words of structured exception handling, for compilers that have none.
 *
 * gcc cannot catch an exception: a guarded block runs, and its handler never does. So a routine that would raise one in Windows is
 * a violation in the user-space kernel instead. There is no word for __leave: what needs it does not compile. In C++ the words are
 * there under -fno-exceptions only, for libstdc++ has its own __try.
 */
#pragma once

#define EXCEPTION_EXECUTE_HANDLER    1
#define EXCEPTION_CONTINUE_SEARCH    0
#define EXCEPTION_CONTINUE_EXECUTION (-1)

#if !defined(_MSC_VER) && !(defined(__cplusplus) && defined(__EXCEPTIONS)) && !defined(__clang__)
/* clang-format off */
#undef __try
#undef __except
#define __try            if (1)
#define __except(filter) else if (0 && (filter))
#define __finally
/* clang-format on */
#endif
#if defined(__clang__) && defined(_WIN32)
#define GetExceptionCode()        _exception_code()
#define GetExceptionInformation() ((struct _EXCEPTION_POINTERS *)_exception_info())
#define AbnormalTermination()     _abnormal_termination()
#elif !defined(_MSC_VER)
#define GetExceptionCode()        0u
#define GetExceptionInformation() ((struct _EXCEPTION_POINTERS *)0)
#define AbnormalTermination()     0
#endif
