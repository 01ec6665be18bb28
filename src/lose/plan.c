/* SPDX-License-Identifier: MIT */
/* plan.c: what is to be answered, as people write it. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/options.h"
#include "lose/lose.h"

static const char *const phases[LOSE_PHASES] = {
    NULL, "start", "loading", "steady", "resize", "recovery", "shutdown",
};

static const struct lose_result_name *find_result(const char *word)
{
    static const char *const shorter[][2] = {
        {"oom", "out-of-device-memory"}, {"host-oom", "out-of-host-memory"}, {"lost", "device-lost"}};

    for (size_t i = 0; i < sizeof(shorter) / sizeof(shorter[0]); i++)
        if (!strcmp(word, shorter[i][0]))
            word = shorter[i][1];
    for (unsigned i = 0; i < lose_num_results; i++)
        if (!strcmp(word, lose_results[i].word) || !strcmp(word, lose_results[i].name))
            return &lose_results[i];
    return NULL;
}

static const char *result_name(int32_t value)
{
    for (unsigned i = 0; i < lose_num_results; i++)
        if (lose_results[i].value == value)
            return lose_results[i].name;
    return "?";
}

static enum lose_call find_call(const char *name)
{
    for (uint32_t i = 1; i < LOSE_NUM_CALLS; i++)
        if (!strcmp(name, lose_calls[i].name))
            return i;
    return LOSE_NO_CALL;
}

static int wrong_result(const struct lose_result_name *r, enum lose_call call, struct error *e)
{
    char may[600] = "";
    size_t n = 0;

    for (const int32_t *m = lose_calls[call].may; *m && n < sizeof(may); m++)
        n += (size_t)snprintf(may + n, sizeof(may) - n, "%s%s", n ? ", " : "", result_name(*m));
    return error_set(e, -EINVAL, "%s never answers %s; it may answer %s", lose_calls[call].name, r->name,
                     *may ? may : "nothing but VK_SUCCESS");
}

static bool may_answer(enum lose_call call, int32_t result)
{
    for (const int32_t *m = lose_calls[call].may; *m; m++)
        if (*m == result)
            return true;
    return false;
}

/* "500" as ms, "64M" as bytes. */
static int parse_amount(const char *what, const char *text, struct lose_fault *out, struct error *e)
{
    static const char units[] = "KMG";
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    bool bytes = out->what == LOSE_LIMITS;

    if (!isdigit((unsigned char)*text) || (*end && (!bytes || !unit || end[1])) || n > 1000000000 ||
        (!bytes && n > 3600000))
        return error_set(e, -EINVAL, "%s=%s: %s", what, text,
                         bytes ? "bytes are wanted, as in budget=64M"
                               : "milliseconds are wanted, up to 3600000");
    out->amount = bytes ? n << (unit ? 10 * (unit - units + 1) : 0) : n * NSEC_PER_MSEC;
    return 0;
}

static int parse_answer(char *text, struct lose_fault *out, const struct lose_result_name **result,
                        struct error *e)
{
    char *value = strchr(text, '=');

    if (value)
        *value++ = '\0';
    *result = value ? NULL : find_result(text);
    if (!strcmp(text, "delay") && value)
        out->what = LOSE_DELAYS;
    else if (!strcmp(text, "budget") && value)
        out->what = LOSE_LIMITS;
    else if (!strcmp(text, "no-device") && !value)
        out->what = LOSE_HIDES;
    else if (*result)
        out->result = (*result)->value;
    else
        return error_set(e, -EINVAL,
                         "there is no answer '%.60s'; `aerogpu lose --answers` lists all, by command", text);
    return value ? parse_amount(text, value, out, e) : 0;
}

static int parse_when(char *text, struct lose_fault *out, struct error *e)
{
    char *slash = strchr(text, '/'), *count, *end;
    uint64_t n = 1;

    if (slash) {
        *slash++ = '\0';
        for (uint32_t i = 1; i < LOSE_PHASES; i++)
            if (!strcmp(slash, phases[i]))
                out->phase = i;
        if (!out->phase)
            return error_set(
                e, -EINVAL, "there is no phase '%.60s': start, loading, steady, resize, recovery or shutdown",
                slash);
    }
    count = strchr(text, ':');
    if (count) {
        *count++ = '\0';
        end = count + strlen(count);
        out->forever = end > count && end[-1] == '+';
        if (out->forever)
            end[-1] = '\0';
        if (options_number("the number of the call", count, 1, UINT32_MAX, &n, e))
            return -EINVAL;
    }
    out->at = (uint32_t)n;
    if (!strcmp(text, "frame"))
        out->call = LOSE_vkQueuePresentKHR;
    else if (!strcmp(text, "submission"))
        out->or_call = LOSE_vkQueueSubmit2;
    else
        out->call = find_call(text);
    if (out->or_call)
        out->call = LOSE_vkQueueSubmit;
    return out->call
               ? 0
               : error_set(
                     e, -EINVAL,
                     "'%.80s' is no command of Vulkan that can fail and that a layer sees, nor `frame` nor `submission`",
                     text);
}

int lose_fault_parse(const char *text, struct lose_fault *out, struct error *e)
{
    const struct lose_result_name *result = NULL;
    char copy[256], *at;

    memset(out, 0, sizeof(*out));
    if ((size_t)snprintf(copy, sizeof(copy), "%s", text) >= sizeof(copy))
        return error_set(e, -EINVAL, "a fault of more than 255 letters");
    at = strchr(copy, '@');
    if (at)
        *at++ = '\0';
    if (parse_answer(copy, out, &result, e))
        return -EINVAL;
    if (!at && (out->what == LOSE_HIDES || out->what == LOSE_LIMITS)) {
        out->call = out->what == LOSE_HIDES ? LOSE_vkEnumeratePhysicalDevices : LOSE_vkCreateInstance;
        out->at = 1;
        out->forever = out->what == LOSE_HIDES;
        return 0;
    }
    if (!at)
        return error_set(e, -EINVAL,
                         "'%.80s' does not say where: ANSWER@COMMAND:N, as in oom@vkAllocateMemory:3", text);
    if (parse_when(at, out, e))
        return -EINVAL;
    if (out->what == LOSE_HIDES && out->call != LOSE_vkEnumeratePhysicalDevices)
        return error_set(e, -EINVAL, "no-device is an answer of vkEnumeratePhysicalDevices only");
    return result && !may_answer(out->call, out->result) ? wrong_result(result, out->call, e) : 0;
}
