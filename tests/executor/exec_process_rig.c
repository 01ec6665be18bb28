/* SPDX-License-Identifier: MIT */
#include "exec_process_rig.h"

#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void on_complete(void *ctx, const struct abi_completion *c)
{
    struct fixture *f = ctx;

    assert_int_equal(c->id, f->expected_id);
    assert_non_null(
        memchr(c->message, '\0', sizeof(c->message))); /* whoever wrote it: text, for logs and terminals */
    for (const char *m = c->message; *m; m++)
        assert_true(*m >= ' ' && *m <= '~');
    assert_false(c->flags & ~(uint32_t)(ABI_COMPLETION_PRESENT | ABI_COMPLETION_VSYNC));
    assert_true(c->has_fault <= 1 && c->cause < ABI_CAUSE_KINDS);
    f->expected_id++;
    f->errors += c->error != 0;
    f->kept[f->completed++ % KEPT] = *c;
}

static void on_died(void *ctx, const struct exec_death *d, const struct exec_progress *progress)
{
    struct fixture *f = ctx;

    f->deaths++;
    f->death = *d;
}

void start_params(struct fixture *f, struct exec_host_params p)
{
    struct error e = {0};

    f->files_before = test_open_fds();
    f->next_id = f->expected_id = 1;
    clock_init_live(&f->clock);
    if (!p.executable)
        p.executable = TEST_PROGRAMS "/exec_test_executor";
    p.complete = on_complete;
    p.died = on_died;
    p.ctx = f;
    f->ram_fd = memfd_create("ram", MFD_CLOEXEC);
    assert_int_equal(ftruncate(f->ram_fd, RAM_SIZE), 0);
    f->ram = mmap(NULL, RAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, f->ram_fd, 0);
    assert_true(f->ram != MAP_FAILED);
    if (exec_host_create(&f->host, &p, &e))
        fail_msg("%s", e.text);
    assert_int_equal(exec_host_map(f->host, RAM_GPA, RAM_SIZE, f->ram_fd, 0, &e), 0);
}

void start(struct fixture *f)
{
    start_params(f, (struct exec_host_params){0});
}

void stop(struct fixture *f)
{
    exec_host_destroy(f->host);
    munmap(f->ram, RAM_SIZE);
    close(f->ram_fd);
    assert_int_equal(test_open_fds(), f->files_before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

int submit(struct fixture *f, uint32_t op, uint64_t a, uint64_t b)
{
    struct abi_submission s = {.id = f->next_id};
    struct test_command cmd = {.op = op, .a = a, .b = b};
    uint32_t offset = (f->next_slot % 512) * sizeof(cmd);
    int r;

    if (op != TEST_NOTHING) {
        memcpy(f->ram + offset, &cmd, sizeof(cmd));
        s.cmd_gpa = RAM_GPA + offset;
        s.cmd_size = sizeof(cmd);
        f->next_slot++;
    }
    r = exec_host_submit(f->host, &s);
    f->next_id += r == 0;
    return r;
}

void must_submit(struct fixture *f, uint32_t op, uint64_t a, uint64_t b)
{
    assert_int_equal(submit(f, op, a, b), 0);
}

void run_until(struct fixture *f, unsigned n, unsigned deaths)
{
    uint64_t end = clock_now(&f->clock) + 60 * NSEC_PER_SEC;

    while ((f->completed < n || f->deaths < deaths) && clock_now(&f->clock) < end) {
        exec_host_wait(f->host, 100);
        exec_host_dispatch(f->host);
    }
    assert_int_equal(f->completed, n);
    assert_int_equal(f->deaths, deaths);
}

const struct abi_completion *last(const struct fixture *f)
{
    return &f->kept[(f->completed - 1) % KEPT];
}

void must_be_ready(struct fixture *f)
{
    struct error e = {0};

    if (exec_host_wait_ready(f->host, 60000, &e))
        fail_msg("%s", e.text);
}

void fill(struct fixture *f)
{
    while (submit(f, TEST_NOTHING, 0, 0) == 0)
        continue;
}

void read_proc(pid_t pid, const char *what, char *text, size_t size)
{
    char path[64];
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    n = read(fd, text, size - 1);
    assert_true(n > 0);
    text[n] = '\0';
    close(fd);
}

void read_status(pid_t pid, char *text, size_t size)
{
    read_proc(pid, "status", text, size);
}
