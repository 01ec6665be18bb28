/* SPDX-License-Identifier: MIT */
/* win.h: the Windows base types that the generated Direct3D 12 declarations stand on.
 *
 * Under mingw-w64 they come from <windows.h>; on Linux they are the ones that libvkd3d uses: LP64, methods in the
 * Microsoft calling convention, WCHAR as wide as wchar_t.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#ifdef _WIN32
#define COBJMACROS
#include <windows.h>
#else

typedef int HRESULT;
typedef unsigned char BYTE;
typedef unsigned int DWORD, UINT, ULONG, UINT32;
typedef int INT, LONG, INT32, BOOL;
typedef unsigned char UINT8;
typedef signed char INT8;
typedef unsigned short UINT16;
typedef uint64_t UINT64;
typedef int64_t INT64;
typedef unsigned long ULONG_PTR, SIZE_T;
typedef long LONG_PTR;
typedef float FLOAT;
typedef void *HANDLE, *LPVOID;
typedef wchar_t WCHAR;
typedef const char *LPCSTR;
typedef const WCHAR *LPCWSTR;

typedef struct _GUID {
    unsigned int Data1;
    unsigned short Data2, Data3;
    unsigned char Data4[8];
} GUID;
typedef GUID IID;
typedef const IID *const REFIID;
typedef const GUID *const REFGUID;
typedef const GUID *const REFCLSID;

typedef struct RECT {
    LONG left, top, right, bottom;
} RECT;
typedef struct SECURITY_ATTRIBUTES SECURITY_ATTRIBUTES;

#define WINAPI        __attribute__((ms_abi))
#define S_OK          0
#define E_NOINTERFACE ((HRESULT)0x80004002)
#define E_FAIL        ((HRESULT)0x80004005)
#define E_INVALIDARG  ((HRESULT)0x80070057)
#define FAILED(hr)    ((HRESULT)(hr) < 0)
#define SUCCEEDED(hr) ((HRESULT)(hr) >= 0)
#endif
