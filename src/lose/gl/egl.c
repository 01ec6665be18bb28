/* SPDX-License-Identifier: MIT */
/* egl.c: EGL as GLVND's libEGL asks its vendor for it, with the driver's vendor library behind. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <glvnd/libeglabi.h>

#include "gl.h"
#include "base/export.h"

static __EGLapiImports driver;
static struct {
    PFNEGLCREATECONTEXTPROC create;
    PFNEGLDESTROYCONTEXTPROC destroy;
    PFNEGLMAKECURRENTPROC current;
    PFNEGLSWAPBUFFERSPROC swap;
    PFNEGLSWAPBUFFERSWITHDAMAGEKHRPROC damage;
    PFNEGLRELEASETHREADPROC release;
    PFNEGLTERMINATEPROC terminate;
    PFNEGLGETERRORPROC error;
} real;

static EGLint EGLAPIENTRY hook_error(void)
{
    EGLint ours = gl_egl_error, theirs = real.error();

    gl_egl_error = 0;
    return ours ? ours : theirs;
}

/* Whether resets are told: by EGL 1.5, EGL_KHR_create_context or EGL_EXT_create_context_robustness. */
static bool is_robust(const EGLint *attributes)
{
    for (; attributes && attributes[0] != EGL_NONE; attributes += 2)
        if ((attributes[0] == EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY ||
             attributes[0] == EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT) &&
            attributes[1] == EGL_LOSE_CONTEXT_ON_RESET)
            return true;
    return false;
}

static EGLContext EGLAPIENTRY hook_create(EGLDisplay display, EGLConfig config, EGLContext share,
                                          const EGLint *attributes)
{
    EGLContext c;

    gl_egl_error = slot_refused(LOSE_EGL) ? EGL_BAD_ALLOC : 0;
    if (gl_egl_error)
        return EGL_NO_CONTEXT;
    c = real.create(display, config, share, attributes);
    if (c != EGL_NO_CONTEXT)
        gl_context_made(c, display, LOSE_EGL, is_robust(attributes));
    return c;
}

static EGLBoolean EGLAPIENTRY hook_destroy(EGLDisplay display, EGLContext c)
{
    EGLBoolean done = real.destroy(display, c);

    gl_egl_error = 0;
    if (done)
        gl_context_destroyed(c);
    return done;
}

static EGLBoolean EGLAPIENTRY hook_current(EGLDisplay display, EGLSurface draw, EGLSurface read, EGLContext c)
{
    EGLBoolean done;

    gl_egl_error = gl_context_usable(c, LOSE_eglMakeCurrent) ? 0 : EGL_CONTEXT_LOST;
    if (gl_egl_error)
        return EGL_FALSE;
    done = real.current(display, draw, read, c);
    if (done)
        gl_context_current(c);
    return done;
}

static bool shows(void)
{
    enum gl_state s = gl_frame();

    gl_egl_error = s == GL_LOST ? EGL_CONTEXT_LOST : 0;
    if (gl_egl_error)
        gl_told(LOSE_eglSwapBuffers);
    return s == GL_ALIVE;
}

static EGLBoolean EGLAPIENTRY hook_swap(EGLDisplay display, EGLSurface surface)
{
    return shows() ? real.swap(display, surface) : EGL_FALSE;
}

static EGLBoolean EGLAPIENTRY hook_damage(EGLDisplay display, EGLSurface surface, const EGLint *rects,
                                          EGLint n)
{
    return shows() ? real.damage(display, surface, rects, n) : EGL_FALSE;
}

static EGLBoolean EGLAPIENTRY hook_release(void)
{
    gl_egl_error = 0;
    gl_context_current(NULL);
    return real.release();
}

static EGLBoolean EGLAPIENTRY hook_terminate(EGLDisplay display)
{
    gl_egl_error = 0;
    gl_contexts_destroyed(display);
    return real.terminate(display);
}

static void *hook(const char *name, void *function)
{
    static const struct gl_hooked hooks[] = {
        {"eglCreateContext", hook_create, &real.create},
        {"eglDestroyContext", hook_destroy, &real.destroy},
        {"eglMakeCurrent", hook_current, &real.current},
        {"eglSwapBuffers", hook_swap, &real.swap},
        {"eglSwapBuffersWithDamageKHR", hook_damage, &real.damage},
        {"eglSwapBuffersWithDamageEXT", hook_damage, &real.damage},
        {"eglReleaseThread", hook_release, &real.release},
        {"eglTerminate", hook_terminate, &real.terminate},
        {"eglGetError", hook_error, &real.error},
    };
    void *found = gl_hook_of(hooks, sizeof(hooks) / sizeof(hooks[0]), name, function);

    return found ? found : gl_hook(name, function);
}

static void *get(const char *name)
{
    return gl_stub_make(name, driver.getProcAddress(name), hook);
}

/* ---- the driver's library -------------------------------------------------- */

/* The value of "library_path" in a vendor's JSON; what needs an escape there is no name of a library. */
static bool library_of(const char *path, char out[512])
{
    char text[4096];
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
    const char *at;

    if (f)
        fclose(f);
    text[n] = '\0';
    at = strstr(text, "\"library_path\"");
    return at && sscanf(at + strlen("\"library_path\""), " : \"%511[^\"\\]\"", out) == 1;
}

static bool load(const char *json, uint32_t version, const __EGLapiExports *exports, __EGLvendorInfo *vendor)
{
    char library[512];
    void *handle = library_of(json, library) ? dlopen(library, RTLD_LAZY) : NULL;
    __PFNEGLMAINPROC enter = handle ? (__PFNEGLMAINPROC)dlsym(handle, __EGL_MAIN_PROTO_NAME) : NULL;

    memset(&driver, 0, sizeof(driver));
    if (enter && enter(version, exports, vendor, &driver))
        return true;
    if (handle)
        dlclose(handle);
    return false;
}

static int is_json(const struct dirent *d)
{
    size_t n = strlen(d->d_name);

    return n > 5 && !strcmp(d->d_name + n - 5, ".json");
}

static bool load_from(const char *folder, uint32_t version, const __EGLapiExports *exports,
                      __EGLvendorInfo *vendor)
{
    struct dirent **files;
    int n = scandir(folder, &files, is_json, alphasort);
    bool loaded = false;

    for (int i = 0; i < n; i++) {
        char path[1024];
        snprintf(path, sizeof(path), "%s/%s", folder, files[i]->d_name);
        loaded = loaded || load(path, version, exports, vendor);
        free(files[i]);
    }
    if (n >= 0)
        free(files);
    return loaded;
}

/* The first that the program would have had. */
static bool load_driver(uint32_t version, const __EGLapiExports *exports, __EGLvendorInfo *vendor)
{
    const char *list = getenv(LOSE_EGL_VENDORS);
    char *copy, *save = NULL;
    bool loaded = false;

    if (!list || !*list)
        return load_from("/etc/glvnd/egl_vendor.d", version, exports, vendor) ||
               load_from("/usr/share/glvnd/egl_vendor.d", version, exports, vendor);
    copy = strdup(list);
    for (char *at = copy ? strtok_r(copy, ":", &save) : NULL; at && !loaded; at = strtok_r(NULL, ":", &save))
        loaded = load(at, version, exports, vendor);
    free(copy);
    return loaded;
}

EXPORT EGLBoolean __egl_Main(uint32_t version, const __EGLapiExports *exports, __EGLvendorInfo *vendor,
                             __EGLapiImports *imports)
{
    static atomic_bool
        entered; /* GLVND is told of this library by two files, for the case that it cannot load it by one */

    if (atomic_exchange(&entered, true))
        return EGL_FALSE;
    gl_open();
    if (!load_driver(version, exports, vendor))
        return EGL_FALSE;
    *imports = driver;
    imports->getProcAddress = get;
    /* The driver would put functions of its own into the place of these. */
    imports->isPatchSupported = NULL;
    imports->initiatePatch = NULL;
    return EGL_TRUE;
}
