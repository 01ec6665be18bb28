/* SPDX-License-Identifier: MIT */
/* utf8.h: text from outside becomes UTF-8. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes of the well-formed character at `text`, of which `left` bytes may be read; 0 if there is none, and at a NUL. */
size_t utf8_length(const char *text, size_t left);

/* Copies `size` bytes of text to `out`, each byte that belongs to no well-formed character as U+FFFD, and ends before the
 * character that finds no room in `max` bytes. NULL measures. The bytes written; no NUL is added. */
size_t utf8_clean(char *out, size_t max, const char *text, size_t size);

/* Takes away what is left at the end of a character that found no room: of text that was UTF-8 before snprintf() cut it. */
void utf8_mend(char *text);

/* The character of `length` bytes at `text`, if a reader would not see it, or see what is not there: controls, marks that turn
 * the direction of text, fillers of no width. Else 0. */
uint32_t utf8_hidden(const char *text, size_t length);

/* Puts text of `size` bytes into `max`, its NUL included; what finds no room is cut off behind a whole character, and "…" says so. The
 * bytes without the NUL. */
size_t utf8_cut(char *out, size_t max, const char *text, size_t size);

/* The same of a path of names with slashes between them, of which the last say most: the first names are cut off. */
size_t utf8_path(char *out, size_t max, const char *path);

/* A name is one line: ends of lines in it become spaces. */
void utf8_one_line(char *text);

/* Adds `size` bytes of text as a terminal may have them: what would move its cursor, or worse (the ends of lines too, unless `lines`),
 * what turns the direction of text and what is not seen by its number, "<U+001B>", and what is no UTF-8 as "…". */
struct strbuf;
void utf8_visible(struct strbuf *o, const char *text, size_t size, bool lines);

/* fprintf() of one line that a terminal may have: only at its beginning and its end `fmt` can end lines. A file's name, or whatever
 * else was given by somebody, begins none. */
void utf8_print(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* JSON's escape of a character, "\u202e", above U+FFFF of two halves. */
enum { UTF8_ESCAPE = 13 };
void utf8_escape(char out[UTF8_ESCAPE], uint32_t c);
