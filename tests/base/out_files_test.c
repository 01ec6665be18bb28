/* SPDX-License-Identifier: MIT */
/* Files on a machine with strangers: what is made is its user's alone, and names that others have taken are not opened. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file/out.h"
#include "base/file/png.h"
#include "base/file/scratch.h"
#include "base/file/shared.h"
#include "temp_dir.h"

enum { STRANGER = 65534 };

static unsigned mode_of(const char *path)
{
    struct stat st;

    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode & 07777;
}

static const char *in_dir(const char *name)
{
    static char path[4][200];
    static unsigned n;

    n = (n + 1) % 4;
    snprintf(path[n], sizeof(path[n]), "%s/%s", dir, name);
    return path[n];
}

static const char *text_of(const char *path)
{
    static char text[100];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

    text[n] = '\0';
    if (f)
        fclose(f);
    return f ? text : "(none)";
}

/* What is written is there once it is whole: before, and if that never comes, what was there is. */
TEST(what_is_not_whole_is_not_there)
{
    const char *path = in_dir("whole");
    struct error e = {0};
    int status;
    FILE *f;

    for (int i = 0; i < 2; i++) {
        const char *before = i ? "first" : "(none)";
        pid_t pid = fork();

        if (!pid) {
            f = out_file_whole(path, &e);
            fputs("half", f);
            fflush(f);
            raise(SIGKILL);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(WTERMSIG(status), SIGKILL);
        assert_string_equal(text_of(path), before);
        assert_non_null(f = out_file_whole(path, &e));
        fputs("half", f);
        assert_int_equal(out_file_close(f, path, -EBADMSG, &e), -EBADMSG);
        assert_string_equal(text_of(path), before);
        assert_non_null(f = out_file_whole(path, &e));
        fputs(i ? "second" : "first", f);
        assert_string_equal(text_of(path), before);
        assert_int_equal(out_file_close(f, path, 0, &e), 0);
        assert_string_equal(text_of(path), i ? "second" : "first");
        assert_int_equal(mode_of(path), 0600);
    }
    assert_int_equal(out_file_spare(path, &e), 0);
    assert_int_equal(unlink(path), 0);
}

TEST(what_is_made_is_its_users_alone)
{
    struct error e = {0};
    mode_t old = umask(0);
    const char *path = in_dir("deep/er/out");
    FILE *f;

    assert_int_equal(out_file_folder(in_dir("deep/er"), &e), 0);
    assert_int_equal(mode_of(in_dir("deep")), 0700);
    assert_int_equal(mode_of(in_dir("deep/er")), 0700);
    f = out_file_open(path, &e);
    assert_non_null(f);
    assert_int_equal(out_file_close(f, path, 0, &e), 0);
    assert_int_equal(mode_of(path), 0600);
    path = in_dir("log");
    for (int i = 0; i < 2; i++) {
        f = out_file_append(path, &e);
        assert_non_null(f);
        fputs("line\n", f);
        fclose(f);
    }
    assert_int_equal(mode_of(path), 0600);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 10);
    /* But for results of tests. */
    umask(022);
    path = in_dir("results/in/some");
    assert_int_equal(out_file_result_folder(in_dir("results/in"), &e), 0);
    assert_int_equal(mode_of(in_dir("results")), 0755);
    assert_int_equal(mode_of(in_dir("results/in")), 0755);
    f = out_file_result(path, &e);
    assert_non_null(f);
    assert_int_equal(out_file_close(f, path, 0, &e), 0);
    assert_int_equal(mode_of(path), 0644);
    umask(027);
    path = in_dir("results/of.png");
    assert_int_equal(png_file_result(path, (const uint8_t[4]){0}, 1, 1, 4, &e), 0);
    assert_int_equal(mode_of(path), 0640);
    path = in_dir("a.png");
    assert_int_equal(png_file_write(path, (const uint8_t[4]){0}, 1, 1, 4, &e), 0);
    assert_int_equal(mode_of(path), 0600);
    umask(old);
}

/* As /tmp is. */
TEST(a_folder_that_stays_empty_goes)
{
    struct error e = {0};
    FILE *f;

    assert_int_equal(mkdir(in_dir("there"), 0700), 0);
    assert_int_equal(out_file_folder(in_dir("there"), &e), 0);
    assert_int_equal(out_file_folder(in_dir("made/in"), &e), 0);
    assert_int_equal(out_file_folder(in_dir("used/in"), &e), 0);
    f = out_file_open(in_dir("used/file"), &e);
    assert_non_null(f);
    assert_int_equal(out_file_close(f, in_dir("used/file"), 0, &e), 0);
    out_file_folders_end();
    assert_int_equal(access(in_dir("there"), F_OK), 0);
    assert_int_equal(access(in_dir("made"), F_OK), -1);
    assert_int_equal(access(in_dir("used/file"), F_OK), 0);
    assert_int_equal(access(in_dir("used/in"), F_OK), -1);
}

TEST(what_a_stranger_has_put_there_is_not_opened)
{
    const char *shared = in_dir("shared"), *path = in_dir("shared/out"), *elsewhere = in_dir("victim");
    struct error e = {0};
    struct stat st;
    FILE *f;

    if (geteuid())
        skip(); /* nobody else to be */
    assert_int_equal(mkdir(shared, 0700), 0);
    assert_int_equal(chmod(shared, 01777), 0);
    for (int link = 0; link < 2; link++) {
        close(open(link ? elsewhere : path, O_WRONLY | O_CREAT | O_EXCL, 0666));
        if (link)
            assert_int_equal(symlink(elsewhere, path), 0);
        assert_int_equal(lchown(path, STRANGER, STRANGER), 0);
        assert_null(out_file_open(path, &e));
        assert_int_equal(e.code, -EIO);
        assert_non_null(strstr(e.text, path));
        assert_null(out_file_append(path, &e));
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(stat(elsewhere, &st), 0);
    assert_int_equal(st.st_size, 0);
    assert_int_equal(symlink(elsewhere, path), 0); /* one's own is followed */
    f = out_file_open(path, &e);
    assert_non_null(f);
    fputs("x", f);
    fclose(f);
    assert_int_equal(stat(elsewhere, &st), 0);
    assert_int_equal(st.st_size, 1);
    path = in_dir("his");
    close(open(path, O_WRONLY | O_CREAT, 0600));
    assert_int_equal(chown(path, STRANGER, STRANGER), 0); /* in a folder of one's own, names are one's own */
    f = out_file_open(path, &e);
    assert_non_null(f);
    fclose(f);
}

/* Makes one, with a file in it, and is killed. */
static void leave_one(char path[sizeof(((struct scratch *)0)->path)])
{
    int status, said[2];
    pid_t pid;

    assert_int_equal(pipe2(said, O_CLOEXEC), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        struct scratch s;
        char file[sizeof(s.path) + 8];
        if (scratch_make(&s, "guard-test", false, NULL))
            _exit(1);
        snprintf(file, sizeof(file), "%s/file", s.path);
        close(open(file, O_WRONLY | O_CREAT, 0600));
        if (write(said[1], s.path, sizeof(s.path)) == sizeof(s.path))
            raise(SIGKILL);
        _exit(2);
    }
    close(said[1]);
    assert_int_equal(read(said[0], path, sizeof(((struct scratch *)0)->path)),
                     sizeof(((struct scratch *)0)->path));
    close(said[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
}

TEST(a_folder_of_who_was_killed_goes_with_the_next)
{
    struct scratch one, two, none = {0};
    char left[sizeof(one.path)];
    unsigned before = test_open_fds();
    struct error e = {0};

    scratch_remove(&none);
    setenv("XDG_RUNTIME_DIR", dir, 1);
    leave_one(left);
    assert_memory_equal(left, dir, strlen(dir));
    assert_int_equal(access(left, F_OK), 0);
    assert_int_equal(scratch_make(&one, "guard-test", false, &e), 0);
    assert_int_equal(access(left, F_OK), -1);
    assert_int_equal(mode_of(one.path), 0700);
    assert_int_equal(scratch_make(&two, "guard-test", false, &e), 0); /* who lives keeps his */
    assert_string_not_equal(one.path, two.path);
    assert_int_equal(access(one.path, F_OK), 0);
    assert_int_equal(symlinkat(dir, two.fd, "link"), 0);
    scratch_remove(&two);
    scratch_remove(&one);
    assert_int_equal(access(dir, F_OK), 0); /* what a link led to */
    setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
    assert_int_equal(scratch_make(&one, "guard-test", false, &e), 0); /* elsewhere then */
    assert_memory_equal(one.path, "/dev/shm/", 9);
    scratch_remove(&one);
    unsetenv("XDG_RUNTIME_DIR");
    assert_int_equal(scratch_make(&one, "guard-test", true, &e), 0);
    assert_memory_equal(one.path, "/tmp/", 5);
    scratch_remove(&one);
    assert_int_equal(test_open_fds(), before);
}

/* A stranger's folder of that name stays, and so does what his link leads to. */
TEST(a_strangers_folder_stays)
{
    const char *his = in_dir("guard-test-abcdef"), *link = in_dir("guard-test-ghijkl"),
               *mine = in_dir("mine"), *file = in_dir("mine/file");
    struct scratch s;

    if (geteuid())
        skip();
    assert_int_equal(mkdir(his, 0700), 0);
    assert_int_equal(chown(his, STRANGER, STRANGER), 0);
    assert_int_equal(mkdir(mine, 0700), 0);
    close(open(file, O_WRONLY | O_CREAT, 0600));
    assert_int_equal(symlink(mine, link), 0);
    setenv("XDG_RUNTIME_DIR", dir, 1);
    assert_int_equal(scratch_make(&s, "guard-test", false, NULL), 0);
    assert_int_equal(access(his, F_OK), 0);
    assert_int_equal(access(file, F_OK), 0);
    scratch_remove(&s);
    assert_string_equal(scratch_runtime_dir(), dir);
    setenv("XDG_RUNTIME_DIR", his, 1); /* also nothing of ours in it */
    assert_null(scratch_runtime_dir());
    assert_int_equal(scratch_make(&s, "guard-test", false, NULL), 0);
    assert_memory_equal(s.path, "/dev/shm/", 9);
    scratch_remove(&s);
    setenv("XDG_RUNTIME_DIR", "mine", 1);
    assert_null(scratch_runtime_dir());
    unsetenv("XDG_RUNTIME_DIR");
}

/* Also between pages that are there; of other mappings it stays a SIGBUS. */
TEST(what_a_shared_file_has_no_more_reads_as_zeros)
{
    enum { PAGE = 4096, SIZE = 4 * PAGE };
    int fd = open(in_dir("cut"), O_RDWR | O_CREAT | O_CLOEXEC, 0600), status;
    char *guarded, *other;
    pid_t pid;

    assert_int_equal(ftruncate(fd, SIZE), 0);
    guarded = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    other = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(guarded != MAP_FAILED && other != MAP_FAILED);
    memset(guarded, 'x', SIZE);
    signal(SIGBUS, SIG_DFL); /* not the test's */
    shared_guard(guarded, SIZE);
    assert_int_equal(ftruncate(fd, PAGE), 0);
    assert_int_equal(guarded[0], 'x');
    assert_int_equal(*(volatile char *)(guarded + SIZE - 1), 0);
    *(volatile char *)(guarded + PAGE) = 'y';
    assert_int_equal(*(volatile char *)(guarded + PAGE), 'y');
    pid = fork();
    if (!pid)
        _exit(*(volatile char *)(other + PAGE));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGBUS);
    assert_true(shared_unguard(guarded));
    assert_false(shared_unguard(guarded));
    munmap(guarded, SIZE);
    munmap(other, SIZE);
    close(fd);
}

TEST_GROUP(make_dir, remove_dir);
