/* SPDX-License-Identifier: MIT */
/* A Vulkan device that is lost with work under way: what the memory that outlives the executor says then. */
#include "test.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vulkan/vulkan.h>

#include <aerogpu/pci.h>

#include "engine_rig.h"
#include "executor/engine/progress.h"

enum { DRAWS = 4000, SIZE = 1024, NO_DEVICE = 77 };

static bool is_lost;

VkResult __real_vkWaitForFences(VkDevice device, uint32_t n, const VkFence *fences, VkBool32 all,
                                uint64_t timeout);
VkResult __wrap_vkWaitForFences(VkDevice device, uint32_t n, const VkFence *fences, VkBool32 all,
                                uint64_t timeout);

VkResult __wrap_vkWaitForFences(VkDevice device, uint32_t n, const VkFence *fences, VkBool32 all,
                                uint64_t timeout)
{
    return is_lost ? VK_ERROR_DEVICE_LOST : __real_vkWaitForFences(device, n, fences, all, timeout);
}

/* In a process of its own, which the engine ends. */
static void draw(struct exec_progress *progress)
{
    static const struct rig_vertex v[] = {RECT(-1, -1, 1, 1, 0, RED)};
    struct rig r;

    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    if (rig_create_like(&r, &(struct exec_engine_params){.progress = progress}))
        _exit(NO_DEVICE);
    rig_make_target_of(&r, TARGET, AEROGPU_FORMAT_R8G8B8A8_UNORM, SIZE, SIZE);
    rig_set_target(&r, TARGET, 0);
    rig_plain(&r, v, 6);
    rig_run_ok(&r);
    is_lost = true;
    for (unsigned i = 0; i < DRAWS; i++)
        rig_draw(&r, 6, 0);
    rig_run(&r);
    for (;;)
        pause();
}

TEST(what_was_lost_is_not_done)
{
    const size_t size = (sizeof(struct exec_progress) + 4095) / 4096 * 4096;
    struct exec_progress *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const struct exec_progress_slot *lost = NULL;
    pid_t pid;
    int status;

    assert_true(p != MAP_FAILED);
    pid = fork();
    assert_true(pid >= 0);
    if (!pid)
        draw(p);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_DEVICE)
        skip();
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT); /* the host starts another one */
    for (unsigned i = 0; i < EXEC_PROGRESS_SLOTS; i++)
        if (p->slots[i].submission == 2)
            lost = &p->slots[i];
    assert_non_null(lost);
    assert_int_equal(lost->state, EXEC_PROGRESS_DONE);
    assert_true(lost->num_marks > 1);
    assert_true(exec_progress_bottom(lost) < lost->num_marks);
    munmap(p, size);
}
