/* SPDX-License-Identifier: MIT */
/* plan.c: what is to be answered, as people write it. */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/options.h"
#include "lose/gl_table.h"
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

static int parse_answer(char *text, struct lose_fault *out, const struct lose_result_name **result, bool gl,
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
    else if (!strcmp(text, "crash") && !value)
        out->what = LOSE_CRASHES;
    else if (*result)
        out->result = (*result)->value;
    else if (!gl) /* parse_gl() knows more */
        return error_set(e, -EINVAL,
                         "there is no answer '%.60s'; `aerogpu lose --answers` lists all, by command", text);
    return value ? parse_amount(text, value, out, e) : 0;
}

/* ---- OpenGL, EGL and GLX --------------------------------------------------- */

static int compare_names(const void *key, const void *name)
{
    return strcmp(key, *(const char *const *)name);
}

static bool is_drm(const char *name)
{
    for (unsigned i = 0; i < lose_num_drm_names; i++)
        if (!strcmp(name, lose_drm_names[i]))
            return true;
    return false;
}

/* Whether `word` is an answer of that command. */
static int parse_gl(const char *word, const char *call, struct lose_fault *out, struct error *e)
{
    char may[600] = "";
    size_t n = 0;

    if (!strcmp(word, "oom"))
        word = *call == 'e' ? "bad-alloc" : *call == 'D' ? "enomem" : "out-of-memory";
    else if (!strcmp(word, "lost"))
        word = *call == 'D' ? "unplugged" : "context-lost";
    if (*call == 'D' && !is_drm(call))
        return error_set(e, -EINVAL, "'%.80s' is no ioctl of DRM that is known here", call);
    if (*call != 'D' &&
        !bsearch(call, lose_gl_names, lose_num_gl_names, sizeof(lose_gl_names[0]), compare_names))
        return error_set(e, -EINVAL, "'%.80s' is no command of OpenGL, OpenGL ES, EGL or GLX", call);
    if (out->what != LOSE_ANSWERS)
        return 0;
    for (const struct lose_gl_answer *a = lose_gl_answers; a->call; a++) {
        if (fnmatch(a->call, call, 0))
            continue;
        if (!strcmp(a->word, word)) {
            out->result = a->error;
            out->amount = a->value;
            return 0;
        }
        if (n < sizeof(may))
            n += (size_t)snprintf(may + n, sizeof(may) - n, "%s%s", n ? ", " : "", a->word);
    }
    return error_set(e, -EINVAL, "%s never answers '%.60s'; it may answer %s", call, word,
                     n ? may : "nothing but success");
}

static bool is_gl(const char *name)
{
    return !fnmatch("gl[A-Z]*", name, 0) || !fnmatch("egl[A-Z]*", name, 0) || !fnmatch("DRM_IOCTL*", name, 0);
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
    out->any = !strcmp(text, "frame") || !strcmp(text, "submission");
    if (is_gl(text)) {
        snprintf(out->gl, sizeof(out->gl), "%s", text);
        return 0;
    }
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
    if (parse_answer(copy, out, &result, at && is_gl(at), e))
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
    if (*out->gl)
        return parse_gl(copy, out->gl, out, e);
    if (out->what == LOSE_HIDES && out->call != LOSE_vkEnumeratePhysicalDevices)
        return error_set(e, -EINVAL, "no-device is an answer of vkEnumeratePhysicalDevices only");
    return result && !may_answer(out->call, out->result) ? wrong_result(result, out->call, e) : 0;
}
