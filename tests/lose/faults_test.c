/* SPDX-License-Identifier: MIT */
/* Every answer that the registry allows, of every command that a layer sees, given to a caller: the generated hooks, with drivers
 * that always succeed behind them. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "lose/device.h"
#include "lose_each.h"

struct layer_table lose_instances = LAYER_TABLE, lose_devices = LAYER_TABLE;
static struct lose_record record;
static struct device device;
static struct layer_instance instance;
static void *device_key = &device_key, *instance_key = &instance_key; /* what handles point to */
static unsigned real_calls;
static bool being_made; /* the instance */
static uint8_t memory[65536] __attribute__((aligned(16)));

static VKAPI_ATTR VkResult VKAPI_CALL succeed(void)
{
    real_calls++;
    return VK_SUCCESS;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get(VkInstance i, const char *name)
{
    assert_true(being_made); /* the loader answers with the uppermost function later */
    return (PFN_vkVoidFunction)(void (*)(void))succeed;
}

/* What the layer has besides. */
PFN_vkVoidFunction lose_own_hook(enum lose_call call)
{
    return NULL;
}
void lose_device(struct device *d)
{
}
bool lose_may_destroy(struct device *d)
{
    return true;
}

static void prepare(enum lose_call call, int32_t result)
{
    memset(&record, 0, sizeof(record));
    memset(memory, 0, sizeof(memory));
    memory[0] = 2; /* a count */
    record.num_faults = 1;
    record.fault[0] = (struct lose_fault){.what = LOSE_ANSWERS, .result = result, .call = call, .at = 2};
    lose_record = &record;
    faults_open();
    being_made = true;
    instance.get = get;
    free(instance.own);
    assert_true(faults_of_instance(&instance));
    if (!device.object.key) {
        layer_put(&lose_devices, &device.object, &device_key);
        layer_put(&lose_instances, &instance.object, &instance_key);
        for (uint32_t i = 0; i < LOSE_NUM_CALLS; i++)
            device.next[i] = get(NULL, NULL);
    }
    being_made = false;
}

TEST(all_that_may_be_answered_is_answered_once)
{
    unsigned calls = 0, answers = 0;

    for (const struct fault_hook *h = fault_hooks; h->name; h++) {
        void *object = h->of_device ? &device_key : &instance_key;

        if (strcmp(h->name, lose_calls[h->call].name) != 0)
            continue; /* another name of the same */
        calls++;
        for (const int32_t *m = lose_calls[h->call].may; *m; m++) {
            void (*fn)(void);

            prepare(h->call, *m);
            fn = (void (*)(void))fault_find(h->name, h->of_device);
            assert_non_null(fn);
            for (int i = 1; i <= 3; i++) {
                memory[0] = 2;
                VkResult r = call_each[h->call](fn, object, memory);
                if (r != (i == 2 ? *m : VK_SUCCESS))
                    fail_msg("%s: call %d answers %d, where %d was asked for", h->name, i, r, *m);
            }
            assert_int_equal(atomic_load(&record.fault[0].given), 1);
            answers++;
        }
    }
    print_message("# %u commands, %u answers\n", calls, answers);
    assert_int_equal(calls,
                     LOSE_NUM_CALLS - 2); /* none, and vkCreateInstance, for which nothing is looked up */
    assert_true(answers > 500);
}

TEST(what_is_answered_instead_was_not_done_and_what_happens_all_the_same_was)
{
    static const struct {
        enum lose_call call;
        int32_t result;
        unsigned real;
    } rows[] = {
        {LOSE_vkQueueSubmit, VK_ERROR_OUT_OF_DEVICE_MEMORY, 2},
        {LOSE_vkQueuePresentKHR, VK_ERROR_OUT_OF_DATE_KHR, 3},
        {LOSE_vkQueuePresentKHR, VK_ERROR_OUT_OF_HOST_MEMORY, 2},
        {LOSE_vkAcquireNextImageKHR, VK_SUBOPTIMAL_KHR, 3},
        {LOSE_vkAcquireNextImageKHR, VK_ERROR_OUT_OF_DATE_KHR, 2},
        {LOSE_vkWaitForFences, VK_TIMEOUT, 2},
        {LOSE_vkGetSwapchainImagesKHR, VK_INCOMPLETE, 3},
    };

    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        prepare(rows[k].call, rows[k].result);
        real_calls = 0;
        for (int i = 0; i < 3; i++) {
            memory[0] = 2;
            call_each[rows[k].call]((void (*)(void))fault_find(lose_calls[rows[k].call].name, true),
                                    &device_key, memory);
        }
        if (real_calls != rows[k].real)
            fail_msg("%s: %u calls were made for answer %d", lose_calls[rows[k].call].name, real_calls,
                     rows[k].result);
    }
}

/* Calls count as long as the run that is to tell of them is about. */
TEST(calls_count_up_to_the_frame_that_ends_the_run)
{
    static struct lose_device shows, blank = {.blank = 1};
    struct lose_device *slots[] = {&shows, &blank};

    for (int k = 0; k < 2; k++) {
        memset(&record, 0, sizeof(record));
        lose_record = &record;
        slot_work(slots[k], 9, 9, true);
        assert_false(slot_counts()); /* it was not asked for */
        atomic_store(&slots[k]->frames, 0);
        atomic_store(&slots[k]->submits, 0);
        record.counts = 3;
        for (int i = 0; i < 2; i++)
            slot_work(slots[k], 1, 1, true);
        assert_true(slot_counts());
        if (k == 0)
            slot_work(slots[k], 0, 1, true); /* it shows frames: those are what counts */
        assert_true(slot_counts());
        slot_work(slots[k], k == 0, k == 1, true);
        assert_false(slot_counts());
    }
}
