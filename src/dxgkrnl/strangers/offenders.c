/* SPDX-License-Identifier: MIT */
#include "dxgkrnl/adapter.h"

#include <string.h>

/* With the user: a number may be another's later, who did nothing. Numbers of processes are below 2^32 and not 0, and no stranger is
 * user 0: a process, its user and who is none of a user are told apart. */
static uint64_t process_key(const struct dxgk_client *c)
{
    return (uint64_t)c->user << 32 | c->process;
}

uint64_t dxgk_offender_user(const struct dxgk_client *c)
{
    return c->has_user ? (uint64_t)c->user << 32 : process_key(c);
}

static struct offender *find(struct dxgk *d, uint64_t key)
{
    for (unsigned i = 0; i < OFFENDERS_MOST; i++)
        if (d->offenders.list[i].key == key)
            return &d->offenders.list[i];
    return NULL;
}

static bool may_guess(const struct offender *o, uint64_t now)
{
    return o->guesses < GUESSES_MOST || now - o->guesses_ns > GUESSES_S * NSEC_PER_SEC;
}

/* 1: a new one takes the place of who has been quiet for longest, of those that nothing is kept from as long as there is one: a table
 * full of those that are would otherwise let everybody else do as he likes. */
static struct offender *get(struct dxgk *d, uint64_t key)
{
    uint64_t now = dxgk_kernel_now(d->kernel);
    struct offender *o = find(d, key), *place = NULL;
    bool place_held = true;

    for (unsigned i = 0; !o && i < OFFENDERS_MOST; i++) {
        struct offender *x = &d->offenders.list[i];
        bool held = x->barred_until_ns > now || !may_guess(x, now);
        if (!place || held < place_held || (held == place_held && x->last_ns < place->last_ns)) {
            place = x;
            place_held = held;
        }
    }
    if (!o)
        *(o = place) = (struct offender){.key = key};
    o->last_ns = now;
    return o;
}

/* ---- hangs --------------------------------------------------------------- */

/* Notes one more; true at the `limit`th within TdrLimitTime, from when on it is barred. */
static bool hung(struct dxgk *d, uint64_t key, unsigned limit)
{
    uint64_t now = dxgk_kernel_now(d->kernel);
    struct offender *o = get(d, key);
    unsigned kept = 0;

    for (unsigned i = 0; i < o->num_hangs; i++)
        if (now - o->hangs[i] <= d->tdr.limit_ns)
            o->hangs[kept++] = o->hangs[i];
    if (kept == OFFENDER_HANGS)
        kept--;
    o->hangs[kept++] = now;
    o->num_hangs = kept;
    INVARIANT(o->num_hangs <= OFFENDER_HANGS);
    if (kept < (limit < OFFENDER_HANGS ? limit : OFFENDER_HANGS))
        return false;
    o->num_hangs = 0;
    o->barred_until_ns = now + d->tdr.limit_ns;
    return true;
}

/* Notes one more; whether all strangers together have hung it as often as one of them may. */
static bool is_mob(struct dxgk *d, unsigned limit)
{
    uint64_t now = dxgk_kernel_now(d->kernel), *hangs = d->offenders.hangs;
    unsigned n = 0;

    memmove(hangs + 1, hangs, (OFFENDER_HANGS - 1) * sizeof(*hangs));
    hangs[0] = now;
    while (n < OFFENDER_HANGS && hangs[n] && now - hangs[n] <= d->tdr.limit_ns)
        n++;
    return n >= (limit < OFFENDER_HANGS ? limit : OFFENDER_HANGS);
}

bool dxgk_offender_hung(struct dxgk *d, const struct dxgk_client *c, bool alone)
{
    unsigned limit = d->tdr.limit_count ? d->tdr.limit_count : 1;
    bool user, process;

    if (!c || !c->has_user)
        return false;
    if (!alone && is_mob(d, limit))
        limit = 1;
    user = hung(d, dxgk_offender_user(c), limit);
    process = hung(d, process_key(c), limit / 2 + (limit & 1));
    if (user)
        dxgk_log_of(d, c, "dxgkrnl", 7, "user %u hangs the device again and again: no device for %llu s",
                    c->user, (unsigned long long)(d->tdr.limit_ns / NSEC_PER_SEC));
    else if (process)
        dxgk_log_of(d, c, "dxgkrnl", 7, "process %llu hangs the device again and again: no device for %llu s",
                    (unsigned long long)c->process, (unsigned long long)(d->tdr.limit_ns / NSEC_PER_SEC));
    return true;
}

static bool is_barred(struct dxgk *d, uint64_t key)
{
    const struct offender *o = find(d, key);

    return o && o->barred_until_ns > dxgk_kernel_now(d->kernel);
}

bool dxgk_offender_barred(struct dxgk *d, const struct dxgk_client *c)
{
    return c->has_user && (is_barred(d, dxgk_offender_user(c)) || is_barred(d, process_key(c)));
}

/* ---- guesses ------------------------------------------------------------- */

bool dxgk_offender_may_guess(struct dxgk *d, const struct dxgk_client *c)
{
    const struct offender *o = find(d, dxgk_offender_user(c));

    return !o || may_guess(o, dxgk_kernel_now(d->kernel));
}

void dxgk_offender_guessed(struct dxgk *d, const struct dxgk_client *c)
{
    struct offender *o = get(d, dxgk_offender_user(c));

    if (o->last_ns - o->guesses_ns > GUESSES_S * NSEC_PER_SEC)
        o->guesses = 0;
    if (!o->guesses)
        o->guesses_ns = o->last_ns;
    if (++o->guesses == GUESSES_MOST)
        dxgk_log_of(d, c, "dxgkrnl", 6, "process %llu guesses share handles: it%s opens no more for a while",
                    (unsigned long long)c->process, c->has_user ? ", as all of its user," : "");
}
