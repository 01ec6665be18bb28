/* SPDX-License-Identifier: MIT */
/* image.c: see image.h. */
#include "dxgkrnl/image/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "dxgkrnl/image/pe.h"
#include "dxgkrnl/ntos/routines.h"

enum { MAX_IMAGES = 64 };

/* Where images go, one a slot, so that nothing else is there: Linux can be told a range that system calls may come from, and that is
 * what is behind them. Above 4 GiB, where a pointer that a driver cuts to 32 bits is none. */
#define SLOTS     (UINT64_C(64) << 30)
#define SLOT_SIZE (UINT64_C(1) << 30)
#define SLOTS_END (SLOTS + MAX_IMAGES * SLOT_SIZE)
_Static_assert(PE_MAX_IMAGE <= SLOT_SIZE, "it fits");

struct image {
    struct pe pe;
    struct pe_view view;
    char name[64];
};

/* Those that are loaded; read from signal handlers. */
static _Atomic(struct image *) loaded[MAX_IMAGES];

static _Atomic bool fenced; /* an image has a slot */

void dxgk_image_fence(void)
{
    static _Thread_local bool done;

    if (done || !atomic_load_explicit(&fenced, memory_order_relaxed))
        return;
    done = true;
    if ((uintptr_t)dxgk_image_fence < SLOTS_END || (uintptr_t)prctl < SLOTS_END)
        return; /* its own calls would not be let through */
    if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, SLOTS_END, (1ul << 47) - SLOTS_END, NULL))
        log_debug("dxgkrnl", "a driver's system calls are not caught: %s", strerror(errno));
}

/* MAP_FAILED without memory. */
static uint8_t *map_image(size_t size)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS;

    for (uint64_t at = SLOTS; at < SLOTS_END; at += SLOT_SIZE) {
        void *p = mmap((void *)at, size, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, -1, 0);
        if (p == (void *)at) {
            atomic_store(&fenced, true);
            return p;
        }
        if (p != MAP_FAILED)
            munmap(p, size); /* Linux before 4.17 takes it for a hint */
    }
    return mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
}

static const struct image *find(const void *address)
{
    for (unsigned i = 0; i < MAX_IMAGES; i++) {
        const struct image *image = atomic_load(&loaded[i]);
        if (image && (uintptr_t)address - (uintptr_t)image->view.memory < image->pe.image_size)
            return image;
    }
    return NULL;
}

size_t dxgk_image_code(const void *address)
{
    const struct image *i = find(address);

    return i ? (size_t)(i->view.memory + i->pe.image_size - (const uint8_t *)address) : 0;
}

bool dxgk_image_describe(const void *address, char *text, size_t size)
{
    const struct image *i = find(address);

    if (i)
        snprintf(text, size, "%s+%#zx", i->name, (size_t)((const uint8_t *)address - i->view.memory));
    return i != NULL;
}

/* ---- loading ------------------------------------------------------------- */

static int read_file(const char *path, void **bytes, size_t *size, struct error *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), r = 0;
    struct stat st;

    if (fd < 0 || fstat(fd, &st)) {
        r = error_set(e, -errno, "cannot open it: %s", strerror(errno));
    } else if (!S_ISREG(st.st_mode) || !st.st_size || st.st_size > PE_MAX_IMAGE) {
        r = error_set(e, -ENOEXEC, "it is no file of 1 to %d bytes", PE_MAX_IMAGE);
    } else {
        *size = (size_t)st.st_size;
        *bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (*bytes == MAP_FAILED)
            r = error_set(e, -errno, "cannot map it: %s", strerror(errno));
    }
    if (fd >= 0)
        close(fd);
    return r;
}

bool dxgk_image_is(const char *path)
{
    char begin[2];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is = fd >= 0 && read(fd, begin, 2) == 2 && dxgk_pe_is(begin, 2);

    if (fd >= 0)
        close(fd);
    return is;
}

static int protection(uint32_t flags)
{
    return (flags & PE_SECTION_READ ? PROT_READ : 0) | (flags & (uint32_t)PE_SECTION_WRITE ? PROT_WRITE : 0) |
           (flags & PE_SECTION_EXECUTE ? PROT_EXEC : 0);
}

static int protect(struct image *i, struct error *e)
{
    bool failed =
        mprotect(i->view.memory, (i->pe.headers_size + PE_PAGE - 1) & ~(size_t)(PE_PAGE - 1), PROT_READ);

    for (unsigned n = 0; n < i->pe.num_sections; n++) {
        const struct pe_section *s = &i->pe.sections[n];
        failed |= mprotect(i->view.memory + s->address, s->size, protection(s->flags));
    }
    return failed ? error_set(e, -errno, "cannot protect its sections: %s", strerror(errno)) : 0;
}

static int add(struct image *i, struct error *e)
{
    for (unsigned n = 0; n < MAX_IMAGES; n++) {
        struct image *nothing = NULL;
        if (atomic_compare_exchange_strong(&loaded[n], &nothing, i))
            return 0;
    }
    return error_set(e, -EBUSY, "%d images are loaded already", MAX_IMAGES);
}

int dxgk_image_load_bytes(struct image **out, const char *name, const void *file, size_t size,
                          struct error *e)
{
    struct image *i = calloc(1, sizeof(*i));
    int r;

    *out = NULL;
    if (!i)
        return error_set(e, -ENOMEM, "no memory");
    snprintf(i->name, sizeof(i->name), "%s", name);
    i->view = (struct pe_view){.memory = MAP_FAILED, .pe = &i->pe};
    r = dxgk_pe_read(&i->pe, file, size, e);
    if (r)
        goto fail;
    i->view.memory = map_image(i->pe.image_size);
    if (i->view.memory == MAP_FAILED) {
        r = error_set(e, -errno, "no memory for an image of %u bytes", i->pe.image_size);
        goto fail;
    }
    memcpy(i->view.memory, file, i->pe.headers_size);
    for (unsigned n = 0; n < i->pe.num_sections; n++) {
        const struct pe_section *s = &i->pe.sections[n];
        memcpy(i->view.memory + s->address, (const uint8_t *)file + s->offset, s->file_size);
    }
    r = dxgk_pe_relocate(&i->view, (uint64_t)(uintptr_t)i->view.memory - i->pe.base, e);
    if (!r)
        r = dxgk_pe_bind(&i->view, i->pe.windows >= PE_WINDOWS_8 ? dxgk_ntos_export_later : dxgk_ntos_export,
                         e);
    if (!r)
        r = protect(i, e);
#if !defined(__x86_64__)
    if (!r)
        r = error_set(e, -ENOTSUP, "x64 drivers run on x64 processors only");
#endif
    if (!r)
        r = add(i, e);
    if (r)
        goto fail;
    *out = i;
    return 0;
fail:
    error_prefix(e, "%s", name);
    dxgk_image_unload(i);
    return r;
}

int dxgk_image_load(struct image **out, const char *path, struct error *e)
{
    const char *name = strrchr(path, '/');
    void *bytes = NULL;
    size_t size = 0;
    int r = read_file(path, &bytes, &size, e);

    *out = NULL;
    if (r) {
        error_prefix(e, "%s", path);
        return r;
    }
    r = dxgk_image_load_bytes(out, name ? name + 1 : path, bytes, size, e);
    munmap(bytes, size);
    return r;
}

DRIVER_INITIALIZE *dxgk_image_entry(const struct image *i)
{
    return (DRIVER_INITIALIZE *)(void *)(i->view.memory + i->pe.entry);
}

void dxgk_image_discard(struct image *i)
{
    for (unsigned n = 0; n < i->pe.num_sections; n++) {
        const struct pe_section *s = &i->pe.sections[n];
        if (s->flags & PE_SECTION_DISCARDABLE) {
            if (mprotect(i->view.memory + s->address, s->size, PROT_NONE))
                log_warn("dxgkrnl", "cannot take %s of %s away: %s", s->name, i->name, strerror(errno));
        }
    }
}

void dxgk_image_unload(struct image *i)
{
    if (!i)
        return;
    for (unsigned n = 0; n < MAX_IMAGES; n++) {
        struct image *it = i;
        atomic_compare_exchange_strong(&loaded[n], &it, NULL);
    }
    if (i->view.memory != MAP_FAILED)
        munmap(i->view.memory, i->pe.image_size);
    free(i);
}
