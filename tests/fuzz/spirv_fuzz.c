/* SPDX-License-Identifier: MIT */
/* SPIR-V that a hostile guest makes. The first byte chooses between compute and pixel shaders, the rest is a module, whose mutations are
 * of instructions: random bytes would hardly pass the validator, and what is behind it would never be reached.
 *
 * What must hold: what is valid comes out valid or is refused for another reason; in what comes out every access by address goes through a
 * pointer that was compared with the GPU's addresses, and every index into the shader's own is a constant inside or a choice. */
#define SPV_ENABLE_UTILITY_CODE
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "executor/shader/shader_internal.h"
#include "executor/shader/spirv_read.h"

enum { MAX_WORDS = 4096, MAX_IDS = 2048, MAX_LENGTH = 64 };

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* ---- a module in pieces --------------------------------------------------- */

struct module {
    uint32_t w[MAX_WORDS + MAX_LENGTH];
    size_t count, at[MAX_WORDS]; /* of each instruction */
    size_t num, functions;       /* instructions; the first OpFunction */
    size_t room;                 /* words */
    uint32_t type[MAX_IDS], op[MAX_IDS], where[MAX_IDS];
};

static void look(struct module *m)
{
    m->num = 0;
    m->functions = SIZE_MAX;
    memset(m->type, 0, sizeof(m->type));
    memset(m->op, 0, sizeof(m->op));
    for (size_t at = SPIRV_HEADER; at < m->count; at += spirv_length(m->w + at)) {
        const uint32_t *w = m->w + at, n = spirv_length(w);
        bool result, typed;

        if (!n || n > m->count - at) {
            m->count = at;
            break;
        }
        SpvHasResultAndType((SpvOp)spirv_opcode(w), &result, &typed);
        if (result && n > 1u + typed && w[1 + typed] < MAX_IDS) {
            m->op[w[1 + typed]] = spirv_opcode(w);
            m->where[w[1 + typed]] = (uint32_t)at;
            m->type[w[1 + typed]] = typed ? w[1] : 0;
        }
        if (spirv_opcode(w) == SpvOpFunction && m->functions == SIZE_MAX)
            m->functions = m->num;
        m->at[m->num++] = at;
    }
    if (m->functions == SIZE_MAX)
        m->functions = m->num;
}

static unsigned below(unsigned *seed, size_t n)
{
    *seed = *seed * 1103515245 + 12345;
    return n ? (unsigned)((*seed >> 8) % n) : 0;
}

/* An id with this opcode (0: any) and type (0: any); 0: there is none. */
static uint32_t an_id(const struct module *m, uint32_t op, uint32_t type, unsigned *seed)
{
    const uint32_t bound = m->w[SPIRV_BOUND] < MAX_IDS ? m->w[SPIRV_BOUND] : MAX_IDS;

    for (uint32_t i = 0, from = below(seed, bound); i < bound; i++) {
        const uint32_t id = (from + i) % bound;

        if (m->op[id] && (!op || m->op[id] == op) && (!type || m->type[id] == type))
            return id;
    }
    return 0;
}

/* A value that is a pointer, and what it points to. */
static uint32_t a_pointer(const struct module *m, uint32_t *to, unsigned *seed)
{
    const uint32_t bound = m->w[SPIRV_BOUND] < MAX_IDS ? m->w[SPIRV_BOUND] : MAX_IDS;

    for (uint32_t i = 0, from = below(seed, bound); i < bound; i++) {
        const uint32_t id = (from + i) % bound, type = m->type[id];

        if (type && type < MAX_IDS && m->op[type] == SpvOpTypePointer) {
            *to = m->w[m->where[type] + 3];
            return id;
        }
    }
    *to = 0;
    return 0;
}

static void insert(struct module *m, size_t instruction, const uint32_t *words, size_t n)
{
    const size_t at = instruction < m->num ? m->at[instruction] : m->count;

    if (m->count + n > m->room)
        return;
    memmove(m->w + at + n, m->w + at, (m->count - at) * sizeof(*m->w));
    memcpy(m->w + at, words, n * sizeof(*words));
    m->count += n;
}

static void take_out(struct module *m, size_t instruction)
{
    const size_t at = m->at[instruction], n = spirv_length(m->w + at);

    memmove(m->w + at, m->w + at + n, (m->count - at - n) * sizeof(*m->w));
    m->count -= n;
}

/* ---- mutations ------------------------------------------------------------ */

static uint32_t new_id(struct module *m)
{
    return m->w[SPIRV_BOUND]++;
}

#define PUT(m, at, op, ...)                                                                                  \
    insert(m, at,                                                                                            \
           (const uint32_t[]){(uint32_t)(1 + sizeof((uint32_t[]){__VA_ARGS__}) / 4) << SpvWordCountShift |   \
                                  (op),                                                                      \
                              __VA_ARGS__},                                                                  \
           1 + sizeof((uint32_t[]){__VA_ARGS__}) / 4)

/* What a number in an instruction may be. */
static uint32_t a_number(uint32_t was, unsigned *seed)
{
    static const uint32_t ends[] = {0,  1,   2,    3,     4,       8,       16,        31,        32,
                                    64, 255, 4096, 16384, 1 << 20, 1 << 28, INT32_MAX, UINT32_MAX};

    switch (below(seed, 4)) {
    case 0:
        return was + below(seed, 5) - 2;
    case 1:
        return was ^ 1u << below(seed, 32);
    default:
        return ends[below(seed, sizeof(ends) / sizeof(ends[0]))];
    }
}

/* An operand becomes another one of its kind. */
static void change_operand(struct module *m, unsigned *seed)
{
    uint32_t *w = m->w + m->at[below(seed, m->num)], n = spirv_length(w), i, id;

    if (n < 2)
        return;
    i = 1 + below(seed, n - 1);
    if (w[i] < MAX_IDS && m->op[w[i]] && below(seed, 5)) {
        id = m->type[w[i]] ? an_id(m, 0, m->type[w[i]], seed) : an_id(m, m->op[w[i]], 0, seed);
        w[i] = id ? id : w[i];
    } else {
        w[i] = a_number(w[i], seed);
    }
}

/* An instruction becomes one of the same shape. */
static void change_opcode(struct module *m, unsigned *seed)
{
    static const uint16_t alike[][6] = {
        {SpvOpAccessChain, SpvOpInBoundsAccessChain, SpvOpPtrAccessChain, SpvOpInBoundsPtrAccessChain},
        {SpvOpConvertUToPtr, SpvOpConvertPtrToU, SpvOpBitcast, SpvOpCopyObject, SpvOpLoad},
        {SpvOpConstant, SpvOpSpecConstant},
        {SpvOpTypeArray, SpvOpTypeVector, SpvOpTypeMatrix},
        {SpvOpIAdd, SpvOpISub, SpvOpIMul, SpvOpUDiv, SpvOpBitwiseAnd, SpvOpVectorExtractDynamic},
        {SpvOpAtomicIAdd, SpvOpAtomicExchange, SpvOpAtomicUMax, SpvOpAtomicXor, SpvOpAtomicAnd},
        {SpvOpStore, SpvOpCopyMemory},
        {SpvOpConstantNull, SpvOpUndef},
    };
    uint32_t *w = m->w + m->at[below(seed, m->num)];

    for (size_t i = 0; i < sizeof(alike) / sizeof(alike[0]); i++)
        for (unsigned k = 0; k < 6 && alike[i][k]; k++)
            if (alike[i][k] == spirv_opcode(w)) {
                const uint16_t op = alike[i][below(seed, 6)];

                *w = (*w & ~(uint32_t)SpvOpCodeMask) | (op ? op : spirv_opcode(w));
                return;
            }
}

static void add_global(struct module *m, unsigned *seed)
{
    static const uint32_t classes[] = {SpvStorageClassFunction, SpvStorageClassPrivate,
                                       SpvStorageClassWorkgroup, SpvStorageClassUniform,
                                       SpvStorageClassPhysicalStorageBuffer};
    const uint32_t class = classes[below(seed, 5)], uint = an_id(m, SpvOpTypeInt, 0, seed);
    const size_t at = m->functions;
    const uint32_t type = an_id(m, SpvOpTypeStruct + 1 - below(seed, 4), 0, seed), id = new_id(m);

    switch (below(seed, 8)) {
    case 0:
        PUT(m, at, SpvOpTypePointer, id, class, type);
        break;
    case 1:
        PUT(m, at, SpvOpTypeArray, id, type, an_id(m, SpvOpConstant, 0, seed));
        break;
    case 2:
        PUT(m, at, SpvOpConstant, uint, id, a_number(1, seed));
        break;
    case 3:
        PUT(m, at, SpvOpTypeStruct, id, type, uint);
        break;
    case 4:
        PUT(m, at, SpvOpVariable, an_id(m, SpvOpTypePointer, 0, seed), id, class);
        break;
    case 5:
        PUT(m, at, SpvOpSpecConstantOp, uint, id, SpvOpIMul, an_id(m, SpvOpConstant, uint, seed),
            an_id(m, SpvOpConstant, uint, seed));
        break;
    case 6:
        PUT(m, at, SpvOpTypeInt, id, 8u << below(seed, 4), below(seed, 2));
        break;
    default:
        PUT(m, at, SpvOpConstantNull, type, id);
    }
}

static void add_code(struct module *m, unsigned *seed)
{
    const size_t at = m->functions + below(seed, m->num - m->functions);
    const uint32_t id = new_id(m), address = an_id(m, SpvOpTypePointer, 0, seed),
                   uint = an_id(m, SpvOpTypeInt, 0, seed);
    uint32_t to, pointer = a_pointer(m, &to, seed), type = an_id(m, SpvOpTypePointer, 0, seed);

    switch (below(seed, 10)) {
    case 0:
        PUT(m, at, SpvOpLoad, to, id, pointer, 2, 16);
        break;
    case 1:
        PUT(m, at, SpvOpStore, pointer, an_id(m, 0, to, seed), 2, 16);
        break;
    case 2:
        PUT(m, at, SpvOpAccessChain, type, id, pointer, an_id(m, 0, uint, seed));
        break;
    case 3:
        PUT(m, at, SpvOpPtrAccessChain, m->type[pointer], id, pointer, an_id(m, 0, uint, seed));
        break;
    case 4:
        PUT(m, at, SpvOpBitcast, address, id, an_id(m, 0, an_id(m, SpvOpTypeVector, 0, seed), seed));
        break;
    case 5:
        PUT(m, at, SpvOpCopyObject, m->type[pointer], id, pointer);
        break;
    case 6:
        PUT(m, at, SpvOpAtomicIAdd, to, id, pointer, an_id(m, SpvOpConstant, 0, seed),
            an_id(m, SpvOpConstant, 0, seed), an_id(m, 0, to, seed));
        break;
    case 7:
        PUT(m, at, SpvOpCopyMemory, pointer, an_id(m, 0, m->type[pointer], seed), 2, 16);
        break;
    case 8:
        PUT(m, at, SpvOpFunctionCall, an_id(m, SpvOpTypeVoid, 0, seed), id, an_id(m, SpvOpFunction, 0, seed));
        break;
    default:
        PUT(m, at, SpvOpVariable, type, id, SpvStorageClassFunction);
    }
}

static void again_elsewhere(struct module *m, unsigned *seed)
{
    const size_t from = below(seed, m->num), at = m->at[from], n = spirv_length(m->w + at);
    uint32_t copy[MAX_LENGTH];
    bool result, typed;

    if (n > MAX_LENGTH)
        return;
    memcpy(copy, m->w + at, n * sizeof(*copy));
    SpvHasResultAndType((SpvOp)spirv_opcode(copy), &result, &typed);
    if (result && n > 1u + typed)
        copy[1 + typed] = new_id(m);
    insert(m, below(seed, 2) ? from + 1 : below(seed, m->num), copy, n);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    static struct module m;

    if (size < 1 + 4 * (SPIRV_HEADER + 1) || size > MAX_WORDS * 4)
        return LLVMFuzzerMutate(data, size, max_size);
    m.count = (size - 1) / 4;
    m.room = (max_size - 1) / 4 < MAX_WORDS ? (max_size - 1) / 4 : MAX_WORDS;
    memcpy(m.w, data + 1, m.count * 4);
    for (unsigned i = 0; i <= below(&seed, 3); i++) {
        look(&m);
        if (!m.num || m.functions == m.num || m.w[SPIRV_BOUND] + 4 > MAX_IDS)
            break;
        switch (below(&seed, 8)) {
        case 0:
            take_out(&m, below(&seed, m.num));
            break;
        case 1:
            again_elsewhere(&m, &seed);
            break;
        case 2:
            change_opcode(&m, &seed);
            break;
        case 3:
            add_global(&m, &seed);
            break;
        case 4:
        case 5:
            add_code(&m, &seed);
            break;
        default:
            change_operand(&m, &seed);
        }
    }
    memcpy(data + 1, m.w, m.count * 4);
    return 1 + m.count * 4;
}

/* ---- what comes out ------------------------------------------------------- */

static bool is_a(const struct spirv_module *m, uint32_t id, uint32_t op)
{
    return spirv_opcode_of(m, id) == op;
}

/* Through chains, to a pointer that was made of a number that was moved. */
static bool is_confined(const struct spirv_module *m, uint32_t pointer)
{
    const uint32_t *w = spirv_definition(m, pointer);

    while (is_a(m, pointer, SpvOpAccessChain) || is_a(m, pointer, SpvOpInBoundsAccessChain) ||
           is_a(m, pointer, SpvOpPtrAccessChain) || is_a(m, pointer, SpvOpInBoundsPtrAccessChain))
        w = spirv_definition(m, pointer = w[3]);
    if (!is_a(m, pointer, SpvOpConvertUToPtr) || !is_a(m, w[3], SpvOpIAdd))
        return false;
    w = spirv_definition(m, w[3]);
    if (!is_a(m, w[4], SpvOpISub))
        return false;
    return is_a(m, spirv_definition(m, w[4])[3], SpvOpSelect);
}

static void check_chain(const struct spirv_module *m, const uint32_t *w)
{
    uint32_t type = spirv_pointee(m, w[3]);

    for (uint32_t i = 4; i < spirv_length(w); i++) {
        const uint32_t *t = spirv_definition(m, type), *index = spirv_definition(m, w[i]);
        const uint32_t limit = spirv_opcode(t) == SpvOpTypeArray ? spirv_definition(m, t[3])[3] : t[3];

        if (spirv_opcode(t) != SpvOpTypeStruct && spirv_opcode(t) != SpvOpTypeRuntimeArray) {
            const uint32_t width = spirv_definition(m, m->ids[w[i]].type)[2];

            must(is_a(m, w[i], SpvOpSelect) || (width < 32 && limit >> width) ||
                 (is_a(m, w[i], SpvOpConstant) && index[3] < limit));
        }
        type = spirv_element(m, type, w[i]);
    }
}

static void check(const uint32_t *words, size_t count, bool addresses)
{
    struct spirv_module m;

    must(!shader_validate(words, count, &(struct error){0}));
    must(!spirv_module_read(&m, words, count));
    for (size_t at = SPIRV_HEADER; at < count; at += spirv_length(words + at)) {
        const uint32_t *w = words + at, op = spirv_opcode(w), n = spirv_length(w);

        if (op == SpvOpAccessChain || op == SpvOpInBoundsAccessChain) {
            const uint32_t class = spirv_storage_class(&m, w[3]);

            if (class != SpvStorageClassPhysicalStorageBuffer && class != SpvStorageClassUniform)
                check_chain(&m, w);
            continue;
        }
        if (!addresses || (op != SpvOpLoad && op != SpvOpStore && op != SpvOpCopyMemory &&
                           op != SpvOpCopyMemorySized && !(op >= SpvOpAtomicLoad && op <= SpvOpAtomicXor)))
            continue;
        for (uint32_t i = 1; i < n && i < 5; i++) {
            const bool written =
                (op == SpvOpStore && i != 1) ||
                (op != SpvOpStore && op != SpvOpAtomicStore && op != SpvOpCopyMemory && i != 3);
            const uint32_t type = w[i] < words[SPIRV_BOUND] ? m.ids[w[i]].type : 0;

            if (!written && type && is_a(&m, type, SpvOpTypePointer) &&
                spirv_storage_class(&m, w[i]) == SpvStorageClassPhysicalStorageBuffer &&
                !(op == SpvOpCopyMemory && i > 2) && !(op == SpvOpAtomicStore && i != 1))
                must(is_confined(&m, w[i]));
        }
    }
    spirv_discard(&m.out);
    free(m.ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct shader_addresses gpu = {.base = 0x7f0000000000, .size = 1 << 20};
    struct shader *s = NULL;
    struct error e = {0};
    size_t count = size ? (size - 1) / 4 : 0;
    uint32_t *words;
    bool valid;
    int r;

    if (count < SPIRV_HEADER + 1)
        return 0;
    words = malloc(count * 4);
    must(words);
    memcpy(words, data + 1, count * 4);
    if (!spirv_is(words, count * 4)) {
        free(words);
        return 0;
    }
    valid = !shader_validate(words, count, &e);
    error_clear(&e);
    r = valid ? shader_create(&s, data[0] & 1 ? EXEC_PS : EXEC_CS, words, count * 4, &gpu, &e) : -ENOTSUP;
    if (valid && r) {
        if (strstr(e.text, "not valid"))
            fprintf(stderr, "%s\n", e.text);
        must(e.text[0] && !strstr(e.text, "not valid"));
    }
    if (s)
        check(s->words, s->word_count, shader_info(s)->uses_addresses);
    shader_unref(s);
    free(words);
    return 0;
}
