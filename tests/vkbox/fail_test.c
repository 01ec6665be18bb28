/* SPDX-License-Identifier: MIT */
/* The nth allocation or system call of who reads a record fails: it is said, or done without where a row says less; no
 * file and no descriptor stays. */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "alloc_fail.h"
#include "blackbox/package.h"
#include "temp_dir.h"
#include "vkbox/run/folder.h"
#include "vkbox/judge.h"
#include "vkbox/known.h"

static int or_coped(int r)
{
    return !r && alloc_fail_disarm() ? ALLOC_FAIL_COPED : r;
}

static int make_a_record(void)
{
    int fd = memfd_create("vkbox", MFD_CLOEXEC);
    struct vkbox *b;

    assert_int_equal(ftruncate(fd, sizeof(*b)), 0);
    b = mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(b != MAP_FAILED);
    b->version = VKBOX_VERSION;
    b->size = sizeof(*b);
    b->schema = VKBOX_NUM_COMMANDS;
    b->magic = VKBOX_MAGIC;
    b->submissions = 1;
    b->devices[0].state = VKBOX_LIVE;
    b->queues[0].state = VKBOX_LIVE;
    b->queues[0].submitted = 1;
    b->command_buffers[0] = (struct vkbox_command_buffer){
        .state = VKBOX_LIVE, .recording = 1, .points = 2, .first = VKBOX_NO_INDEX};
    b->marks[0][0] = 1;
    b->submission[1].number = 1;
    b->submission[1].num_command_buffers = 1;
    b->submission[1].command_buffers[0].recording = 1;
    for (int i = 0; i < 100; i++)
        b->objects[i] = (struct vkbox_object){.state = VKBOX_LIVE,
                                              .type = 9, /* a buffer */
                                              .handle = (uint64_t)i + 1,
                                              .size = 4096,
                                              .address = 0x10000u * ((unsigned)i + 1),
                                              .name = "a name"};
    b->crash = (struct vkbox_crash){.processor = 1, .signal = 11, .address = 0x11000};
    munmap(b, sizeof(*b));
    return fd;
}

static int judge(void *ctx)
{
    const struct vkbox_event ev = {
        .what = VKBOX_HAPPENED_SIGNAL, .device = VKBOX_NO_INDEX, .in_driver = true, .signal = 11};
    struct bb_package *package = NULL;
    struct vkbox_reader reader;
    struct vkbox_verdict verdict;
    struct error e = {0};
    int r = vkbox_copy(&reader, *(int *)ctx, &e);

    if (r) {
        assert_true(e.text[0]);
        return r;
    }
    r = vkbox_judge(&reader, &ev, &verdict);
    if (!r && !(r = bb_package_create(&package, 0))) {
        vkbox_rows(&reader, &ev, &verdict, package);
        r = bb_package_failure(package);
    }
    bb_package_destroy(package);
    vkbox_verdict_finish(&verdict);
    vkbox_finish(&reader);
    return or_coped(r);
}

TEST(records_are_judged)
{
    int fd = make_a_record();

    assert_true(alloc_fail_each(judge, &fd) >= 8);
    close(fd);
}

static unsigned files_in(const char *path)
{
    DIR *d = opendir(path);
    unsigned n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

static int remember(void *ctx)
{
    struct error e = {0};
    struct known k;
    int r = known_write(dir, "p", ++*(uint64_t *)ctx, &e);
    const bool coped = !r && alloc_fail_disarm();

    assert_true(!r || e.text[0]);
    assert_true(files_in(dir) <= 1); /* p.aerogpuhint, and nothing beside it */
    known_read(&k, dir, "p");
    assert_int_equal(known_has(&k, *(uint64_t *)ctx), !r);
    return coped ? ALLOC_FAIL_COPED
                 : r; /* what was known before cannot be read: the new one is known alone */
}

TEST(groups_are_remembered_or_it_is_said)
{
    uint64_t group = 0;

    assert_int_equal(known_write(dir, "p", ++group, NULL), 0);
    assert_true(alloc_fail_each(remember, &group) >= 3);
}

static int make_a_folder(void *ctx)
{
    struct vkbox_folder f = {.fd = -1};
    struct error e = {0};
    int r = vkbox_folder_make(&f, &e);

    if (r) {
        assert_true(e.text[0]);
        return r;
    }
    assert_true(f.fd >= 0); /* or another run would take it for one that was left */
    vkbox_folder_remove(&f);
    assert_int_equal(access(f.path, F_OK), -1);
    return or_coped(0);
}

TEST(a_folder_is_locked_or_there_is_none)
{
    assert_true(alloc_fail_each(make_a_folder, NULL) >= 2);
}

/* Where no place has room for a record, the program runs without one: in a folder that is its own nevertheless. */
TEST(a_folder_without_room_is_locked_as_well)
{
    struct rlimit was, small;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    small = was;
    small.rlim_cur = 4096;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_true(alloc_fail_each(make_a_folder, NULL) >= 4);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    signal(SIGXFSZ, SIG_DFL);
}

TEST_GROUP(make_dir, remove_dir);
