/* SPDX-License-Identifier: MIT */
/* export.h: a function that programs find in the library or the DLL by its name; all else is hidden. */
#pragma once

#if defined(_WIN32)
#define EXPORT __attribute__((dllexport))
#else
#define EXPORT __attribute__((visibility("default")))
#endif
