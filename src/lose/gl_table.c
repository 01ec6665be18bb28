/* SPDX-License-Identifier: MIT */
/* gl_table.c: by the specifications of OpenGL 4.6 and OpenGL ES 3.2 (2.3.1 Errors), EGL 1.5 and GLX 1.4. */
#include "lose/gl_table.h"

#include <errno.h>

#include <EGL/egl.h>
#include <GL/gl.h>
#include <GL/glext.h>

#include "lose/drm_table.h"
#include "lose/record.h"

#define SURFACE(call)                                                                                        \
    {call, "bad-alloc", EGL_BAD_ALLOC, 0}, {call, "bad-match", EGL_BAD_MATCH, 0},                            \
    {                                                                                                        \
        call, "bad-config", EGL_BAD_CONFIG, 0                                                                \
    }
#define WINDOW(call)                                                                                         \
    SURFACE(call),                                                                                           \
    {                                                                                                        \
        call, "bad-native-window", EGL_BAD_NATIVE_WINDOW, 0                                                  \
    }
#define SHOW(call)                                                                                           \
    {call, "context-lost", LOSE_DEVICE_LOST, 0}, {call, "bad-alloc", EGL_BAD_ALLOC, 0},                      \
        {call, "bad-surface", EGL_BAD_SURFACE, 0},                                                           \
    {                                                                                                        \
        call, "bad-native-window", EGL_BAD_NATIVE_WINDOW, 0                                                  \
    }

const struct lose_gl_answer lose_gl_answers[] = {
    /* Any command may. */
    {"gl[A-WYZ]*", "out-of-memory", GL_OUT_OF_MEMORY, 0},
    {"gl[A-WYZ]*", "context-lost", LOSE_DEVICE_LOST, 0},
    {"glCheckFramebufferStatus", "framebuffer-unsupported", 0, GL_FRAMEBUFFER_UNSUPPORTED},
    {"glCheckNamedFramebufferStatus", "framebuffer-unsupported", 0, GL_FRAMEBUFFER_UNSUPPORTED},
    {"glClientWaitSync", "timeout-expired", 0, GL_TIMEOUT_EXPIRED},
    {"glClientWaitSync", "wait-failed", 0, GL_WAIT_FAILED},
    {"glUnmapBuffer", "corrupt", 0, GL_FALSE}, /* what was mapped is gone */
    {"glUnmapNamedBuffer", "corrupt", 0, GL_FALSE},
    {"eglInitialize", "not-initialized", EGL_NOT_INITIALIZED, 0},
    WINDOW("eglCreateWindowSurface"),
    WINDOW("eglCreatePlatformWindowSurface"),
    WINDOW("eglCreatePlatformWindowSurfaceEXT"),
    SURFACE("eglCreatePbufferSurface"),
    SURFACE("eglCreateContext"),
    SHOW("eglSwapBuffers"),
    SHOW("eglSwapBuffersWithDamageKHR"),
    SHOW("eglSwapBuffersWithDamageEXT"),
    {"eglMakeCurrent", "context-lost", LOSE_DEVICE_LOST, 0},
    {"eglMakeCurrent", "bad-alloc", EGL_BAD_ALLOC, 0},
    {"eglMakeCurrent", "bad-access", EGL_BAD_ACCESS, 0},
    {"eglMakeCurrent", "bad-match", EGL_BAD_MATCH, 0},
    {"eglMakeCurrent", "bad-native-window", EGL_BAD_NATIVE_WINDOW, 0},
    {"eglMakeCurrent", "bad-current-surface", EGL_BAD_CURRENT_SURFACE, 0},
    {"eglClientWaitSync", "timeout-expired", 0, EGL_TIMEOUT_EXPIRED},
    {"eglClientWaitSyncKHR", "timeout-expired", 0, EGL_TIMEOUT_EXPIRED},
    {"eglCreateImage", "bad-alloc", EGL_BAD_ALLOC, 0},
    {"eglCreateImageKHR", "bad-alloc", EGL_BAD_ALLOC, 0},
    {"eglCreateImage", "bad-match", EGL_BAD_MATCH, 0},
    {"eglCreateImageKHR", "bad-match", EGL_BAD_MATCH, 0},
    {"eglCreateSync", "bad-alloc", EGL_BAD_ALLOC, 0},
    {"eglCreateSyncKHR", "bad-alloc", EGL_BAD_ALLOC, 0},
    {"glXSwapBuffers", "context-lost", LOSE_DEVICE_LOST, 0},
    {"glXCreateContext", "null", 0, 0},
    {"glXCreateNewContext", "null", 0, 0},
    {"glXCreateContextAttribsARB", "null", 0, 0},
    {"glXChooseVisual", "null", 0, 0},
    {"glXMakeCurrent", "false", 0, 0},
    {"glXMakeContextCurrent", "false", 0, 0},
    /* "Recommended IOCTL Return Values" of the kernel's drm-uapi: any may. */
    {"DRM_IOCTL*", "unplugged", LOSE_UNPLUGGED, 0},
    {"DRM_IOCTL*", "enodev", ENODEV, 0},
    {"DRM_IOCTL*", "enomem", ENOMEM, 0},
    {"DRM_IOCTL*", "eintr", EINTR, 0},
    {"DRM_IOCTL_MODE_*", "eacces", EACCES, 0}, /* somebody else is master now */
    {"DRM_IOCTL_SET_MASTER", "eacces", EACCES, 0},
    {"DRM_IOCTL_MODE_*", "einval", EINVAL, 0},
    {"DRM_IOCTL_MODE_PAGE_FLIP", "ebusy", EBUSY, 0}, /* the one before has not come yet */
    {"DRM_IOCTL_MODE_ATOMIC", "ebusy", EBUSY, 0},
    {"DRM_IOCTL_MODE_ATOMIC", "enospc", ENOSPC, 0},
    {"DRM_IOCTL_MODE_CREATE_DUMB", "enospc", ENOSPC, 0},
    {"DRM_IOCTL_SYNCOBJ_*WAIT", "etime", ETIME, 0},
    {"DRM_IOCTL_DRIVER", "eio", EIO, 0}, /* the GPU died, and no reset helped */
    {"DRM_IOCTL_DRIVER", "enospc", ENOSPC, 0},
    {0},
};

const char *const lose_drm_names[] = {
#define NAME_ROW(name, nr) #name,
    LOSE_DRM_IOCTLS(NAME_ROW) LOSE_DRM_ANY,
    LOSE_DRM_OF_DRIVER,
#undef NAME_ROW
};
const unsigned lose_num_drm_names = sizeof(lose_drm_names) / sizeof(lose_drm_names[0]);
