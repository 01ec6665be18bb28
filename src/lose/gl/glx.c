/* SPDX-License-Identifier: MIT */
/* glx.c: GLX as GLVND's libGLX asks its vendor for it, with the driver's vendor library behind. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <GL/glx.h>
#include <GL/glxext.h>
#include <glvnd/libglxabi.h>

#include "gl.h"
#include "base/export.h"

static __GLXapiImports driver;
static struct {
    GLXContext (*create)(Display *, XVisualInfo *, GLXContext, Bool);
    PFNGLXCREATENEWCONTEXTPROC create_new;
    PFNGLXCREATECONTEXTATTRIBSARBPROC create_with;
    void (*destroy)(Display *, GLXContext);
    Bool (*current)(Display *, GLXDrawable, GLXContext);
    PFNGLXMAKECONTEXTCURRENTPROC current_both;
    void (*swap)(Display *, GLXDrawable);
    const char *(*extensions)(Display *, int);
} real;

#define ROBUSTNESS "GLX_ARB_create_context_robustness"
enum { ATTRIBUTES = 64 };

/* Xvfb lacks it; here everybody has it, for it is not the driver that tells of resets. */
static bool has_robustness(const char *extensions)
{
    return extensions && strstr(extensions, ROBUSTNESS);
}

static const char *hook_extensions(Display *display, int screen)
{
    static char all[1 << 14];
    const char *has = real.extensions(display, screen);

    if (!has || has_robustness(has) ||
        (size_t)snprintf(all, sizeof(all), "%s%s" ROBUSTNESS, has, *has ? " " : "") >= sizeof(all))
        return has;
    return all;
}

static GLXContext made(Display *display, GLXContext c, bool robust)
{
    gl_context_made(c, display, LOSE_GLX, robust);
    return c;
}

static GLXContext hook_create(Display *display, XVisualInfo *visual, GLXContext share, Bool direct)
{
    return slot_refused(LOSE_GLX) ? NULL : made(display, real.create(display, visual, share, direct), false);
}

static GLXContext hook_create_new(Display *display, GLXFBConfig config, int type, GLXContext share,
                                  Bool direct)
{
    return slot_refused(LOSE_GLX)
               ? NULL
               : made(display, real.create_new(display, config, type, share, direct), false);
}

/* GLX_ARB_create_context_robustness */
static GLXContext hook_create_with(Display *display, GLXFBConfig config, GLXContext share, Bool direct,
                                   const int *attributes)
{
    bool robust = false,
         knows = !real.extensions || has_robustness(real.extensions(display, DefaultScreen(display)));
    int kept[ATTRIBUTES + 1], n = 0;

    if (slot_refused(LOSE_GLX))
        return NULL;
    for (const int *a = attributes; a && a[0] && n < ATTRIBUTES; a += 2) {
        bool about = a[0] == GLX_CONTEXT_RESET_NOTIFICATION_STRATEGY_ARB;

        robust |= about && a[1] == GLX_LOSE_CONTEXT_ON_RESET_ARB;
        if (about && !knows)
            continue;
        kept[n++] = a[0];
        kept[n++] = a[1];
    }
    kept[n] = 0;
    return made(display, real.create_with(display, config, share, direct, n < ATTRIBUTES ? kept : attributes),
                robust);
}

static void hook_destroy(Display *display, GLXContext c)
{
    real.destroy(display, c);
    gl_context_destroyed(c);
}

static Bool hook_current(Display *display, GLXDrawable drawable, GLXContext c)
{
    Bool done = real.current(display, drawable, c);

    if (done)
        gl_context_current(c);
    return done;
}

static Bool hook_current_both(Display *display, GLXDrawable draw, GLXDrawable read, GLXContext c)
{
    Bool done = real.current_both(display, draw, read, c);

    if (done)
        gl_context_current(c);
    return done;
}

static void hook_swap(Display *display, GLXDrawable drawable)
{
    if (gl_frame() == GL_ALIVE)
        real.swap(display, drawable);
}

static void *hook(const char *name, void *function)
{
    static const struct gl_hooked hooks[] = {
        {"glXCreateContext", hook_create, &real.create},
        {"glXCreateNewContext", hook_create_new, &real.create_new},
        {"glXCreateContextAttribsARB", hook_create_with, &real.create_with},
        {"glXDestroyContext", hook_destroy, &real.destroy},
        {"glXMakeCurrent", hook_current, &real.current},
        {"glXMakeContextCurrent", hook_current_both, &real.current_both},
        {"glXSwapBuffers", hook_swap, &real.swap},
        {"glXQueryExtensionsString", hook_extensions, &real.extensions},
    };
    void *found = gl_hook_of(hooks, sizeof(hooks) / sizeof(hooks[0]), name, function);

    return found ? found : gl_hook(name, function);
}

static void *get(const GLubyte *name)
{
    return gl_stub_make((const char *)name, driver.getProcAddress(name), hook);
}

EXPORT Bool __glx_Main(uint32_t version, const __GLXapiExports *exports, __GLXvendorInfo *vendor,
                       __GLXapiImports *imports)
{
    const char *name = getenv(LOSE_GLX_VENDOR);
    char library[256];
    void *handle;
    __PFNGLXMAINPROC enter;

    gl_open();
    snprintf(library, sizeof(library), "libGLX_%s.so.0", name && *name ? name : "mesa");
    handle = dlopen(library, RTLD_LAZY);
    enter = handle ? (__PFNGLXMAINPROC)dlsym(handle, __GLX_MAIN_PROTO_NAME) : NULL;
    if (!enter || !enter(version, exports, vendor, &driver))
        return False;
    *imports = driver;
    imports->getProcAddress = get;
    imports->isPatchSupported = NULL; /* the driver would put functions of its own into the place of these */
    imports->initiatePatch = NULL;
    return True;
}
