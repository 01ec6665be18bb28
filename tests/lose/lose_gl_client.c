/* SPDX-License-Identifier: MIT */
/* A program of OpenGL for the tests of `aerogpu lose`: it draws, waits and shows, over and over, and reacts to a reset as its second
 * argument says. The first is how it comes to OpenGL:
 *
 *   egl       EGL, linked           dlsym     EGL and OpenGL by dlsym()
 *   proc      OpenGL by eglGetProcAddress()   glx   GLX; OpenGL by glXGetProcAddress()
 *   none      it does not
 *
 *   recover   makes a new context when it is told           exit, abort, pause   does that then
 *   ignore    goes on                                       deaf     asks to be told of nothing, and goes on
 *   watchdog  waits for 200 ms at most, and makes a new context then
 *   draws     recovers, and shows nothing                   says     prints what it is told, by every call, and ends
 *   two       prints what another context of it is told     leak     recovers, and destroys nothing
 *   software  goes on without OpenGL if there is none; `stuck`: does nothing then
 *   refused   prints why there was no new context, and recovers
 *   asks      recovers, and asks to be told only where GLX says that it can be
 *
 * A third argument is a number of frames after which it ends.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <GL/glx.h>
#include <GL/glxext.h>

#define GL_ROWS(F)                                                                                           \
    F(void, glClear, (GLbitfield))                                                                           \
    F(void, glFinish, (void))                                                                                \
    F(GLenum, glGetError, (void))                                                                            \
    F(GLuint, glCreateShader, (GLenum))                                                                      \
    F(const GLubyte *, glGetString, (GLenum))                                                                \
    F(GLsync, glFenceSync, (GLenum, GLbitfield))                                                             \
    F(GLenum, glClientWaitSync, (GLsync, GLbitfield, GLuint64))                                              \
    F(void, glGetSynciv, (GLsync, GLenum, GLsizei, GLsizei *, GLint *))                                      \
    F(void, glDeleteSync, (GLsync))                                                                          \
    F(void, glGenBuffers, (GLsizei, GLuint *))                                                               \
    F(void, glBindBuffer, (GLenum, GLuint))                                                                  \
    F(void, glBufferData, (GLenum, GLsizeiptr, const void *, GLenum))                                        \
    F(GLenum, glCheckFramebufferStatus, (GLenum))                                                            \
    F(void, glReadPixels, (GLint, GLint, GLsizei, GLsizei, GLenum, GLenum, void *))                          \
    F(void, glClearColor, (GLfloat, GLfloat, GLfloat, GLfloat))

static struct {
#define MEMBER(type, name, parameters) type(*name) parameters;
    GL_ROWS(MEMBER)
#undef MEMBER
    GLenum (*status)(void);
} gl;

static const char *api;
static bool glx;
static EGLDisplay display;
static EGLConfig config;
static EGLSurface surface;
static Display *x;
static GLXFBConfig *x_configs;
static Window window;

static void fail(const char *what)
{
    fprintf(stderr, "lose_gl_client: %s\n", what);
    exit(9);
}

static void *find(const char *name)
{
    static void *library;

    if (glx)
        return (void *)glXGetProcAddress((const GLubyte *)name);
    if (strcmp(api, "dlsym") != 0)
        return (void *)eglGetProcAddress(name);
    if (!library)
        library = dlopen("libGLESv2.so.2", RTLD_NOW);
    return dlsym(library, name) ? dlsym(library, name) : (void *)eglGetProcAddress(name);
}

static void load(void)
{
    void *p;

#define LOAD(type, name, parameters)                                                                         \
    p = find(#name);                                                                                         \
    if (!p)                                                                                                  \
        fail(#name);                                                                                         \
    memcpy(&gl.name, &p, sizeof(p));
    GL_ROWS(LOAD)
#undef LOAD
    p = find(glx ? "glGetGraphicsResetStatusARB" : "glGetGraphicsResetStatusEXT");
    memcpy(&gl.status, &p, sizeof(p));
}

static void open_glx(void)
{
    static const int want[] = {
        GLX_DRAWABLE_TYPE, GLX_WINDOW_BIT, GLX_RENDER_TYPE, GLX_RGBA_BIT, GLX_DOUBLEBUFFER, 1, 0};
    XVisualInfo *visual;
    XSetWindowAttributes with = {0};
    int n;

    x = XOpenDisplay(NULL);
    if (!x)
        fail("no X server");
    x_configs = glXChooseFBConfig(x, DefaultScreen(x), want, &n);
    visual = x_configs ? glXGetVisualFromFBConfig(x, x_configs[0]) : NULL;
    if (!visual)
        fail("no configuration of GLX");
    with.colormap = XCreateColormap(x, DefaultRootWindow(x), visual->visual, AllocNone);
    window = XCreateWindow(x, DefaultRootWindow(x), 0, 0, 64, 64, 0, visual->depth, InputOutput,
                           visual->visual, CWColormap, &with);
    XMapWindow(x, window);
    XFree(visual);
}

static void open_egl(const char *how)
{
    static const EGLint want[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT,
                                  EGL_NONE},
                        size[] = {EGL_WIDTH, 64, EGL_HEIGHT, 64, EGL_NONE};
    EGLint n = 0;

    display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    if (!eglInitialize(display, NULL, NULL)) {
        printf("eglInitialize: %x\n", (unsigned)eglGetError());
        while (!strcmp(how, "software"))
            usleep(10000);
        while (!strcmp(how, "stuck"))
            pause();
        fail("no EGL");
    }
    if (!eglChooseConfig(display, want, &config, 1, &n) || !n)
        fail("no configuration of EGL");
    surface = eglCreatePbufferSurface(display, config, size);
    if (!surface) {
        printf("eglCreatePbufferSurface: %x\n", (unsigned)eglGetError());
        fail("no surface");
    }
}

/* NULL: there can be none now. */
static void *make(bool deaf)
{
    const EGLint with[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT,
                           EGL_LOSE_CONTEXT_ON_RESET_EXT, EGL_NONE},
                 without[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE};
    const int x_with[] = {GLX_CONTEXT_RESET_NOTIFICATION_STRATEGY_ARB, GLX_LOSE_CONTEXT_ON_RESET_ARB, 0},
              x_without[] = {0};

    if (glx) {
        PFNGLXCREATECONTEXTATTRIBSARBPROC create = (PFNGLXCREATECONTEXTATTRIBSARBPROC)glXGetProcAddress(
            (const GLubyte *)"glXCreateContextAttribsARB");
        return create(x, x_configs[0], NULL, True, deaf ? x_without : x_with);
    }
    eglBindAPI(EGL_OPENGL_ES_API);
    return eglCreateContext(display, config, EGL_NO_CONTEXT, deaf ? without : with);
}

static bool has_robustness(void)
{
    return !glx || strstr(glXQueryExtensionsString(x, DefaultScreen(x)), "GLX_ARB_create_context_robustness");
}

static void enter(void *c)
{
    if (glx ? !glXMakeCurrent(x, c ? window : 0, c)
            : !eglMakeCurrent(display, c ? surface : EGL_NO_SURFACE, c ? surface : EGL_NO_SURFACE,
                              c ? c : EGL_NO_CONTEXT))
        fail("a context cannot be made current");
}

static void destroy(void *c)
{
    enter(NULL);
    if (glx)
        glXDestroyContext(x, c);
    else
        eglDestroyContext(display, c);
}

static bool show(void)
{
    if (!glx)
        return eglSwapBuffers(display, surface);
    glXSwapBuffers(x, window);
    return true;
}

static void *make_until(bool deaf)
{
    void *c;

    while (!(c = make(deaf)))
        usleep(10000);
    enter(c);
    return c;
}

/* Whether the wait came to an end by itself. */
static bool wait(uint64_t ns)
{
    GLsync s = gl.glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    bool done = !s || gl.glClientWaitSync(s, GL_SYNC_FLUSH_COMMANDS_BIT, ns) != GL_TIMEOUT_EXPIRED;

    gl.glDeleteSync(s);
    return done;
}

static void say(const char *what, unsigned value)
{
    printf("%s %x\n", what, value);
}

static void say_all(GLsync sync)
{
    EGLContext c = glx ? EGL_NO_CONTEXT : eglGetCurrentContext();
    GLint state = 0;
    GLsizei n = 0;

    if (!glx) {
        say("swap", eglSwapBuffers(display, surface));
        say("egl", (unsigned)eglGetError());
        say("egl", (unsigned)eglGetError());
    }
    say("status", gl.status());
    say("status", gl.status());
    say("error", gl.glGetError());
    say("shader", gl.glCreateShader(GL_VERTEX_SHADER));
    say("string", gl.glGetString(GL_VENDOR) != NULL);
    say("error", gl.glGetError());
    say("error", gl.glGetError());
    gl.glGetSynciv(sync, GL_SYNC_STATUS, 1, &n, &state);
    say("sync", (unsigned)state);
    say("error", gl.glGetError());
    say("wait", gl.glClientWaitSync(sync, 0, UINT64_MAX));
    say("error", gl.glGetError());
    if (glx)
        return;
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    say("current", eglMakeCurrent(display, surface, surface, c));
    say("egl", (unsigned)eglGetError());
}

static void once_lost(const char *how, void *c, void *other, GLsync sync)
{
    if (!strcmp(how, "says")) {
        say_all(sync);
        exit(0);
    }
    if (!strcmp(how, "two")) {
        unsigned mine = gl.status();
        eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        printf("%x", mine);
        printf(" %d", eglMakeCurrent(display, surface, surface, other));
        printf(" %x\n", (unsigned)eglGetError());
        exit(0);
    }
    if (!strcmp(how, "exit"))
        exit(3);
    if (!strcmp(how, "abort"))
        abort();
    while (!strcmp(how, "pause"))
        pause();
    if (!strcmp(how, "refused") && !make(false))
        printf("refused: %x\n", glx ? 0 : (unsigned)eglGetError());
}

static void use_memory(void)
{
    GLuint buffer;
    GLenum e;

    gl.glGenBuffers(1, &buffer);
    gl.glBindBuffer(GL_ARRAY_BUFFER, buffer);
    gl.glBufferData(GL_ARRAY_BUFFER, 1 << 16, NULL, GL_STATIC_DRAW);
    e = gl.glGetError();
    if (e) {
        printf("glBufferData: %x %x\n", e, gl.glGetError());
        exit(9);
    }
    e = gl.glCheckFramebufferStatus(GL_FRAMEBUFFER);
    if (e != GL_FRAMEBUFFER_COMPLETE) {
        printf("glCheckFramebufferStatus: %x\n", e);
        exit(9);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 2 ? argv[2] : "recover";
    int limit = argc > 3 ? atoi(argv[3]) : 0;
    bool deaf, ignores, quiet = !strcmp(how, "draws");
    void *c, *other = NULL;
    GLsync sync;

    setvbuf(stdout, NULL, _IOLBF, 0);
    api = argc > 1 ? argv[1] : "egl";
    while (!strcmp(api, "none"))
        pause();
    glx = !strcmp(api, "glx");
    if (glx)
        open_glx();
    else
        open_egl(how);
    deaf = !strcmp(how, "deaf") || (!strcmp(how, "asks") && !has_robustness());
    ignores = deaf || !strcmp(how, "ignore");
    c = make_until(deaf);
    load();
    if (!strcmp(how, "two"))
        other = make(deaf);
    use_memory();
    sync = gl.glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    for (int frame = 1; !limit || frame <= limit; frame++) {
        bool late, lost;

        gl.glClearColor(0, 0, (float)(frame % 2), 1);
        gl.glClear(GL_COLOR_BUFFER_BIT);
        late = !wait(!strcmp(how, "watchdog") ? 200000000 : UINT64_MAX);
        lost = late || (!quiet && !show()) || (!deaf && gl.status());
        if (lost && !ignores) {
            once_lost(how, c, other, sync);
            while (!late && gl.status())
                usleep(1000);
            if (strcmp(how, "leak") != 0)
                destroy(c);
            c = make_until(deaf);
        }
        usleep(1000);
    }
    destroy(c);
    return 0;
}
