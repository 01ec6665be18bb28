/* SPDX-License-Identifier: MIT */
/* alloc_test: machines and drivers without memory or descriptors. */
#include "test.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "aerogpu/pci.h"
#include "alloc_fail.h"
#include "base/log.h"
#include "machine/driver.h"

static int make_one(enum machine_kind kind)
{
    struct error e = {0};
    struct machine *m;
    struct driver *d;
    int err = machine_create(&m,
                             &(struct machine_params){.kind = kind,
                                                      .ram_size = 4 << 20,
                                                      .executor = TEST_PROGRAMS "/exec_test_executor"},
                             &e);

    if (err) {
        assert_null(m);
        assert_true(e.text[0]);
        return err;
    }
    err = driver_create(&d, &(struct driver_params){.machine = m}, &e);
    if (!err && kind == MACHINE_LIVE) /* a simulation in progress ends the program when it gets no memory */
        err = driver_set_mode(d, 16, 16, AEROGPU_FORMAT_B8G8R8A8_UNORM);
    driver_destroy(d);
    machine_destroy(m);
    return err;
}

static int make_a_sim(void *ctx)
{
    return make_one(MACHINE_SIM);
}

static int make_a_live_one(void *ctx)
{
    return make_one(MACHINE_LIVE);
}

TEST(a_sim_without_memory_is_none)
{
    assert_true(alloc_fail_each(make_a_sim, NULL) >= 8);
}

TEST(a_live_machine_without_memory_or_descriptors_is_none)
{
    log_to(-1);
    assert_true(alloc_fail_each(make_a_live_one, NULL) >= 16);
    log_to(2);
}

struct mapping {
    struct machine *m;
    int fd;
};

static int map_and_unmap(void *ctx)
{
    struct mapping *x = ctx;
    uint64_t gpa = machine_ram_size(x->m);
    struct error e = {0};
    int err = machine_map(x->m, gpa, 8192, x->fd, &e);

    if (!err) {
        machine_ram(x->m)[gpa + 8191] = 7;
        machine_unmap(x->m, gpa, 8192);
    }
    assert_int_equal(machine_ram(x->m)[gpa + 8191], 0); /* nothing is there, and can be read */
    return err;
}

TEST(memory_that_cannot_be_mapped_is_not_there)
{
    struct mapping x = {.fd = memfd_create("more", MFD_CLOEXEC)};
    struct error e = {0};

    assert_int_equal(ftruncate(x.fd, 8192), 0);
    assert_int_equal(
        machine_create(&x.m, &(struct machine_params){.kind = MACHINE_SIM, .ram_size = 4 << 20}, &e), 0);
    /* The last call puts zeroes in the place of a mapping of the same size, which the kernel does not refuse. */
    for (unsigned n = 0; n < 2; n++) {
        alloc_fail_arm(n);
        int err = map_and_unmap(&x), failed = alloc_fail_disarm();
        assert_int_equal(failed, ENOMEM);
        assert_int_equal(err, -ENOMEM);
    }
    assert_int_equal(map_and_unmap(&x), 0);
    machine_destroy(x.m);
    close(x.fd);
}
