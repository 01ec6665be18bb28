/* SPDX-License-Identifier: MIT */
/* forge: a program in which a dispatch is at work, and to which something happens that looks as if the dispatch had done it.
 *
 *   forge KIND
 *
 * KIND: queued (a driver's thread gets a SIGSEGV that says that it is a page fault), queued-again (so does one that had such a fault, which was
 * handled, before), parked (the driver's threads are kept in a handler of signals), generated (code that the program generated faults, in a
 * handler on a driver's thread), callback (so it does in the program's thread, which the driver calls back), named (SIGABRT, which says that process
 * 1 sent it), vforked, vfork-aborts (a child with the program's memory crashes), pages (a handler maps what a shader reaches for), marks, marks-hang (while the first of
 * four dispatches is at work, what the black box counts points by is overwritten with 3; then that dispatch loses its memory, or goes on).
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "plant.h"
#include "vkbox/box.h"

#define WILD UINT64_C(0x7dead0000040)
enum { LOAD_BYTES = 2, ZONE = 1 << 20, THREADS = 64 };

struct plant_options opt = {"", 1, 1, 1, 100000, 0, 0, 0};

static void (*generated)(void);
static char *zone;
static volatile int handled, queues;

int is(const char *kind)
{
    return !strcmp(opt.kind, kind);
}

static void submit(uint64_t address, uint32_t limit, uint32_t groups)
{
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = v.cb};
    struct push p = {address, limit, 0};

    CHECK(vkBeginCommandBuffer(v.cb[0], &begin));
    vkCmdBindPipeline(v.cb[0], VK_PIPELINE_BIND_POINT_COMPUTE, v.compute);
    vkCmdBindDescriptorSets(v.cb[0], VK_PIPELINE_BIND_POINT_COMPUTE, v.layout, 0, 1, &v.set, 0, NULL);
    vkCmdPushConstants(v.cb[0], v.layout, VK_SHADER_STAGE_ALL, 0, sizeof(p), &p);
    for (uint32_t i = 0; i < opt.draws; i++)
        vkCmdDispatch(v.cb[0], groups, 1, 1);
    CHECK(vkEndCommandBuffer(v.cb[0]));
    CHECK(vkQueueSubmit(v.queue, 1, &info, VK_NULL_HANDLE));
}

/* To the driver's threads that are at work, or to one. */
static void signal_driver(int all)
{
    char path[320], text[512], *state;
    DIR *dir = opendir("/proc/self/task");
    const struct dirent *d;
    int sent = 0;

    while (dir && (d = readdir(dir)) && (all || !sent)) {
        FILE *f;

        snprintf(path, sizeof(path), "/proc/self/task/%s/stat", d->d_name);
        if (d->d_name[0] == '.' || atoi(d->d_name) == getpid() || !(f = fopen(path, "r")))
            continue;
        if (fgets(text, sizeof(text), f) && (state = strrchr(text, ')')) && (all || state[2] == 'R')) {
            syscall(SYS_tgkill, getpid(), atoi(d->d_name), SIGSYS);
            sent++;
        }
        fclose(f);
    }
    if (dir)
        closedir(dir);
    if (!sent)
        exit(77);
}

/* Delivered where the driver's thread was: when this handler returns. */
static void queue_fault(void)
{
    siginfo_t info = {.si_signo = SIGSEGV, .si_code = SEGV_MAPERR};
    sigset_t fault;

    info.si_addr = zone ? zone : (void *)(uintptr_t)WILD;
    sigemptyset(&fault);
    sigaddset(&fault, SIGSEGV);
    pthread_sigmask(SIG_BLOCK, &fault, NULL);
    syscall(SYS_rt_tgsigqueueinfo, getpid(), (int)syscall(SYS_gettid), SIGSEGV, &info);
}

static void on_driver(int sig)
{
    if (is("parked"))
        for (;;)
            pause();
    if (is("generated"))
        generated();
    else if (queues)
        queue_fault();
    else
        __asm__ volatile("movl (%0), %%eax" ::"r"(zone) : "eax", "memory");
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    if (is("pages")) {
        mprotect(zone, ZONE, PROT_READ | PROT_WRITE);
        return;
    }
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += LOAD_BYTES;
    handled = 1;
}

static VKAPI_ATTR void *VKAPI_CALL free_nothing_realloc(void *user, void *old, size_t size, size_t align,
                                                        VkSystemAllocationScope scope)
{
    return realloc(old, size);
}

static VKAPI_ATTR void VKAPI_CALL free_it(void *user, void *p)
{
    free(p);
}

/* movabs $WILD, %rax; mov (%rax), %eax; ret */
static void generate(void)
{
    static const unsigned char code[] = {0x48, 0xb8, 0x40, 0, 0, 0xd0, 0xea, 0x7d, 0, 0, 0x8b, 0x00, 0xc3};
    void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    memcpy(at, code, sizeof(code));
    generated = (void (*)(void))(uintptr_t)at;
}

/* The thread keeps the trap and the address of a fault that was handled. */
static void have_had_a_fault(void)
{
    struct sigaction mine = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO}, found;

    zone = mmap(NULL, ZONE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &mine, &found);
    signal_driver(0);
    for (int i = 0; i < 5000 && !handled; i++)
        usleep(1000);
    sigaction(SIGSEGV, &found, NULL);
}

static void call_back(void)
{
    VkAllocationCallbacks callbacks = {.pfnAllocation = (PFN_vkAllocationFunction)generated,
                                       .pfnReallocation = free_nothing_realloc,
                                       .pfnFree = free_it};
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = SMALL,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    VkBuffer buffer;

    vkCreateBuffer(v.device, &info, &callbacks, &buffer);
}

static void crash_in_a_child(void)
{
    int status = 0;
    pid_t pid = vfork();

    if (!pid) {
        if (is("vfork-aborts"))
            abort();
        *(volatile int *)(uintptr_t)WILD = 1;
    }
    waitpid(pid, &status, 0);
    printf("the child got signal %d\n", WTERMSIG(status));
}

static int map_what_is_reached(void)
{
    zone = mmap(NULL, ZONE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    submit((uint64_t)(uintptr_t)zone, 4, 1);
    CHECK(vkQueueWaitIdle(v.queue));
    printf("%s\n", *(uint32_t *)zone ? "it is there" : "it is not there");
    return 0;
}

static void overwrite_marks(void)
{
    FILE *f = fopen("/proc/self/maps", "r");
    unsigned long long at = 0;
    struct vkbox *b;
    char line[600];

    while (f && !at && fgets(line, sizeof(line), f))
        if (!strstr(line, " rw-s ") || !strstr(line, VKBOX_SUFFIX) || sscanf(line, "%llx-", &at) != 1)
            at = 0;
    if (f)
        fclose(f);
    if (!at)
        exit(77);
    b = (struct vkbox *)(uintptr_t)at;
    for (int i = 0; i < 16; i++)
        ((volatile uint32_t *)b->marks[0])[i] = 3;
}

static void write_over_marks(void)
{
    zone = mmap(NULL, ZONE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    opt.draws = 4;
    submit((uint64_t)(uintptr_t)zone, 0, opt.groups);
    usleep(300000);
    overwrite_marks();
    if (is("marks"))
        mprotect(zone, ZONE, PROT_NONE);
    for (;;) /* an alarm ends it, or who waited for a dump */
        pause();
}

int main(int argc, char **argv)
{
    siginfo_t named = {.si_signo = SIGABRT, .si_code = SI_USER};
    struct sigaction pages = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    opt.kind = argc > 1 ? argv[1] : "";
    alarm(60);
    signal(SIGSYS, on_driver);
    if (is("pages"))
        sigaction(SIGSEGV, &pages, NULL);
    generate();
    make_instance();
    make_device();
    if (is("pages"))
        return map_what_is_reached();
    if (is("marks") || is("marks-hang"))
        write_over_marks();
    submit(0, is("vforked") || is("vfork-aborts") ? 4 : 0, opt.groups);
    usleep(300000);
    if (is("queued-again"))
        have_had_a_fault();
    queues = 1;
    named.si_pid = 1;
    if (is("callback"))
        call_back();
    else if (is("named"))
        syscall(SYS_rt_tgsigqueueinfo, getpid(), getpid(), SIGABRT, &named);
    else if (is("vforked") || is("vfork-aborts"))
        crash_in_a_child();
    else
        signal_driver(is("parked"));
    vkQueueWaitIdle(v.queue);
    puts("it ended");
    return 0;
}
