/* SPDX-License-Identifier: MIT */
/* watch.h: what run.c, which lets a program run, notice.c, which follows what happens, and judge.c, which says what became of it, share. */
#pragma once

#include "base/clock.h"
#include "lose/lose.h"
#include "lose/words.h"

struct run {
    const struct lose_params *p;
    struct lose_result *out;
    struct lose_record *record;
    struct clock clock;
    uint64_t start_ns;
    uint64_t space; /* the pid namespace; 0: not known */
    struct tree tree;
    bool ended;         /* by itself: nobody is left who matters */
    struct words words; /* of the validation layer */
    uint64_t
        gone_ns; /* since when the process that was started is gone, and those that work are; 0: it is not */
    int door_fd; /* where processes ask for the record; or -1 */
    int egl_fd;  /* what tells GLVND of the vendor library; or -1 */
    int record_fd, layers_fd; /* layers_fd: the folder of the layer, if its name has a colon; or -1 */
    uint32_t seen, slot_of[LOSE_DEVICES]; /* slot_of: of each loss */
    uint64_t lost_ns
        [LOSE_DEVICES]; /* of each loss: when it was, or when the device began to hang if that came to no reset */
    uint32_t stage[LOSE_DEVICES]; /* of each loss: how many of its steps on_event was called for */
    uint64_t fault_ns;            /* the last fault that was answered first */
    uint32_t faults_given;
    uint64_t called_ns[LOSE_DEVICES]; /* when each device was seen to be called last */
    uint64_t made_ns;                 /* when `maker` was last seen to make or destroy a device */
    uint32_t maker;
    uint64_t processes[LOSE_DEVICES];      /* that there were at each loss */
    struct lose_growth held[LOSE_DEVICES]; /* when each loss was made good */
    /* What each device had done: at each loss, and at the last fault. */
    struct work {
        uint64_t frames, submits, works;
    } before[LOSE_DEVICES][LOSE_DEVICES], fault_before[LOSE_DEVICES];
};

/* Frames, or submissions of a program that shows none, of the device that has done most. */
uint64_t judge_work(const struct run *r);
uint64_t run_now(const struct run *r);

/* Takes in what the layer wrote since the last time; and of that, what was called. */
void notice(struct run *r);
void notice_calls(struct run *r);
/* Whether there is nothing more to wait for: all that was asked has come, and the program works. */
bool judge_proven(const struct run *r);
/* When the program must have done the next thing that is asked of it. */
uint64_t judge_limit(const struct run *r);
/* Of a program that hangs: which process, and the thread that submitted last. */
bool judge_hung_process(struct run *r, pid_t *pid, pid_t *thread);
/* What became of it. Takes half a second if it is there and does nothing. */
enum lose_verdict judge(struct run *r);
/* What has survived, and was looked at then, may have died meanwhile. */
void judge_end(struct run *r);
