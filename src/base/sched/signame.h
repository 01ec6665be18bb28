/* SPDX-License-Identifier: MIT */
/* signame.h: signals by their names. */
#pragma once

struct signal_name {
    char text[24];
};

/* SIGSEGV, SIGRTMIN+3; "signal 33" of one that has none. Signal handlers, too. */
struct signal_name signal_name(int sig);
