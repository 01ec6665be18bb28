/* SPDX-License-Identifier: MIT */
/* log.h: one line per event to standard error, "aerogpu: component: text".
 *
 * AEROGPU_LOG=none|error|warn|info|debug sets what is printed (default: warn). Safe from any thread; one write per line.
 *
 * Nothing stands still, and nobody dies, because of who reads the log. A reader of a pipe that lags is waited for, 100 ms
 * at the most and once in 10 s at the most; lines that find no room then are counted and left out, and the next one that
 * finds room is preceded by "aerogpu: log: lines left out, because nobody read them: N" (or "because they were too many"). Where no reader is left at all, lines
 * are left out as well, without a SIGPIPE. A line is at most 1,023 bytes long; what is longer is cut.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum log_level { LOG_NONE, LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

enum log_level log_level(void);
void log_set_level(enum log_level level);
/* From now on lines go to this descriptor, which stays the caller's, instead of standard error. */
void log_to(int fd);
/* From now on errors and warnings are lines of one a second, and 200 at once: what strangers make a service say fills no disk. Those that
 * are left out are counted, as said above. Who asks for more than the default (AEROGPU_LOG) gets all. */
void log_limit(void);
/* Whether up to 4,096 bytes (PIPE_BUF) can be written to this descriptor without waiting for its reader, now or within
 * `wait_ms` milliseconds. False where a pipe has no reader any more. For what a service prints besides its log. */
bool log_can_write(int fd, int wait_ms);
/* Writes one line that ends in '\n', or leaves it out, as said above: what log_line does once the text is made, in which controls
 * are '?' by then, whatever names stand in it. */
void log_put(int fd, const char *line, size_t bytes);
void log_line(enum log_level level, const char *component, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#define log_error(component, ...) log_line(LOG_ERROR, component, __VA_ARGS__)
#define log_warn(component, ...)  log_line(LOG_WARN, component, __VA_ARGS__)
#define log_info(component, ...)  log_line(LOG_INFO, component, __VA_ARGS__)
#define log_debug(component, ...) log_line(LOG_DEBUG, component, __VA_ARGS__)
