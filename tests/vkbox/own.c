/* SPDX-License-Identifier: MIT */
/* own: a program that has the black box itself, and asks for what it should not.
 *
 *   own nulls|fork|threads|short|again|namespace|closed|exec DUMPS
 *
 * nulls: each function without what it needs. fork: a child that uses, and stops, what its parent has. threads: four that collect at once.
 * short: no room for a path. again: starts that fail, before one that does not.
 * namespace: its children are in another PID namespace than itself. closed: it
 * closes all descriptors, has their numbers anew, and is killed. exec: it runs another program. Prints what each call answers.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vulkan/vulkan.h>

#include <aerogpu/blackbox.h>

enum { THREADS = 4 };

static struct bb_vk *own;
static VkDevice device;
static pthread_barrier_t together;
static int described, dumped;

static void make_device(void)
{
    const char *layer = bb_vk_layer();
    const float priority = 1;
    VkInstanceCreateInfo instance_info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                          .enabledLayerCount = 1,
                                          .ppEnabledLayerNames = &layer};
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue};
    VkPhysicalDevice physical;
    VkInstance instance;
    uint32_t n = 1;

    if (vkCreateInstance(&instance_info, NULL, &instance) ||
        vkEnumeratePhysicalDevices(instance, &n, &physical) < 0 ||
        vkCreateDevice(physical, &info, NULL, &device))
        exit(6);
}

static void on_describe(void *ctx, struct bb_vk_description *d)
{
    described++;
    bb_vk_describe(NULL, "no", "description");
    bb_vk_describe(d, NULL, "no key");
    bb_vk_describe(d, "no text", NULL);
    usleep(300000); /* whoever asks meanwhile waits for this one */
}

static void on_dump(void *ctx, const char *path)
{
    usleep(100000);
    dumped++;
}

static void say(const char *what, int r, struct bb_error *e)
{
    printf("%s: %d %s%s\n", what, r, e->text, r == e->code ? "" : " (of another call)");
}

static void nulls(void)
{
    struct bb_vk_page_fault fault;
    struct bb_error e = {0};
    struct bb_vk *none;

    say("start", bb_vk_start(NULL, &(struct bb_vk_params){0}, &e), &e);
    say("start", bb_vk_start(&none, NULL, &e), &e);
    say("attach", bb_vk_attach(NULL, device, &e), &e);
    say("attach", bb_vk_attach(own, NULL, &e), &e);
    printf("checkpoint: %d %d %d\n", bb_vk_checkpoint(NULL, (VkCommandBuffer)device, "a"),
           bb_vk_checkpoint(own, NULL, "a"), bb_vk_checkpoint(own, (VkCommandBuffer)device, NULL));
    printf("status: %s %s\n", bb_status_name(bb_vk_status(NULL, device)),
           bb_status_name(bb_vk_status(own, NULL)));
    printf("fault: %d %d\n", bb_vk_page_fault(NULL, &fault), bb_vk_page_fault(own, NULL));
    say("collect", bb_vk_collect(NULL, NULL, 0, &e), &e);
    bb_vk_stop(NULL);
}

static void collect(const char *who, size_t size)
{
    struct bb_error e = {0};
    char path[4096] = "";
    int r = bb_vk_collect(own, path, size, &e);

    printf("%s: %d %s\n", who, r, r ? e.text : path[0] ? "a path" : "none");
}

static void in_child(void)
{
    struct bb_error e = {0};
    int r = bb_vk_attach(own, device, &e);

    printf("child: %d %.21s..., checkpoint %d, status %s\n", r, strstr(e.text, "started"),
           bb_vk_checkpoint(own, (VkCommandBuffer)device, "a"), bb_status_name(bb_vk_status(own, device)));
    r = bb_vk_collect(own, NULL, 0, &e);
    printf("child collects: %d\n", r);
    bb_vk_stop(own);
    fflush(stdout);
    _exit(0);
}

static void *in_thread(void *path)
{
    pthread_barrier_wait(&together);
    return (void *)(intptr_t)bb_vk_collect(own, path, 4096, NULL);
}

static void threads(void)
{
    static char path[THREADS][4096];
    pthread_t t[THREADS];
    int same = 0;
    void *r;

    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&t[i], NULL, in_thread, path[i]))
            exit(6);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], &r);
        same += !r && path[i][0] && !strcmp(path[i], path[0]);
    }
    printf("%d of %d have the same dump; described %d, dumped %d\n", same, THREADS, described, dumped);
}

/* One error for all of them. A record is not made where files may not be that large. */
static void fail_to_start(const char *dumps, struct bb_error *e)
{
    struct rlimit all, small;

    setenv("VK_ADD_LAYER_PATH", "/elsewhere", 1);
    getrlimit(RLIMIT_FSIZE, &all);
    small = (struct rlimit){.rlim_cur = 1 << 20, .rlim_max = all.rlim_max};
    say("no folder", bb_vk_start(&own, &(struct bb_vk_params){.dumps = "/no/such/folder"}, e), e);
    setrlimit(RLIMIT_FSIZE, &small);
    printf("no room: %d\n", bb_vk_start(&own, &(struct bb_vk_params){.dumps = dumps}, e));
    setrlimit(RLIMIT_FSIZE, &all);
    printf("the loader looks in %s\n", getenv("VK_ADD_LAYER_PATH"));
}

static void again(void)
{
    struct bb_error e = {.code = -ENOENT, .text = "of before"};
    struct bb_vk *other;

    say("attach", bb_vk_attach(own, device, &e), &e);
    say("again", bb_vk_start(&other, &(struct bb_vk_params){0}, &e), &e);
    say("collect", bb_vk_collect(own, NULL, 0, &e), &e);
}

/* The first of its children there is what the others live by. */
static void leave_namespace(void)
{
    if (unshare(CLONE_NEWPID))
        exit(77);
    if (!fork()) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(STDOUT_FILENO);
        close(STDERR_FILENO);
        pause();
    }
}

/* What it says to itself is heard by itself. */
static void closed(void)
{
    char text[4] = "";
    int ends[2];

    closefrom(3);
    for (int i = 0; i < 8; i++)
        if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) || send(ends[0], "abc", 4, 0) != 4 ||
            send(ends[1], "abc", 4, 0) != 4)
            exit(6);
    collect("closed", 4096);
    sleep(2);
    for (int fd = 3; fd < 19; fd++)
        if (recv(fd, text, sizeof(text), MSG_DONTWAIT) != 4 || strcmp(text, "abc"))
            printf("descriptor %d has lost what was said to it\n", fd);
    raise(SIGKILL);
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";
    struct bb_error e = {0};

    alarm(60);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!strcmp(kind, "namespace"))
        leave_namespace();
    if (!strcmp(kind, "again"))
        fail_to_start(argv[2], &e);
    if (bb_vk_start(&own,
                    &(struct bb_vk_params){
                        .dumps = argc > 2 ? argv[2] : NULL, .on_describe = on_describe, .on_dump = on_dump},
                    &e)) {
        printf("%s\n", e.text);
        return 3;
    }
    make_device();
    if (!strcmp(kind, "nulls"))
        nulls();
    else if (!strcmp(kind, "threads"))
        threads();
    else if (!strcmp(kind, "again"))
        again();
    else if (!strcmp(kind, "closed"))
        closed();
    else if (!strcmp(kind, "exec"))
        execlp("sleep", "sleep", "1", NULL);
    else if (!strcmp(kind, "short"))
        collect("short", 10);
    else if (!fork())
        in_child();
    else if (wait(NULL) > 0)
        collect("parent", 4096);
    bb_vk_stop(own);
    return 0;
}
