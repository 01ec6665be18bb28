/* log.h: one line per event to standard error, "aerogpu: component: text".
 *
 * AEROGPU_LOG=error|warn|info|debug sets what is printed (default: warn). Safe from any thread; one write per line.
 */
#ifndef BASE_LOG_H_
#define BASE_LOG_H_

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

enum log_level log_level(void);
void log_set_level(enum log_level level);
/* From now on lines go to this descriptor, which stays the caller's, instead of standard error. */
void log_to(int fd);
void log_line(enum log_level level, const char *component, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#define log_error(component, ...) log_line(LOG_ERROR, component, __VA_ARGS__)
#define log_warn(component, ...)  log_line(LOG_WARN, component, __VA_ARGS__)
#define log_info(component, ...)  log_line(LOG_INFO, component, __VA_ARGS__)
#define log_debug(component, ...) log_line(LOG_DEBUG, component, __VA_ARGS__)

#endif
