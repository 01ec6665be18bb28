/* SPDX-License-Identifier: MIT */
/* handlers.c: `vkbox_handlers KIND` has handlers of signals, a device, and faults: it prints what it sees, and ends, as without the layer.
 *
 * reset (SA_RESETHAND, returns), nodefer (jumps, and keeps no mask), mask (what is blocked in the handler, and on which stack), jumps N (jumps,
 * and exits), unblocks (as well, by a mask of its own), aborts (jumps from SIGABRT), divides (from SIGFPE), returned (two handlers, the first put back),
 * exits (from its handler), hole (a fault of a thread, while others map what was there), sends and kills (itself a SIGSEGV).
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vulkan/vulkan.h>

static sigjmp_buf back;
static volatile int count;
static VkQueue queue;
static volatile uintptr_t nowhere = 16;

static void check(VkResult r)
{
    if (r == VK_SUCCESS)
        return;
    fprintf(stderr, "vulkan: %d\n", r);
    exit(99);
}

/* A device, and so many submissions that the layer's handlers are in front. */
static void begin(void)
{
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_1};
    VkInstanceCreateInfo ii = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
    const float priority = 1;
    VkDeviceQueueCreateInfo qi = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkDeviceCreateInfo di = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1, .pQueueCreateInfos = &qi};
    VkPhysicalDevice physical;
    VkInstance instance;
    VkDevice device;
    uint32_t n = 1;

    check(vkCreateInstance(&ii, NULL, &instance));
    if (vkEnumeratePhysicalDevices(instance, &n, &physical) < 0)
        exit(99);
    check(vkCreateDevice(physical, &di, NULL, &device));
    vkGetDeviceQueue(device, 0, 0, &queue);
}

static void submit(void)
{
    for (int i = 0; i < 6; i++)
        check(
            vkQueueSubmit(queue, 1, &(VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO}, VK_NULL_HANDLE));
    check(vkQueueWaitIdle(queue));
}

static void fault(void)
{
    *(volatile int *)nowhere = 1;
}

static void on_return(int sig)
{
    (void)sig;
    if (++count < 4)
        dprintf(1, "handler\n");
}

static void on_jump(int sig)
{
    (void)sig;
    count++;
    siglongjmp(back, 1);
}

static void on_unblock(int sig)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, sig);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    on_jump(sig);
}

static void on_exit_(int sig)
{
    (void)sig;
    exit(27);
}

static void on_look(int sig, siginfo_t *info, void *context)
{
    sigset_t now;
    stack_t stack;

    (void)sig, (void)context;
    sigprocmask(SIG_BLOCK, NULL, &now);
    sigaltstack(NULL, &stack);
    dprintf(1, "code %d, address %p, stack %d, blocked", info->si_code,
            info->si_code > 0 ? info->si_addr : NULL, stack.ss_flags & SS_ONSTACK);
    for (int i = 1; i < 32; i++)
        if (sigismember(&now, i) == 1)
            dprintf(1, " %d", i);
    dprintf(1, "\n");
    siglongjmp(back, 1);
}

static void install(int sig, void (*handler)(int), int flags)
{
    struct sigaction a = {.sa_handler = handler, .sa_flags = flags};

    sigaction(sig, &a, NULL);
}

static void tell_action(int sig)
{
    struct sigaction now;

    sigaction(sig, NULL, &now);
    printf("default %d, restarts %d, alternate %d, blocks SIGUSR1 %d\n", now.sa_handler == SIG_DFL,
           !!(now.sa_flags & SA_RESTART), !!(now.sa_flags & SA_ONSTACK), sigismember(&now.sa_mask, SIGUSR1));
    fflush(stdout);
}

static void look(void)
{
    static char alternate[65536];
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};

    sigaltstack(&stack, NULL);
    for (volatile int i = 0; i < 8; i++) {
        struct sigaction a = {.sa_sigaction = on_look,
                              .sa_flags = SA_SIGINFO | (i & 1 ? SA_ONSTACK : 0) | (i & 2 ? SA_NODEFER : 0) |
                                          (i & 4 ? SA_RESETHAND | SA_RESTART : 0)};

        sigaddset(&a.sa_mask, SIGUSR1);
        if (i & 4)
            sigfillset(&a.sa_mask);
        sigaction(SIGSEGV, &a, NULL);
        submit();
        tell_action(SIGSEGV);
        if (!sigsetjmp(back, 1))
            fault();
        tell_action(SIGSEGV);
        sigaction(SIGSEGV, &a, NULL);
        submit();
        if (!sigsetjmp(back, 1))
            raise(SIGSEGV);
    }
}

static volatile pid_t faulting;

static void *fault_in(void *at)
{
    faulting = gettid();
    *(volatile int *)at = 1;
    puts("survived");
    exit(0);
}

/* Whether the other thread is in a handler of SIGSEGV. */
static bool stands_in_handler(void)
{
    unsigned long long blocked = 0;
    char path[64], line[256];
    FILE *f;

    snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)faulting);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof(line), f) && sscanf(line, "SigBlk: %llx", &blocked) != 1)
        ;
    if (f)
        fclose(f);
    return blocked >> (SIGSEGV - 1) & 1;
}

/* What is mapped while the layer looks at the fault must not undo it. */
static void map_over(void)
{
    enum { BYTES = 4 << 20 };
    void *at = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t thread;

    pthread_create(&thread, NULL, fault_in, at);
    for (bool stands = false; !stands;) {
        stands = stands_in_handler();
        stands &= stands_in_handler(); /* it is no more the first of its two looks at it */
    }
    mmap(at, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    pthread_join(thread, NULL);
}

static void put_back(void)
{
    struct sigaction found;

    install(SIGSEGV, on_return, SA_RESETHAND);
    submit();
    sigaction(SIGSEGV, &(struct sigaction){.sa_handler = on_jump}, &found);
    submit();
    if (!sigsetjmp(back, 1))
        fault();
    printf("jumped %d\n", count);
    fflush(stdout);
    sigaction(SIGSEGV, &found, NULL);
    fault();
}

static int jump(int sig, int times)
{
    for (volatile int i = 0; i < times; i++) {
        if (sigsetjmp(back, 1))
            continue;
        if (sig == SIGABRT)
            abort();
        else if (sig == SIGFPE)
            count /= *(volatile int *)&(int){0};
        else
            fault();
    }
    printf("mended %d\n", count);
    return 23;
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";
    static const struct {
        const char *kind;
        int sig, flags;
        void (*handler)(int);
    } rows[] = {
        {"reset", SIGSEGV, SA_RESETHAND, on_return},
        {"nodefer", SIGSEGV, SA_NODEFER, on_jump},
        {"jumps", SIGSEGV, 0, on_jump},
        {"unblocks", SIGSEGV, 0, on_unblock},
        {"aborts", SIGABRT, 0, on_jump},
        {"divides", SIGFPE, 0, on_jump},
        {"exits", SIGSEGV, 0, on_exit_},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (!strcmp(kind, rows[i].kind))
            install(rows[i].sig, rows[i].handler, rows[i].flags);
    begin();
    submit();
    if (!strcmp(kind, "nodefer")) {
        for (volatile int i = 0; i < 2; i++)
            if (!sigsetjmp(back, 0))
                fault();
        printf("mended %d\n", count);
    } else if (!strcmp(kind, "unblocks")) {
        for (volatile int i = 0; i < 20; i++)
            if (!sigsetjmp(back, 0))
                fault();
        printf("mended %d\n", count);
    } else if (!strcmp(kind, "jumps")) {
        return jump(SIGSEGV, argc > 2 ? atoi(argv[2]) : 1);
    } else if (!strcmp(kind, "aborts")) {
        return jump(SIGABRT, 3);
    } else if (!strcmp(kind, "divides")) {
        return jump(SIGFPE, 3);
    } else if (!strcmp(kind, "mask")) {
        look();
    } else if (!strcmp(kind, "returned")) {
        put_back();
    } else if (!strcmp(kind, "hole")) {
        map_over();
    } else if (!strcmp(kind, "sends")) {
        raise(SIGSEGV);
    } else if (!strcmp(kind, "kills")) {
        kill(getpid(), SIGSEGV);
    } else {
        fault();
    }
    return 24;
}
