/* SPDX-License-Identifier: MIT */
#include "blackbox/spirv_source.h"

#include <spirv/unified1/NonSemanticShaderDebugInfo100.h>
#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 1 << 24, MAX_IDS = 1 << 22, MAX_LINE = 100 };

/* What an id is, if it matters here. */
struct id {
    const char *text;      /* of a string, within the words; NULL: it is none */
    uint32_t value;        /* of a constant */
    uint32_t file, source; /* of a DebugSource: ids of strings */
};

struct module {
    uint32_t *words; /* a copy that ends with a NUL */
    size_t num;
    struct id *ids;
    uint32_t bound, debug;         /* debug: id of the instruction set */
    uint32_t file, source;         /* of OpSource: id of its file; where its text is: a word, 0 for none */
    uint32_t extra[64], num_extra; /* OpSourceContinued */
};

static const char *text_at(const struct module *m, size_t at, size_t end)
{
    const char *s = (const char *)&m->words[at];

    return at < end && memchr(s, 0, (end - at) * 4) ? s : NULL;
}

static struct id *id_of(const struct module *m, uint32_t id)
{
    static struct id none;

    none = (struct id){0};
    return id < m->bound ? &m->ids[id] : &none;
}

static void read_debug(struct module *m, const uint32_t *w, size_t n)
{
    if (n >= 6 && w[4] == NonSemanticShaderDebugInfo100DebugSource) {
        id_of(m, w[2])->file = w[5];
        id_of(m, w[2])->source = n > 6 ? w[6] : 0;
    }
}

/* What instructions name each other by. */
static void read_names(struct module *m)
{
    for (size_t at = 5, n; at < m->num; at += n) {
        const uint32_t *w = &m->words[at];

        n = w[0] >> SpvWordCountShift;
        if (!n || n > m->num - at)
            break;
        switch (w[0] & SpvOpCodeMask) {
        case SpvOpString:
            if (n > 2)
                id_of(m, w[1])->text = text_at(m, at + 2, at + n);
            break;
        case SpvOpExtInstImport:
            if (n > 2 && text_at(m, at + 2, at + n) &&
                !strncmp(text_at(m, at + 2, at + n), "NonSemantic.Shader.DebugInfo", 28))
                m->debug = w[1];
            break;
        case SpvOpConstant:
            if (n > 3)
                id_of(m, w[2])->value = w[3];
            break;
        case SpvOpSource:
            m->file = n > 3 ? w[3] : m->file;
            m->source = n > 4 && text_at(m, at + 4, at + n) ? (uint32_t)at + 4 : m->source;
            break;
        case SpvOpSourceContinued:
            if (n > 1 && m->source && m->num_extra < 64 && text_at(m, at + 1, at + n))
                m->extra[m->num_extra++] = (uint32_t)at + 1;
            break;
        case SpvOpExtInst:
            if (n > 4 && m->debug && w[3] == m->debug)
                read_debug(m, w, n);
            break;
        }
    }
}

/* An access of a memory that is not the module's own says how it is aligned. */
static bool is_interesting(const uint32_t *w, size_t n, enum spirv_interest interest)
{
    const uint32_t op = w[0] & SpvOpCodeMask;

    if (interest == SPIRV_LOOPS)
        return op == SpvOpLoopMerge;
    return (op == SpvOpLoad && n > 4 && w[4] & SpvMemoryAccessAlignedMask) ||
           (op == SpvOpStore && n > 3 && w[3] & SpvMemoryAccessAlignedMask);
}

/* The `line`th line, from 1, of the file, without what it is indented by. */
static void put_line(const struct module *m, uint32_t file, uint32_t source, uint32_t line,
                     struct strbuf *out)
{
    const char *name = id_of(m, file)->text, *part[66] = {NULL}, *slash = name ? strrchr(name, '/') : NULL;
    uint32_t parts = 0, now = 1;

    if (source) {
        part[parts++] = id_of(m, source)->text ? id_of(m, source)->text : "";
    } else if (m->source && file == m->file) {
        part[parts++] = (const char *)&m->words[m->source];
        for (uint32_t i = 0; i < m->num_extra; i++)
            part[parts++] = (const char *)&m->words[m->extra[i]];
    }
    name = slash ? slash + 1 : name && *name ? name : "source";
    strbuf_printf(out, "    %.60s:%u: ", name, line);
    for (uint32_t i = 0, put = 0, begun = 0; i < parts; i++)
        for (const char *s = part[i]; *s && now <= line; s++) {
            begun |= now == line && *s != ' ' && *s != '\t';
            if (*s == '\n')
                now++;
            else if (now == line && begun && *s != '\r' && put++ < MAX_LINE)
                strbuf_append(out, s, 1);
        }
    strbuf_puts(out, "\n");
}

static uint32_t find_lines(const struct module *m, enum spirv_interest interest, uint32_t max,
                           struct strbuf *out)
{
    uint32_t file = 0, source = 0, line = 0, told[64], num = 0, seen = 0;

    for (size_t at = 5, n; at < m->num; at += n) {
        const uint32_t *w = &m->words[at];

        n = w[0] >> SpvWordCountShift;
        if (!n || n > m->num - at)
            break;
        if ((w[0] & SpvOpCodeMask) == SpvOpLine && n > 3) {
            file = w[1];
            source = 0;
            line = w[2];
        } else if ((w[0] & SpvOpCodeMask) == SpvOpExtInst && n > 6 && m->debug && w[3] == m->debug &&
                   w[4] == NonSemanticShaderDebugInfo100DebugLine) {
            file = id_of(m, w[5])->file;
            source = id_of(m, w[5])->source;
            line = id_of(m, w[6])->value;
        } else if (line && is_interesting(w, n, interest)) {
            bool known = false;

            for (uint32_t i = 0; i < num; i++)
                known |= told[i] == line;
            if (known || num == 64)
                continue;
            told[num++] = line;
            if (seen++ < max)
                put_line(m, file, source, line, out);
        }
    }
    return seen;
}

uint32_t spirv_source_lines(const void *bytes, size_t size, enum spirv_interest interest, uint32_t max,
                            struct strbuf *out)
{
    struct module m = {.num = size / 4};
    uint32_t found = 0;

    if (m.num < 5 || m.num > MAX_WORDS)
        return 0;
    m.words = calloc(m.num + 1, 4);
    if (m.words)
        memcpy(m.words, bytes, m.num * 4);
    if (m.words && m.words[0] == SpvMagicNumber && m.words[3] <= MAX_IDS) {
        m.bound = m.words[3];
        m.ids = calloc(m.bound + 1, sizeof(*m.ids));
        if (m.ids) {
            read_names(&m);
            found = find_lines(&m, interest, max, out);
        }
    }
    free(m.ids);
    free(m.words);
    return found;
}

void spirv_hide_folders(void *bytes, size_t size, const char *home)
{
    const char *const roots[] = {"/home/", "/root/", home && strlen(home) > 1 ? home : NULL};
    char *s = bytes;

    for (size_t r = 0; r < sizeof(roots) / sizeof(roots[0]); r++) {
        char *at = s;

        while (roots[r] && (at = memmem(at, size - (size_t)(at - s), roots[r], strlen(roots[r])))) {
            char *end = at, *last = at;

            for (; end < s + size && (unsigned char)*end >= ' ' && *end != '"'; end++)
                if (*end == '/')
                    last = end;
            memset(at, '.', (size_t)(last - at));
            at = end;
        }
    }
}
