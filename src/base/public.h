/* SPDX-License-Identifier: MIT */
/* public.h: around the declarations of headers that `meson install` brings: they are C's, and seen from outside of the
 * library, which is built with everything else hidden. */
#pragma once

#ifdef __ELF__
#define PUBLIC_VISIBLE_ _Pragma("GCC visibility push(default)")
#define PUBLIC_HIDDEN_  _Pragma("GCC visibility pop")
#else
#define PUBLIC_VISIBLE_
#define PUBLIC_HIDDEN_
#endif

#ifdef __cplusplus
#define PUBLIC_BEGIN                                                                                         \
    PUBLIC_VISIBLE_ extern "C"                                                                               \
    {
#define PUBLIC_END                                                                                           \
    }                                                                                                        \
    PUBLIC_HIDDEN_
#else
#define PUBLIC_BEGIN PUBLIC_VISIBLE_
#define PUBLIC_END   PUBLIC_HIDDEN_
#endif
