/* pingpong.h: the least that a round trip between two processes costs: one writes an event descriptor and
 * reads another, the other reads and writes. */
#ifndef BENCH_PINGPONG_H_
#define BENCH_PINGPONG_H_

#include <sys/types.h>

struct pingpong {
    pid_t pid;
    int there, back;
};

int pingpong_start(struct pingpong *p);
void pingpong_once(struct pingpong *p);
void pingpong_stop(struct pingpong *p);

#endif
