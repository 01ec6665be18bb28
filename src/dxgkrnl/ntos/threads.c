/* SPDX-License-Identifier: MIT */
/* threads.c: threads that run a miniport's code for it: its own, and those of the system that take its work items.
 *
 *   PsCreateSystemThread ──▶ running ──its routine returns, or PsTerminateSystemThread──▶ ended, signalled
 *   ExQueueWorkItem, IoQueueWorkItem ──▶ queued ──a worker──▶ its routine runs
 *
 * Invariants:
 *  1. A thread's record lives while it runs, its handle is open, or somebody has a reference to it. Each is given back by who has it: a
 *     handle that is closed twice is none the second time, and a reference that nobody has is not taken from the thread.
 *  2. A queued item is run: while there are some, there is a worker, and as many as run at a time up to MAX_WORKERS.
 *  3. When a miniport is unloaded nothing runs its code any more: a thread that it left is ended at its next wait, and is a violation.
 */
#include "dxgkrnl/adapter.h"
#include "dxgkrnl/ntos/routines.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    STORM_THREADS = 10000, /* within a second: each makes another, and virtual time does not go on */
    STORM_ITEMS = 100000,
    MAX_WORKERS = 16,
    KPRIORITY_NORMAL = 8, /* of a thread that nobody changed */
};

struct system_thread {
    struct system_thread *next;
    DISPATCHER_HEADER header; /* signalled when it has ended; the object that references point to */
    struct dxgk *d;
    PKSTART_ROUTINE routine;
    PVOID context;
    struct kthread *thread;
    unsigned references; /* of ObReferenceObject and its relatives */
    KPRIORITY priority;
    bool open, ended; /* its handle; it */
};

/* One more begins, in a call of the miniport's that is under way. */
static void count_begun(struct dxgk *d, struct begun *b, unsigned most, const char *what)
{
    uint64_t now = dxgk_kernel_now(d->kernel);
    char text[64];

    if (now - b->since_ns >= NSEC_PER_SEC)
        *b = (struct begun){.since_ns = now};
    if (++b->n != most)
        return;
    snprintf(text, sizeof(text), "a loop of %s, %u within a second", what, most);
    dxgk_kernel_endless(d->kernel, text);
}

/* ---- system threads ------------------------------------------------------ */

static void forget_unused(struct system_thread *t)
{
    if (t->references || t->open || !t->ended) /* 1 */
        return;
    LIST_DROP(&t->d->ntos.threads, t, next);
    free(t);
}

static struct system_thread *current(struct dxgk *d)
{
    for (struct system_thread *t = d->ntos.threads; t; t = t->next)
        if (!t->ended && t->thread == dxgk_kernel_thread(d->kernel))
            return t;
    return NULL;
}

static void run_thread(void *arg)
{
    struct system_thread *t = arg;
    struct kernel *k = t->d->kernel;

    t->thread = dxgk_kernel_thread(k);
    KERNEL_CALL(k, "a system thread", PASSIVE_LEVEL, 0, {
        count_begun(t->d, &t->d->ntos.begun_threads, STORM_THREADS, "system threads");
        KERNEL_GUEST(t->routine)(t->context);
    });
    t->ended = true;
    t->header.SignalState = 1;
    dxgk_kernel_wake_all(k, dxgk_ntos_waiters(&t->header));
    dxgk_kernel_wake_all(k, &t->d->ntos.work_ended);
    forget_unused(t);
}

struct kwaiters *dxgk_ntos_thread_stop(struct dxgk *d)
{
    struct system_thread *t = d->ntos.threads ? current(d) : NULL;

    if (t && d->ntos.stopping)
        dxgk_kernel_return(d->kernel);
    return t ? &d->ntos.work : NULL;
}

NTSTATUS NTAPI PsCreateSystemThread(PHANDLE ThreadHandle, ULONG DesiredAccess,
                                    POBJECT_ATTRIBUTES ObjectAttributes, HANDLE ProcessHandle,
                                    PCLIENT_ID ClientId, PKSTART_ROUTINE StartRoutine, PVOID StartContext)
{
    struct dxgk *d = OWNER();
    struct system_thread *t;
    ENTER(PsCreateSystemThread);

    UNREFERENCED_PARAMETER(DesiredAccess);
    UNREFERENCED_PARAMETER(ObjectAttributes);
    if (ProcessHandle)
        return STATUS_INVALID_HANDLE;
    t = malloc(sizeof(*t));
    if (!t)
        return STATUS_INSUFFICIENT_RESOURCES;
    *t = (struct system_thread){.next = d->ntos.threads,
                                .d = d,
                                .routine = StartRoutine,
                                .context = StartContext,
                                .open = true,
                                .priority = KPRIORITY_NORMAL};
    if (dxgk_kernel_spawn(k, "system", run_thread, t)) {
        free(t);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    d->ntos.threads = t;
    *ThreadHandle = t;
    if (ClientId)
        *ClientId = (CLIENT_ID){.UniqueThread = t};
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI PsTerminateSystemThread(NTSTATUS ExitStatus)
{
    struct dxgk *d = OWNER();
    struct system_thread *t = current(d);
    ENTER(PsTerminateSystemThread);

    UNREFERENCED_PARAMETER(ExitStatus);
    if (!t)
        return STATUS_INVALID_PARAMETER;
    dxgk_kernel_return(k);
}

PVOID dxgk_ntos_thread_reference(struct dxgk *d, HANDLE handle)
{
    for (struct system_thread *t = d->ntos.threads; t; t = t->next)
        if (t == handle && t->open) {
            t->references++;
            return &t->header;
        }
    return NULL;
}

unsigned dxgk_ntos_thread_add_reference(struct dxgk *d, PVOID object)
{
    for (struct system_thread *t = d->ntos.threads; t; t = t->next)
        if (&t->header == object)
            return ++t->references;
    return 0;
}

bool dxgk_ntos_thread_is(const struct dxgk *d, const void *object)
{
    const struct system_thread *t = d->ntos.threads;

    while (t && object != &t->header)
        t = t->next;
    return t;
}

bool dxgk_ntos_thread_close(struct dxgk *d, HANDLE handle)
{
    for (struct system_thread *t = d->ntos.threads; t; t = t->next)
        if (t == handle && t->open) {
            t->open = false;
            forget_unused(t);
            return true;
        }
    return false;
}

bool dxgk_ntos_thread_release(struct dxgk *d, PVOID object)
{
    for (struct system_thread *t = d->ntos.threads; t; t = t->next)
        if (&t->header == object) {
            if (!t->references)
                dxgk_kernel_violation(
                    d->kernel, "ObDereferenceObject of a system thread that nobody has a reference to");
            t->references -= t->references != 0;
            forget_unused(t);
            return true;
        }
    return false;
}

/* A thread of the miniport's is its object; others are the host's. */
PETHREAD NTAPI PsGetCurrentThread(VOID)
{
    struct dxgk *d = OWNER();
    struct system_thread *t = current(d);

    return t ? (PETHREAD)&t->header : (PETHREAD)dxgk_kernel_thread(d->kernel);
}

HANDLE NTAPI PsGetCurrentThreadId(VOID)
{
    struct dxgk *d = OWNER();
    struct system_thread *t = current(d);

    return t ? (HANDLE)t : (HANDLE)dxgk_kernel_thread(d->kernel);
}

KPRIORITY NTAPI KeSetPriorityThread(PKTHREAD Thread, KPRIORITY Priority)
{
    struct dxgk *d = OWNER();
    ENTER(KeSetPriorityThread);

    if (Priority <= LOW_PRIORITY || Priority > HIGH_PRIORITY)
        dxgk_kernel_violation(k, "KeSetPriorityThread to %d, allowed are 1 to 31", Priority);
    for (struct system_thread *t = d->ntos.threads; t; t = t->next)
        if ((PKTHREAD)&t->header == Thread) {
            KPRIORITY old = t->priority;
            t->priority = Priority;
            return old;
        }
    return KPRIORITY_NORMAL;
}

KPRIORITY NTAPI KeQueryPriorityThread(PKTHREAD Thread)
{
    struct dxgk *d = OWNER();
    ENTER(KeQueryPriorityThread);

    (void)k;
    for (struct system_thread *t = d->ntos.threads; t; t = t->next)
        if ((PKTHREAD)&t->header == Thread)
            return t->priority;
    return KPRIORITY_NORMAL;
}

/* ---- work items ---------------------------------------------------------- */

struct _IO_WORKITEM {
    WORK_QUEUE_ITEM item;
    PDEVICE_OBJECT device;
    PIO_WORKITEM_ROUTINE routine;
    PVOID context;
};

static bool is_queued(const struct dxgk *d, const WORK_QUEUE_ITEM *item)
{
    const struct queued_item *q = d->ntos.items;

    while (q && q->item != item)
        q = q->next;
    return q;
}

unsigned dxgk_ntos_forget_items(struct dxgk *d, const void *memory, size_t size)
{
    unsigned n = 0;

    for (struct queued_item **p = &d->ntos.items; *p;) {
        struct queued_item *q = *p;
        if (memory && (uintptr_t)q->item - (uintptr_t)memory >= size) {
            p = &q->next;
            continue;
        }
        *p = q->next;
        free(q);
        n++;
    }
    d->ntos.items_last = &d->ntos.items;
    while (*d->ntos.items_last)
        d->ntos.items_last = &(*d->ntos.items_last)->next;
    return n;
}

/* The first that waits; NULL: somebody else has written over it. */
static PWORK_QUEUE_ITEM take_item(struct dxgk *d)
{
    struct queued_item *q = d->ntos.items;
    PWORK_QUEUE_ITEM item = q->item;

    d->ntos.items = q->next;
    if (!q->next)
        d->ntos.items_last = &d->ntos.items;
    free(q);
    if (item->List.Flink != &item->List) {
        dxgk_kernel_violation(d->kernel,
                              "a work item that was queued was initialised again, or written over");
        return NULL;
    }
    item->List.Flink = NULL;
    return item;
}

static void worker(void *arg)
{
    struct dxgk *d = arg;
    struct ntos *n = &d->ntos;

    while (!n->stopping) {
        PWORK_QUEUE_ITEM item;
        if (!n->items) {
            n->idle++;
            dxgk_kernel_wait(d->kernel, &n->work, LOOP_FOREVER);
            n->idle--;
            continue;
        }
        item = take_item(d);
        if (!item)
            continue;
        n->busy++;
        KERNEL_CALL(d->kernel, "a work item", PASSIVE_LEVEL, 0, {
            count_begun(d, &n->begun_items, STORM_ITEMS, "work items");
            KERNEL_GUEST(item->WorkerRoutine)(item->Parameter); /* it may be gone now */
        });
        n->busy--;
        dxgk_kernel_wake_all(d->kernel, &n->work_ended);
    }
    n->workers--;
    dxgk_kernel_wake_all(d->kernel, &n->work_ended);
}

static void queue(struct dxgk *d, const char *routine, PWORK_QUEUE_ITEM item)
{
    struct ntos *n = &d->ntos;
    struct queued_item *q;

    if (is_queued(d, item)) {
        dxgk_kernel_violation(d->kernel, "%s of an item that is queued", routine);
        return;
    }
    q = malloc(sizeof(*q));
    if (!q) {
        log_error("dxgkrnl", "no memory to queue a work item of the miniport's: it is not run");
        return;
    }
    *q = (struct queued_item){NULL, item};
    item->List.Flink = item->List.Blink = &item->List; /* a mark */
    *n->items_last = q;
    n->items_last = &q->next;
    if (!n->idle && n->workers < MAX_WORKERS) {
        if (!dxgk_kernel_spawn(d->kernel, "worker", worker, d))
            n->workers++;
        else if (!n->workers)
            log_error("dxgkrnl",
                      "no memory for a thread: a work item of the miniport waits for the next one");
    }
    dxgk_kernel_wake_all(d->kernel, &n->work);
}

VOID NTAPI ExQueueWorkItem(PWORK_QUEUE_ITEM WorkItem, WORK_QUEUE_TYPE QueueType)
{
    struct dxgk *d = OWNER();
    ENTER(ExQueueWorkItem);

    UNREFERENCED_PARAMETER(QueueType);
    queue(d, "ExQueueWorkItem", WorkItem);
}

PIO_WORKITEM NTAPI IoAllocateWorkItem(PDEVICE_OBJECT DeviceObject)
{
    PIO_WORKITEM w;
    ENTER(IoAllocateWorkItem);

    w = ExAllocatePoolWithTag(NonPagedPool, sizeof(*w), 0x6B576F49); /* IoWk */
    if (w)
        *w = (struct _IO_WORKITEM){.device = DeviceObject};
    return w;
}

static void NTAPI run_io_item(PVOID parameter)
{
    struct _IO_WORKITEM w = *(PIO_WORKITEM)parameter; /* the routine may free it */
    struct dxgk *d = OWNER();

    KERNEL_GUEST(w.routine)(w.device, w.context);
    d->ntos.io_items--;
}

VOID NTAPI IoQueueWorkItem(PIO_WORKITEM IoWorkItem, PIO_WORKITEM_ROUTINE WorkerRoutine,
                           WORK_QUEUE_TYPE QueueType, PVOID Context)
{
    struct dxgk *d = OWNER();
    ENTER(IoQueueWorkItem);

    UNREFERENCED_PARAMETER(QueueType);
    if (!is_queued(d, &IoWorkItem->item))
        d->ntos.io_items++;
    IoWorkItem->routine = WorkerRoutine;
    IoWorkItem->context = Context;
    IoWorkItem->item.WorkerRoutine = run_io_item;
    IoWorkItem->item.Parameter = IoWorkItem;
    queue(d, "IoQueueWorkItem", &IoWorkItem->item);
}

VOID NTAPI IoFreeWorkItem(PIO_WORKITEM IoWorkItem)
{
    struct dxgk *d = OWNER();
    ENTER(IoFreeWorkItem);

    if (IoWorkItem && is_queued(d, &IoWorkItem->item))
        dxgk_kernel_violation(k, "IoFreeWorkItem of an item that is queued");
    else
        dxgk_pool_free(d, "IoFreeWorkItem", IoWorkItem, 0);
}

/* ---- the end ------------------------------------------------------------- */

static unsigned threads_running(struct dxgk *d)
{
    unsigned n = 0;

    for (struct system_thread *t = d->ntos.threads; t; t = t->next)
        n += !t->ended;
    return n;
}

static bool wait_ended(struct dxgk *d)
{
    return dxgk_kernel_wait(d->kernel, &d->ntos.work_ended, dxgk_kernel_now(d->kernel) + NSEC_PER_SEC);
}

unsigned dxgk_ntos_stop_threads(struct dxgk *d)
{
    struct ntos *n = &d->ntos;
    unsigned left = 0, threads;

    while (n->io_items && wait_ended(d))
        ;
    left = n->busy + dxgk_ntos_forget_items(d, NULL, 0);
    if (left)
        dxgk_kernel_violation(d->kernel, "the miniport left %u work items that run or wait", left);
    threads = threads_running(d);
    if (threads)
        dxgk_kernel_violation(d->kernel, "the miniport left %u system threads that run", threads);
    n->stopping = true;
    do /* 3 */
        dxgk_kernel_wake_all(d->kernel, &n->work);
    while ((n->workers || threads_running(d)) && wait_ended(d));
    n->stopping = false;
    n->io_items = 0;
    for (struct system_thread *t = n->threads; t; t = t->next)
        if (t->ended) {
            dxgk_kernel_violation(d->kernel,
                                  "the miniport leaked a reference or a handle of a system thread");
            left++;
        }
    while (n->threads && !threads_running(d)) {
        struct system_thread *t = n->threads;
        n->threads = t->next;
        free(t);
    }
    return left + threads;
}
