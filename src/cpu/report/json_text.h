/* json_text.h: one JSON string onto a stream, for writers that do not hold a tree. Bytes outside of ASCII
 * that are not UTF-8 would make the file unreadable, so control bytes and quotes are escaped and the rest is
 * passed on as it is: the names come from JSON that was parsed. */
#ifndef CPU_JSON_TEXT_H_
#define CPU_JSON_TEXT_H_

#include <stdio.h>

static inline void cpu_json_text(FILE *out, const char *s)
{
    fputc('"', out);
    for (; *s; s++) {
        if ((unsigned char)*s < 0x20)
            fprintf(out, "\\u%04x", (unsigned char)*s);
        else if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else
            fputc(*s, out);
    }
    fputc('"', out);
}

#endif
