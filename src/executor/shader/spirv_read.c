/* SPDX-License-Identifier: MIT */
#define SPV_ENABLE_UTILITY_CODE
#include "executor/shader/spirv_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

/* The header has it inline alone. */
extern inline void SpvHasResultAndType(SpvOp opcode, bool *hasResult, bool *hasResultType);

int spirv_module_read(struct spirv_module *m, const uint32_t *words, size_t count)
{
    *m = (struct spirv_module){
        .in = words, .count = count, .ids = calloc(words[SPIRV_BOUND], sizeof(*m->ids))};
    if (!m->ids)
        return -ENOMEM;
    spirv_init(&m->out);
    m->out.bound = words[SPIRV_BOUND];
    for (size_t at = SPIRV_HEADER; at < count; at += spirv_length(words + at)) {
        const uint32_t *w = words + at;
        bool has_result, has_type;

        SpvHasResultAndType((SpvOp)spirv_opcode(w), &has_result, &has_type);
        if (!has_result)
            continue;
        m->ids[w[has_type ? 2 : 1]].at = (uint32_t)at;
        if (has_type)
            m->ids[w[2]].type = w[1];
    }
    return 0;
}

int spirv_module_replace(struct spirv_module *m, uint32_t **words, size_t *count)
{
    const size_t globals = m->out.globals.count, code = m->out.code.count;
    uint32_t *out = m->out.failed ? NULL : malloc((SPIRV_HEADER + globals + code) * sizeof(*out));

    if (out) {
        memcpy(out, m->in, SPIRV_HEADER * sizeof(*out));
        out[SPIRV_BOUND] = m->out.bound;
        memcpy(out + SPIRV_HEADER, m->out.globals.w, globals * sizeof(*out));
        memcpy(out + SPIRV_HEADER + globals, m->out.code.w, code * sizeof(*out));
        free(*words);
        *words = out;
        *count = SPIRV_HEADER + globals + code;
    }
    spirv_discard(&m->out);
    free(m->ids);
    return out ? 0 : -ENOMEM;
}

uint32_t spirv_element(const struct spirv_module *m, uint32_t type, uint32_t index)
{
    const uint32_t *t = spirv_definition(m, type);

    switch (spirv_opcode(t)) {
    case SpvOpTypeStruct:
        return t[2 + spirv_definition(m, index)[3]];
    case SpvOpTypePointer:
        return t[3];
    default: /* arrays, vectors, matrices */
        return t[2];
    }
}

static uint32_t find_type(struct spirv_module *m, uint32_t op, const uint32_t *operands, size_t n)
{
    for (uint32_t id = 1; id < m->in[SPIRV_BOUND]; id++) {
        const uint32_t *w = spirv_definition(m, id);

        if (spirv_opcode_of(m, id) == op && spirv_length(w) == n + 2 &&
            (!n || !memcmp(w + 2, operands, n * sizeof(*w))))
            return id;
    }
    return spirv_global(&m->out, op, 0, operands, n);
}

uint32_t spirv_type(struct spirv_module *m, uint32_t op, const uint32_t *operands, size_t n)
{
    uint32_t key[2] = {0}, id;

    INVARIANT(n <= 2);
    if (n)
        memcpy(key, operands, n * sizeof(*key));
    for (uint32_t i = 0; i < m->num_asked; i++)
        if (m->asked[i].op == op && !memcmp(m->asked[i].operands, key, sizeof(key)))
            return m->asked[i].id;
    id = find_type(m, op, operands, n);
    if (m->num_asked < sizeof(m->asked) / sizeof(m->asked[0])) {
        m->asked[m->num_asked].op = op;
        memcpy(m->asked[m->num_asked].operands, key, sizeof(key));
        m->asked[m->num_asked++].id = id;
    }
    return id;
}
