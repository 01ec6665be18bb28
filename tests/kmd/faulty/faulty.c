/* SPDX-License-Identifier: MIT */
/* faulty.c: our miniport with one fault in it, for who judges miniports: FAULT=NAME@DDI in the environment, and the DDI does it each time
 * before its work. The build wraps DxgkInitialize, so that each DDI is called through here. */
#include "wddm/dispmprt.h"
#include "wddm/ntddk.h"

/* Of the C library, whose headers do not go with these. */
_Noreturn void abort(void);
_Noreturn void exit(int status);
_Noreturn void _exit(int status);
_Noreturn void pthread_exit(void *value);
char *getenv(const char *name);
int dup2(int fd, int to), execv(const char *path, char *const args[]), open(const char *path, int flags, ...);
extern char **environ;
int sigaltstack(const void *stack, void *old);
int chdir(const char *path), chroot(const char *path), unsetenv(const char *name),
    setrlimit(int which, const void *limit), setenv(const char *name, const char *value, int over);
int sigprocmask(int how, const void *set, void *old);
unsigned umask(unsigned mask);
int close(int fd), fork(void), getpid(void), kill(int pid, int sig), munmap(void *p, unsigned long size);
int printf(const char *format, ...), raise(int sig), strcmp(const char *a, const char *b),
    strncmp(const char *a, const char *b, unsigned long n);
int pthread_create(unsigned long *id, const void *attr, void *(*fn)(void *), void *arg);
long syscall(long number, ...);
void (*signal(int sig, void (*handler)(int)))(int);
unsigned alarm(unsigned seconds), sleep(unsigned seconds);
void *malloc(unsigned long n);
void free(void *p);
void *memset(void *p, int byte, unsigned long n);
char *strchr(const char *s, int c);

static volatile int sink;
static char fault[32], where[48];
static KEVENT event;
static KDPC dpc;
static DXGKRNL_INTERFACE callbacks;
static void *frame[5];
static KIRQL old_irql;
static PDEVICE_OBJECT device_object;
static D3DKMDT_HVIDPN network; /* the first member of what DDIs that have one are given */

static volatile int *volatile low = (volatile int *)8;

static void write_low(void)
{
    *low = 1;
}

static void *thread_writes(void *arg)
{
    write_low();
    return arg;
}

static void *thread_calls(void *arg)
{
    KeSetEvent(&event, 0, FALSE);
    return arg;
}

static void start(void *(*fn)(void *))
{
    unsigned long id;

    pthread_create(&id, NULL, fn, NULL);
    sleep(5);
}

static VOID NTAPI returns(PVOID context)
{
    UNREFERENCED_PARAMETER(context);
}

static VOID NTAPI dpc_routine(PKDPC d, PVOID context, PVOID a, PVOID b)
{
    UNREFERENCED_PARAMETER(d);
    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(a);
    UNREFERENCED_PARAMETER(b);
}

static char *pool(void)
{
    return ExAllocatePoolWithTag(NonPagedPool, 100, 0x746C7546);
}

static void close_twice(void)
{
    HANDLE h;

    PsCreateSystemThread(&h, 0, NULL, NULL, NULL, returns, NULL);
    ZwClose(h);
    ZwClose(h);
}

static void dereference_nothing(void)
{
    PVOID object;
    HANDLE h;

    PsCreateSystemThread(&h, 0, NULL, NULL, NULL, returns, NULL);
    ObReferenceObjectByHandle(h, 0, NULL, KernelMode, &object, NULL);
    ObDereferenceObject(object);
    ObDereferenceObject(object);
    ZwClose(h);
}

static void free_queued(void)
{
    KDPC *d = (KDPC *)pool();
    KIRQL old;

    KeRaiseIrql(DISPATCH_LEVEL, &old);
    KeInitializeDpc(d, dpc_routine, NULL);
    KeInsertQueueDpc(d, NULL, NULL);
    ExFreePool(d);
    KeLowerIrql(old);
}

static void write_pool(long at, unsigned long n)
{
    char *p = pool();

    memset(p + at, 0x41, n);
    ExFreePool(p);
}

static void write_freed(void)
{
    char *p = pool();

    ExFreePool(p);
    p[3] = 1;
}

static char *kept;

/* Written by this DDI, freed by none before the end. */
static void write_kept(void)
{
    kept = kept ? kept : pool();
    kept[-1] = 1;
}

/* More blocks than are looked at behind each call. */
static void write_one_of_many(void)
{
    static char *blocks[3000];

    for (int i = 0; !blocks[2999] && i < 3000; i++)
        blocks[i] = pool();
    blocks[1500][100] = 1;
}

/* Of a block of the C library's, its own size; or that of all that is behind it. */
static void damage_heap(unsigned long size, long at, BOOLEAN freed)
{
    volatile unsigned long *volatile p = malloc(size);

    p[at] = 0x4141414141414141;
    if (freed)
        free((void *)p);
}

static char garbage[512];

static VOID NTAPI waits(PVOID context)
{
    LARGE_INTEGER t = {.QuadPart = -15000};

    UNREFERENCED_PARAMETER(context);
    KeWaitForSingleObject(&event, Executive, KernelMode, FALSE, &t);
}

static void free_mdl_twice(void)
{
    PMDL m = IoAllocateMdl(garbage, sizeof(garbage), FALSE, FALSE, NULL);

    IoFreeMdl(m);
    IoFreeMdl(m);
}

static void build_paged(void)
{
    char *p = ExAllocatePoolWithTag(PagedPool, 100, 0x31746C46);
    PMDL m = IoAllocateMdl(p + 40, 20, FALSE, FALSE, NULL);

    MmBuildMdlForNonPagedPool(m);
    IoFreeMdl(m);
    ExFreePool(p);
}

static void call_twice(void)
{
    IO_STATUS_BLOCK status;
    PIRP irp = IoBuildDeviceIoControlRequest(0, NULL, NULL, 0, NULL, 0, TRUE, NULL, &status);

    IofCallDriver(NULL, irp);
    IofCallDriver(NULL, irp);
}

static void close_many(void)
{
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
}

static void replace_many(void)
{
    int null = open("/dev/null", 2);

    for (int fd = 3; fd < 64; fd++)
        if (fd != null)
            dup2(null, fd);
    for (;;)
        sink++;
}

static void run_other(void)
{
    char *const args[] = {"sleep", "100", NULL};

    execv("/bin/sleep", args);
}

/* Nothing is left for a handler to run on. */
static void lose_stack(void)
{
    struct {
        void *at;
        int flags;
        unsigned long size;
    } none = {NULL, 2, 0};

    sigaltstack(&none, NULL);
    __asm__ volatile("xor %%esp, %%esp; push %%rax" ::: "memory");
}

static void change_floating(void)
{
    unsigned control = 0;

    __asm__ volatile("ldmxcsr %0" ::"m"(control));
}

static void jump_to_old(void)
{
    __builtin_longjmp(frame, 1);
}

static char *no_environment[] = {NULL};

static void nothing(int sig)
{
    sink = sig;
}

static void write_into_all(void)
{
    unsigned long one = 1;

    for (int fd = 3; fd < 32; fd++)
        syscall(1, fd, &one, 8);
}

static VOID NTAPI changes_folder(PKDPC d, PVOID context, PVOID a, PVOID b)
{
    dpc_routine(d, context, a, b);
    chdir("/");
}

static VOID NTAPI changes_mask(PKDPC d, PVOID context, PVOID a, PVOID b)
{
    dpc_routine(d, context, a, b);
    umask(0777);
}

static VOID NTAPI changes_handler(PVOID context)
{
    UNREFERENCED_PARAMETER(context);
    signal(17, (void (*)(int))1);
}

static VOID NTAPI raises(PVOID context)
{
    UNREFERENCED_PARAMETER(context);
    KeRaiseIrql(APC_LEVEL, &old_irql);
}

static void queue_dpc(PKDEFERRED_ROUTINE routine)
{
    KeInitializeDpc(&dpc, routine, NULL);
    KeInsertQueueDpc(&dpc, NULL, NULL);
}

static void set_timer(PKDEFERRED_ROUTINE routine)
{
    static KTIMER timer;
    static BOOLEAN is_set;
    LARGE_INTEGER t = {.QuadPart = -100};

    if (is_set)
        return;
    is_set = TRUE;
    KeInitializeDpc(&dpc, routine, NULL);
    KeInitializeTimer(&timer);
    KeSetTimer(&timer, t, &dpc);
}

static void queue_item(PWORKER_THREAD_ROUTINE routine)
{
    static WORK_QUEUE_ITEM item;
    static BOOLEAN is_queued;

    if (is_queued)
        return;
    is_queued = TRUE;
    ExInitializeWorkItem(&item, routine, NULL);
    ExQueueWorkItem(&item, DelayedWorkQueue);
}

static void run_raising_thread(void)
{
    HANDLE h;

    PsCreateSystemThread(&h, 0, NULL, NULL, NULL, raises, NULL);
    ZwClose(h);
}

#define ASM(name, text)                                                                                      \
    static void name(void)                                                                                   \
    {                                                                                                        \
        __asm__ volatile(text ::: "rax", "rcx", "cc", "memory");                                             \
    }
ASM(run_cli, "cli")
ASM(run_in, "inb $0x60, %%al")
ASM(run_rdmsr, "rdmsr")
ASM(run_cr3, "mov %%cr3, %%rax")
ASM(run_int3, "int3")
ASM(run_fast_fail, "mov $3, %%ecx; int $0x29")
ASM(run_interrupt, "int $0x45")
ASM(run_misaligned, "mov $0x10001, %%rax; movaps (%%rax), %%xmm0")
ASM(run_far, "mov $0xdead00000000beef, %%rax; movl $1, (%%rax)")
ASM(set_direction, "std")
ASM(set_alignment, "pushf; orl $0x40000, (%%rsp); popf")
ASM(set_nested, "pushf; orl $0x4000, (%%rsp); popf")
ASM(set_word, "push $0x27f; fldcw (%%rsp); pop %%rax")
ASM(leave_value, "fld1")
ASM(leave_vector, "movd %%eax, %%mm0")
ASM(set_trap, "pushf; orl $0x100, (%%rsp); popf; nop")

/* F(name, statement) */
#define FAULTS(F)                                                                                            \
    F(write, write_low())                                                                                    \
    F(call, ((void (*)(void))0x12345678000ull)())                                                            \
    F(cli, run_cli())                                                                                        \
    F(in, run_in())                                                                                          \
    F(rdmsr, run_rdmsr())                                                                                    \
    F(cr3, run_cr3())                                                                                        \
    F(int3, run_int3())                                                                                      \
    F(fast_fail, run_fast_fail())                                                                            \
    F(interrupt, run_interrupt())                                                                            \
    F(misaligned, run_misaligned())                                                                          \
    F(far, run_far())                                                                                        \
    F(direction, set_direction())                                                                            \
    F(alignment, set_alignment())                                                                            \
    F(trap, set_trap())                                                                                      \
    F(exit, exit(0))                                                                                         \
    F(_exit, _exit(0))                                                                                       \
    F(exit_group, syscall(231, 0))                                                                           \
    F(exit_thread, syscall(60, 0))                                                                           \
    F(abort, abort())                                                                                        \
    F(kill, kill(getpid(), 9))                                                                               \
    F(segv, raise(11))                                                                                       \
    F(term, raise(15))                                                                                       \
    F(alarm, {                                                                                               \
        alarm(1);                                                                                            \
        sleep(3);                                                                                            \
    })                                                                                                       \
    F(no_handler, {                                                                                          \
        signal(11, NULL);                                                                                    \
        write_low();                                                                                         \
    })                                                                                                       \
    F(stop, kill(getpid(), 19))                                                                              \
    F(exec, run_other())                                                                                     \
    F(vfork, syscall(58))                                                                                    \
    F(replace, replace_many())                                                                               \
    F(nested, set_nested())                                                                                  \
    F(x87_word, set_word())                                                                                  \
    F(x87_value, leave_value())                                                                              \
    F(mmx, leave_vector())                                                                                   \
    F(chroot, chroot("/proc"))                                                                               \
    F(put_back, {                                                                                            \
        setenv("AEROGPU_FAULTY", "1", 1);                                                                    \
        unsetenv("AEROGPU_FAULTY");                                                                          \
        umask(umask(0));                                                                                     \
    })                                                                                                       \
    F(chdir, chdir("/"))                                                                                     \
    F(umask, umask(0777))                                                                                    \
    F(rlimit, setrlimit(7, (unsigned long[]){10, 1024}))                                                     \
    F(rlimit_size, setrlimit(1, (unsigned long[]){0, 0}))                                                    \
    F(sigmask, sigprocmask(0, (unsigned long[16]){1 << 10}, NULL))                                           \
    F(limit_hard, setrlimit(7, (unsigned long[]){5, 5}))                                                     \
    F(handler_child, signal(17, (void (*)(int))1))                                                           \
    F(handler_own, signal(2, nothing))                                                                       \
    F(environ, environ = no_environment)                                                                     \
    F(close_pipe, close(4))                                                                                  \
    F(close_in, close(0))                                                                                    \
    F(write_all, write_into_all())                                                                           \
    F(dpc_chdir, queue_dpc(changes_folder))                                                                  \
    F(timer_umask, set_timer(changes_mask))                                                                  \
    F(item_signal, queue_item(changes_handler))                                                              \
    F(irql_apc, KeRaiseIrql(APC_LEVEL, &old_irql))                                                           \
    F(item_irql, queue_item(raises))                                                                         \
    F(thread_irql, run_raising_thread())                                                                     \
    F(handler, signal(4, NULL))                                                                              \
    F(setenv, setenv("AEROGPU_SOCKET", "/nowhere", 1))                                                       \
    F(close_one, close(5))                                                                                   \
    F(floating, change_floating())                                                                           \
    F(unhandled_segv, lose_stack())                                                                          \
    F(deaf, {                                                                                                \
        signal(23, (void (*)(int))1);                                                                        \
        for (;;)                                                                                             \
            sink++;                                                                                          \
    })                                                                                                       \
    F(loop, {                                                                                                \
        for (;;)                                                                                             \
            sink++;                                                                                          \
    })                                                                                                       \
    F(item_null, IoFreeWorkItem(NULL))                                                                       \
    F(string_own, {                                                                                          \
        static WCHAR own_text[4];                                                                            \
        RtlFreeUnicodeString(&(UNICODE_STRING){.Buffer = own_text});                                         \
    })                                                                                                       \
    F(irql, KeRaiseIrql(77, &old_irql))                                                                      \
    F(mdl_null, IoFreeMdl(NULL))                                                                             \
    F(mdl_twice, free_mdl_twice())                                                                           \
    F(mdl_paged, build_paged())                                                                              \
    F(work_twice, {                                                                                          \
        PIO_WORKITEM w = IoAllocateWorkItem(NULL);                                                           \
        IoFreeWorkItem(w);                                                                                   \
        IoFreeWorkItem(w);                                                                                   \
    })                                                                                                       \
    F(unlock_null, MmUnlockPages(NULL))                                                                      \
    F(map_null, MmMapLockedPagesSpecifyCache(NULL, KernelMode, MmCached, NULL, FALSE, 0))                    \
    F(build_null, MmBuildMdlForNonPagedPool(NULL))                                                           \
    F(resource_null, ExReleaseResourceLite(NULL))                                                            \
    F(lookaside_delete, {                                                                                    \
        memset(garbage, 0x41, sizeof(garbage));                                                              \
        ExDeleteNPagedLookasideList((PNPAGED_LOOKASIDE_LIST)garbage);                                        \
    })                                                                                                       \
    F(resource_garbage, {                                                                                    \
        memset(garbage, 0x41, sizeof(garbage));                                                              \
        ExReleaseResourceLite((PERESOURCE)garbage);                                                          \
    })                                                                                                       \
    F(work_garbage, {                                                                                        \
        memset(garbage, 0x41, sizeof(garbage));                                                              \
        IoQueueWorkItem((PIO_WORKITEM)garbage, NULL, DelayedWorkQueue, NULL);                                \
    })                                                                                                       \
    F(timer_garbage, {                                                                                       \
        memset(garbage, 0x41, sizeof(garbage));                                                              \
        KeCancelTimer((PKTIMER)garbage);                                                                     \
    })                                                                                                       \
    F(wait_many, KeWaitForMultipleObjects(100, NULL, WaitAny, Executive, KernelMode, FALSE, NULL, NULL))     \
    F(wait_none, KeWaitForMultipleObjects(0, NULL, WaitAny, Executive, KernelMode, FALSE, NULL, NULL))       \
    F(close_null, ZwClose(NULL))                                                                             \
    F(irp_twice, call_twice())                                                                               \
    F(call_null, IofCallDriver(NULL, NULL))                                                                  \
    F(work_no_routine, {                                                                                     \
        PIO_WORKITEM w = IoAllocateWorkItem(NULL);                                                           \
        LARGE_INTEGER t = {.QuadPart = -10000};                                                              \
        IoQueueWorkItem(w, NULL, DelayedWorkQueue, NULL);                                                    \
        KeDelayExecutionThread(KernelMode, FALSE, &t);                                                       \
    })                                                                                                       \
    F(thread_no_routine, {                                                                                   \
        HANDLE h;                                                                                            \
        LARGE_INTEGER t = {.QuadPart = -10000};                                                              \
        PsCreateSystemThread(&h, 0, NULL, NULL, NULL, NULL, NULL);                                           \
        KeDelayExecutionThread(KernelMode, FALSE, &t);                                                       \
    })                                                                                                       \
    F(text_null, RtlAppendUnicodeToString(NULL, NULL))                                                       \
    F(print_null, DbgPrint(NULL))                                                                            \
    F(print_garbage, DbgPrint("%s %s\n", (const char *)8, (const char *)16))                                 \
    F(register_null, READ_REGISTER_ULONG(NULL))                                                              \
    F(read_far, {                                                                                            \
        ULONG n;                                                                                             \
        callbacks.DxgkCbReadDeviceSpace(callbacks.DeviceHandle, 0, (PVOID)8, 0, 256, &n);                    \
    })                                                                                                       \
    F(event_reset, {                                                                                         \
        KeInitializeEvent(&event, NotificationEvent, FALSE);                                                 \
        LARGE_INTEGER t = {.QuadPart = -10000};                                                              \
        HANDLE h;                                                                                            \
        PsCreateSystemThread(&h, 0, NULL, NULL, NULL, waits, NULL);                                          \
        KeDelayExecutionThread(KernelMode, FALSE, &t);                                                       \
        KeInitializeEvent(&event, NotificationEvent, FALSE);                                                 \
        KeDelayExecutionThread(KernelMode, FALSE, &t);                                                       \
        ZwClose(h);                                                                                          \
    })                                                                                                       \
    F(fork, fork())                                                                                          \
    F(clone, syscall(56, 17, 0, 0, 0, 0))                                                                    \
    F(thread_writes, start(thread_writes))                                                                   \
    F(thread_calls, start(thread_calls))                                                                     \
    F(pthread_exit, pthread_exit(NULL))                                                                      \
    F(sleep, sleep(30))                                                                                      \
    F(close_all, close_many())                                                                               \
    F(close_out, close(1))                                                                                   \
    F(unmap, munmap((void *)((ULONG_PTR)write_low & ~0xFFFull), 4096))                                       \
    F(jump, jump_to_old())                                                                                   \
    F(close_twice, close_twice())                                                                            \
    F(dereference, dereference_nothing())                                                                    \
    F(free_queued, free_queued())                                                                            \
    F(underrun, write_pool(-1, 1))                                                                           \
    F(front, write_pool(-128, 128))                                                                          \
    F(far_front, write_pool(-4096, 4096))                                                                    \
    F(overrun, write_pool(100, 1))                                                                           \
    F(freed, write_freed())                                                                                  \
    F(kept_many, write_one_of_many())                                                                        \
    F(heap, damage_heap(100, -1, TRUE))                                                                      \
    F(heap_top, damage_heap(50008, 50008 / 8, FALSE))                                                        \
    F(kept, write_kept())                                                                                    \
    F(free_nothing, ExFreePool(NULL))                                                                        \
    F(free_wild, ExFreePool((PVOID)0x1000))                                                                  \
    F(free_inside, ExFreePool(pool() + 16))                                                                  \
    F(wait_null, KeWaitForSingleObject(NULL, Executive, KernelMode, FALSE, NULL))                            \
    F(set_null, KeSetEvent(NULL, 0, FALSE))                                                                  \
    F(copy_null, RtlInitUnicodeString(NULL, NULL))                                                           \
    F(queue_null, KeInsertQueueDpc(NULL, NULL, NULL))                                                        \
    F(acquire_null, ExAcquireFastMutex(NULL))                                                                \
    F(mutex_null, KeReleaseMutex(NULL, FALSE))                                                               \
    F(list_null, ExInterlockedInsertTailList(NULL, NULL, NULL))                                              \
    F(lookaside_null, ExInitializeNPagedLookasideList(NULL, NULL, NULL, 0, 32, 0, 0))                        \
    F(work_null, IoQueueWorkItem(NULL, NULL, DelayedWorkQueue, NULL))                                        \
    F(timer_null, KeCancelTimer(NULL))                                                                       \
    F(thread_null, PsCreateSystemThread(NULL, 0, NULL, NULL, NULL, returns, NULL))                           \
    F(unmap_null, callbacks.DxgkCbUnmapMemory(callbacks.DeviceHandle, NULL))                                 \
    F(information_null, callbacks.DxgkCbGetDeviceInformation(callbacks.DeviceHandle, NULL))                  \
    F(handle_null, callbacks.DxgkCbGetHandleData(NULL))                                                      \
    F(synchronize_null, callbacks.DxgkCbSynchronizeExecution(callbacks.DeviceHandle, NULL, NULL, 0, NULL))   \
    F(garbage_event, {                                                                                       \
        memset(&event, 0x41, sizeof(event));                                                                 \
        KeSetEvent(&event, 0, FALSE);                                                                        \
    })                                                                                                       \
    F(garbage_dpc, {                                                                                         \
        memset(&dpc, 0x55, sizeof(dpc));                                                                     \
        KeInsertQueueDpc(&dpc, NULL, NULL);                                                                  \
    })

#include "objects.h"

#include "networks.h"

static BOOLEAN is_of_arguments(void);

static void do_it(void)
{
#define DO(name, statement)                                                                                  \
    if (!strcmp(fault, #name)) {                                                                             \
        statement;                                                                                           \
        return;                                                                                              \
    }
    FAULTS(DO)
    FAULTS_OF_OBJECTS(DO)
    FAULTS_OF_NETWORKS(DO)
    if (is_of_arguments())
        return; /* behind its work */
    printf("no fault '%s'\n", fault);
    _exit(99);
}

/* ---- around each DDI ------------------------------------------------------ */

typedef ULONG_PTR APIENTRY any_ddi(ULONG_PTR, ULONG_PTR, ULONG_PTR, ULONG_PTR, ULONG_PTR, ULONG_PTR);

#define NONE(name)
enum {
#define INDEX(need, name, ...) I_##name,
    WDDM_DDIS(INDEX, INDEX, NONE) NUM_DDIS
};
static any_ddi *own[NUM_DDIS];

static void before(int ddi, const char *name, ULONG_PTR first, ULONG_PTR second, ULONG_PTR third)
{
    if (ddi == I_EnumVidPnCofuncModality || ddi == I_IsSupportedVidPn || ddi == I_CommitVidPn)
        network = *(D3DKMDT_HVIDPN *)second;
    if (ddi == I_AddDevice)
        device_object = (PDEVICE_OBJECT)first;
    if (ddi == I_StartDevice)
        callbacks = *(DXGKRNL_INTERFACE *)third;
    if (!strcmp(where, name))
        do_it();
    else if (ddi == I_CreateDevice &&
             !__builtin_setjmp(frame)) /* this frame is gone when somebody jumps there */
        sink = 1;
}

#include "arguments.h"

/* The DDI `kept`, and behind its work what a function may not do. */
static any_ddi *kept_ddi __attribute__((used));
#define NAKED(name, then)                                                                                    \
    __attribute__((naked)) static void name(void)                                                            \
    {                                                                                                        \
        __asm__("sub $0x48, %rsp; mov 0x70(%rsp), %rax; mov %rax, 0x20(%rsp); call *kept_ddi(%rip)\n" then); \
    }
NAKED(other_registers, "mov $0x4141, %rdi; pcmpeqd %xmm9, %xmm9; add $0x48, %rsp; ret")
NAKED(other_frame, "mov $0x4141, %rbp; add $0x48, %rsp; ret")
NAKED(other_stack, "add $0x48, %rsp; ret $8")

#define AROUND(need, name, ...)                                                                              \
    static ULONG_PTR APIENTRY around_##name(ULONG_PTR a, ULONG_PTR b, ULONG_PTR c, ULONG_PTR d, ULONG_PTR e, \
                                            ULONG_PTR f)                                                     \
    {                                                                                                        \
        ULONG_PTR status;                                                                                    \
        if (!strcmp(where, #name) && !strcmp(fault, "forget"))                                               \
            return 0;                                                                                        \
        before(I_##name, #name, a, b, c);                                                                    \
        if (!strcmp(where, #name) && !strncmp(fault, "fails_", 6) && strcmp(fault, "fails_after"))           \
            return (ULONG_PTR)STATUS_NOT_SUPPORTED;                                                          \
        status = own[I_##name](a, b, c, d, e, f);                                                            \
        if ((I_##name == I_AddDevice && !strcmp(fault, "entry_irql")) ||                                     \
            (!strcmp(where, #name) && !strcmp(fault, "fails_after")))                                        \
            return (ULONG_PTR)STATUS_NOT_SUPPORTED;                                                          \
        if (!strcmp(where, #name))                                                                           \
            other_arguments(I_##name, b, c, d);                                                              \
        if (I_##name == I_DispatchIoRequest && !strcmp(fault, "information")) {                              \
            ((VIDEO_REQUEST_PACKET *)c)->StatusBlock->Information = 1 << 20;                                 \
            return (ULONG_PTR)STATUS_BUFFER_OVERFLOW;                                                        \
        }                                                                                                    \
        if (!strcmp(where, #name))                                                                           \
            arguments(I_##name, I_##name == I_DispatchIoRequest ? (void *)c : (void *)b);                    \
        return status;                                                                                       \
    }
WDDM_DDIS(AROUND, AROUND, NONE)

NTSTATUS NTAPI __real_DxgkInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                     PDRIVER_INITIALIZATION_DATA data);
NTSTATUS NTAPI __wrap_DxgkInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                     PDRIVER_INITIALIZATION_DATA data);

NTSTATUS NTAPI __wrap_DxgkInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                     PDRIVER_INITIALIZATION_DATA data)
{
    const char *s = getenv("FAULT"), *at = s ? strchr(s, '@') : NULL;
    void *naked;

    for (unsigned i = 0; at && s + i < at && i < sizeof(fault) - 1; i++)
        fault[i] = s[i];
    for (unsigned i = 0; at && at[1 + i] && i < sizeof(where) - 1; i++)
        where[i] = at[1 + i];
    naked = !strcmp(fault, "registers") ? (void *)other_registers
            : !strcmp(fault, "frame")   ? (void *)other_frame
            : !strcmp(fault, "stack")   ? (void *)other_stack
                                        : NULL;
    KeInitializeEvent(&event, NotificationEvent, FALSE);
#define WRAP(need, name, ...)                                                                                \
    if (data->DxgkDdi##name) {                                                                               \
        own[I_##name] = (any_ddi *)(void *)data->DxgkDdi##name;                                              \
        *(void **)&data->DxgkDdi##name = (void *)around_##name;                                              \
        if (!strcmp(where, #name) && naked) {                                                                \
            kept_ddi = own[I_##name];                                                                        \
            *(void **)&data->DxgkDdi##name = naked;                                                          \
        }                                                                                                    \
    }
    WDDM_DDIS(WRAP, WRAP, NONE)
    if (!strcmp(where, "DriverEntry"))
        do_it();
    if (!strcmp(where, "DriverEntry") && !strcmp(fault, "refuses"))
        return STATUS_UNSUCCESSFUL;
    return __real_DxgkInitialize(DriverObject, RegistryPath, data);
}

/* What the loader runs. */
__attribute__((constructor)) static void constructed(void)
{
    const char *s = getenv("FAULT");

    if (s && !strcmp(s, "write@constructor"))
        write_low();
    if (s && !strcmp(s, "exit@constructor"))
        exit(0);
    if (s && !strcmp(s, "loop@constructor"))
        for (;;)
            sink++;
}

__attribute__((destructor)) static void destroyed(void)
{
    const char *s = getenv("FAULT");

    if (s && !strcmp(s, "write@destructor"))
        write_low();
}
