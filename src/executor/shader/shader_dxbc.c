/* SPDX-License-Identifier: MIT */
/* shader_dxbc.c: DXBC programs through libvkd3d-shader. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <vkd3d_shader.h>

#include "base/dxbc/dxbc.h"
#include "base/dxbc/dxbc_sum.h"
#include "executor/shader/dxbc_targets.h"
#include "executor/shader/shader_internal.h"
#include "executor/shader/sm4.h"
#include "executor/shader/spirv_bounds.h"

static const struct dxbc_chunk *find_any(const struct dxbc *d, const char *a, const char *b, const char *c)
{
    const char *names[] = {a, b, c};

    for (int i = 0; i < 3; i++) {
        const struct dxbc_chunk *found =
            names[i] ? dxbc_find(d, DXBC_FOURCC(names[i][0], names[i][1], names[i][2], names[i][3])) : NULL;
        if (found)
            return found;
    }
    return NULL;
}

/* Output and tessellation signatures store the components that are NOT written. */
static void add_elements(struct shader_element *x, const struct dxbc_signature *sig, bool inverted)
{
    for (uint32_t i = 0; i < sig->count; i++, x++) {
        const struct dxbc_element *from = &sig->elements[i];

        shader_set_semantic(x, from->name);
        x->semantic_index = from->index;
        x->location = from->reg;
        x->system_value = from->system_value;
        x->stream = from->stream;
        x->mask = from->mask;
        x->used_mask = inverted ? from->mask & (uint8_t)~from->used_mask : from->used_mask;
        x->component = (uint8_t)from->component;
        x->d3d9_usage = -1;
    }
}

static int describe_signatures(struct shader *s, const struct dxbc_shader *x, struct error *e)
{
    s->elements = calloc(x->in.count + x->out.count + x->patch.count + 1, sizeof(*s->elements));
    if (!s->elements)
        return error_set(e, -ENOMEM, "no memory for a shader's signatures");
    add_elements(s->elements, &x->in, false);
    add_elements(s->elements + x->in.count, &x->out, true);
    add_elements(s->elements + x->in.count + x->out.count, &x->patch, s->info.stage == EXEC_HS);
    s->info.inputs = s->elements;
    s->info.input_count = x->in.count;
    s->info.outputs = s->elements + x->in.count;
    s->info.output_count = x->out.count;
    s->info.patch_constants = s->info.outputs + x->out.count;
    s->info.patch_constant_count = x->patch.count;
    return 0;
}

static enum vkd3d_shader_descriptor_type vkd3d_type(uint8_t kind)
{
    switch (kind) {
    case SHADER_CBV:
        return VKD3D_SHADER_DESCRIPTOR_TYPE_CBV;
    case SHADER_SAMPLER:
        return VKD3D_SHADER_DESCRIPTOR_TYPE_SAMPLER;
    case SHADER_UAV_TEXTURE:
    case SHADER_UAV_TYPED:
    case SHADER_UAV_RAW:
    case SHADER_UAV_STRUCTURED:
        return VKD3D_SHADER_DESCRIPTOR_TYPE_UAV;
    default:
        return VKD3D_SHADER_DESCRIPTOR_TYPE_SRV;
    }
}

struct interface {
    struct vkd3d_shader_resource_binding bindings[SM4_MAX_DESCRIPTORS];
    struct vkd3d_shader_uav_counter_binding counters[SM4_MAX_DESCRIPTORS];
    struct vkd3d_shader_transform_feedback_element stream_elements[AEROGPU_STREAM_OUTPUT_MOST];
    struct vkd3d_shader_transform_feedback_info streams;
    struct vkd3d_shader_interface_info info;
};

static void fill_streams(const struct shader *s, struct interface *f)
{
    const struct shader_streams *x = s->streams;

    for (uint32_t i = 0; i < x->count; i++) {
        const struct shader_stream_element *e = &x->elements[i];

        f->stream_elements[i] =
            (struct vkd3d_shader_transform_feedback_element){.stream_index = e->stream,
                                                             .semantic_name = e->semantic ? e->semantic : "",
                                                             .semantic_index = e->index,
                                                             .component_index = e->component,
                                                             .component_count = e->components,
                                                             .output_slot = e->slot};
    }
    f->streams = (struct vkd3d_shader_transform_feedback_info){
        .type = VKD3D_SHADER_STRUCTURE_TYPE_TRANSFORM_FEEDBACK_INFO,
        .elements = f->stream_elements,
        .element_count = x->count,
        .buffer_strides = x->strides,
        .buffer_stride_count = AEROGPU_STREAM_OUTPUT_SLOTS,
    };
}

static void fill_interface(const struct shader *s, struct interface *f)
{
    uint32_t bindings = 0, counters = 0;

    for (uint32_t i = 0; i < s->info.descriptor_count; i++) {
        const struct shader_descriptor *d = &s->descriptors[i];
        struct vkd3d_shader_descriptor_binding at = {exec_stage_set(s->info.stage), d->binding, 1};
        bool is_image =
            d->kind == SHADER_SRV_TEXTURE || d->kind == SHADER_UAV_TEXTURE || d->kind == SHADER_SAMPLER;

        if (d->kind == SHADER_UAV_COUNTER)
            f->counters[counters++] =
                (struct vkd3d_shader_uav_counter_binding){.register_index = d->index, .binding = at};
        else
            f->bindings[bindings++] = (struct vkd3d_shader_resource_binding){
                .type = vkd3d_type(d->kind),
                .register_index = d->index,
                .flags = is_image ? VKD3D_SHADER_BINDING_FLAG_IMAGE : VKD3D_SHADER_BINDING_FLAG_BUFFER,
                .binding = at,
            };
    }
    f->info = (struct vkd3d_shader_interface_info){
        .type = VKD3D_SHADER_STRUCTURE_TYPE_INTERFACE_INFO,
        .bindings = f->bindings,
        .binding_count = bindings,
        .uav_counters = f->counters,
        .uav_counter_count = counters,
    };
}

/* The first line of the translator's messages, without its location prefix. */
static void explain(struct error *e, int ret, const char *messages)
{
    const char *text = messages ? messages : "";
    size_t n = strcspn(text, "\n");

    error_set(e, ret, "DXBC: libvkd3d-shader refuses the program: %.*s", (int)(n < 200 ? n : 200),
              n ? text : "no reason given");
}

/* A copy of the translation, whose arrays have bounds, and which is valid. */
static int take_words(const struct vkd3d_shader_code *code, uint32_t **words, size_t *count, struct error *e)
{
    int ret;

    *words = malloc(code->size);
    if (*words) {
        memcpy(*words, code->code, code->size);
        *count = code->size / 4;
    }
    if (!*words || spirv_bound_arrays(words, count))
        ret = error_set(e, -ENOMEM, "no memory for a translated shader");
    else
        ret = shader_validate(*words, *count, e);
    if (ret) {
        free(*words);
        *words = NULL;
    }
    return ret;
}

static int translate(const struct shader *s, const void *bytes, size_t size, const struct shader *hull,
                     const struct shader_variant *v, uint32_t **words, size_t *count, struct error *e)
{
    unsigned int swizzles[8];
    struct vkd3d_shader_parameter samples = {
        .name = VKD3D_SHADER_PARAMETER_NAME_RASTERIZER_SAMPLE_COUNT,
        .type = VKD3D_SHADER_PARAMETER_TYPE_IMMEDIATE_CONSTANT,
        .data_type = VKD3D_SHADER_PARAMETER_DATA_TYPE_UINT32,
        .u.immediate_constant.u.u32 = v && v->samples ? v->samples : 1,
    };
    const struct shader_info *h = hull ? &hull->info : NULL;
    struct vkd3d_shader_spirv_domain_shader_target_info domain = {
        .type = VKD3D_SHADER_STRUCTURE_TYPE_SPIRV_DOMAIN_SHADER_TARGET_INFO,
        .output_primitive = (enum vkd3d_shader_tessellator_output_primitive)(
            h && h->tess_output ? h->tess_output : VKD3D_SHADER_TESSELLATOR_OUTPUT_TRIANGLE_CW),
        .partitioning = (enum vkd3d_shader_tessellator_partitioning)(
            h && h->tess_partitioning ? h->tess_partitioning : VKD3D_SHADER_TESSELLATOR_PARTITIONING_INTEGER),
    };
    struct vkd3d_shader_spirv_target_info target = {
        .type = VKD3D_SHADER_STRUCTURE_TYPE_SPIRV_TARGET_INFO,
        .next = s->info.stage == EXEC_DS ? &domain : NULL,
        .entry_point = "main",
        .environment = VKD3D_SHADER_SPIRV_ENVIRONMENT_VULKAN_1_0,
        .parameters = &samples,
        .parameter_count = 1,
        .dual_source_blending = v && v->dual_source,
    };
    struct vkd3d_shader_compile_option options[] = {
        {VKD3D_SHADER_COMPILE_OPTION_STRIP_DEBUG, 1},
        /* Texel buffers keep the format of typed views, and out-of-range accesses are defined as in Direct3D. */
        {VKD3D_SHADER_COMPILE_OPTION_BUFFER_UAV, VKD3D_SHADER_COMPILE_OPTION_BUFFER_UAV_STORAGE_TEXEL_BUFFER},
    };
    struct vkd3d_shader_compile_info info = {
        .type = VKD3D_SHADER_STRUCTURE_TYPE_COMPILE_INFO,
        .source = {bytes, size},
        .source_type = VKD3D_SHADER_SOURCE_DXBC_TPF,
        .target_type = VKD3D_SHADER_TARGET_SPIRV_BINARY,
        .options = options,
        .option_count = sizeof(options) / sizeof(options[0]),
        .log_level = VKD3D_SHADER_LOG_ERROR,
    };
    struct interface *f = calloc(1, sizeof(*f));
    struct vkd3d_shader_code code = {0};
    char *messages = NULL;
    int ret;

    if (!f)
        return error_set(e, -ENOMEM, "no memory to translate a shader");
    fill_interface(s, f);
    if (v && v->alpha_targets) {
        for (uint32_t i = 0; i < 8; i++)
            swizzles[i] = v->alpha_targets >> i & 1 ? VKD3D_SHADER_SWIZZLE(W, W, W, W)
                                                    : VKD3D_SHADER_SWIZZLE(X, Y, Z, W);
        target.output_swizzles = swizzles;
        target.output_swizzle_count = 8;
    }
    f->info.next = &target;
    if (s->streams) {
        fill_streams(s, f);
        f->streams.next = f->info.next;
        f->info.next = &f->streams;
    }
    info.next = &f->info;
    ret = vkd3d_shader_compile(&info, &code, &messages);
    if (ret) {
        ret = ret == VKD3D_ERROR_OUT_OF_MEMORY ? -ENOMEM : -ENOTSUP;
        explain(e, ret, messages);
        goto out;
    }
    ret = take_words(&code, words, count, e);
out:
    vkd3d_shader_free_shader_code(&code);
    vkd3d_shader_free_messages(messages);
    free(f);
    return ret;
}

/* The container with another component type of some inputs: layouts know what attributes are, and not every driver that made the
 * signature did. NULL: no memory. */
static uint8_t *with_inputs(const struct shader *s, const struct shader_variant *v)
{
    enum { COUNT_WORDS = 8, ELEMENT = 24, TYPE_AT = 12, REGISTER_AT = 16, UINT_TYPE = 1, SINT_TYPE = 2 };
    uint8_t *copy = malloc(s->size);
    const struct dxbc_chunk *c;
    struct dxbc d;
    uint32_t count, sum[4];

    if (!copy)
        return NULL;
    memcpy(copy, s->bytes, s->size);
    c = dxbc_open(&d, copy, s->size, NULL) ? NULL : dxbc_find(&d, DXBC_FOURCC('I', 'S', 'G', 'N'));
    if (!c || c->size < COUNT_WORDS)
        return copy; /* signatures of newer kinds say it themselves */
    memcpy(&count, c->data, 4);
    for (uint32_t i = 0; i < count && COUNT_WORDS + (i + 1) * ELEMENT <= c->size; i++) {
        uint8_t *element = copy + (c->data - copy) + COUNT_WORDS + (size_t)i * ELEMENT;
        uint32_t reg, type, system;

        memcpy(&reg, element + REGISTER_AT, 4);
        memcpy(&system, element + 8, 4);
        type = reg < 32 && v->uint_inputs >> reg & 1   ? UINT_TYPE
               : reg < 32 && v->sint_inputs >> reg & 1 ? SINT_TYPE
                                                       : 0;
        if (type && !system)
            memcpy(element + TYPE_AT, &type, 4);
    }
    dxbc_sum(copy, s->size, sum);
    memcpy(copy + 4, sum, sizeof(sum));
    return copy;
}

bool shader_dxbc_relevant(const struct shader *s, const struct shader_variant *v, struct shader_variant *out)
{
    uint32_t wrong_uints = v->uint_inputs, wrong_sints = v->sint_inputs;

    memset(out, 0, sizeof(*out));
    if (s->info.kind != SHADER_DXBC)
        return false;
    for (uint32_t i = 0; i < s->info.input_count; i++) {
        const struct shader_element *x = &s->info.inputs[i];
        uint32_t bit = x->location < 32 ? ~(1u << x->location) : UINT32_MAX;

        wrong_uints &= x->component == SHADER_COMPONENT_UINT ? bit : UINT32_MAX;
        wrong_sints &= x->component == SHADER_COMPONENT_SINT ? bit : UINT32_MAX;
    }
    if (s->info.stage == EXEC_VS) {
        out->uint_inputs = wrong_uints;
        out->sint_inputs = wrong_sints;
    }
    if (s->info.stage == EXEC_PS) {
        out->samples = s->info.asks_samples && v->samples > 1 ? v->samples : 0;
        out->dual_source = v->dual_source;
        out->alpha_targets = v->alpha_targets & (uint8_t)s->info.target_mask;
    }
    return out->uint_inputs || out->sint_inputs || out->samples || out->dual_source || out->alpha_targets;
}

/* A pixel shader, with all components of its targets. */
static int translate_pixel(const struct shader *s, const struct shader_variant *v, uint32_t **words,
                           size_t *count, struct error *e)
{
    struct dxbc_shader *x = calloc(1, sizeof(*x));
    uint8_t *bytes = NULL;
    size_t size;
    int ret;

    if (!x)
        return error_set(e, -ENOMEM, "no memory for a shader's signatures");
    ret = dxbc_shader_open(x, s->bytes, s->size, 0, e);
    if (!ret)
        ret = dxbc_fill_targets(&x->container, &x->program, find_any(&x->container, "OSGN", "OSG5", "OSG1"),
                                &x->out, &bytes, &size, e);
    if (!ret)
        ret = translate(s, bytes ? bytes : s->bytes, bytes ? size : s->size, NULL, v, words, count, e);
    free(bytes);
    free(x);
    return ret;
}

int shader_dxbc_translate(const struct shader *s, const struct shader *hull, const struct shader_variant *v,
                          uint32_t **words, size_t *count, struct error *e)
{
    uint8_t *bytes;
    int ret;

    if (s->info.stage == EXEC_PS)
        return translate_pixel(s, v, words, count, e);
    if (!v || s->info.stage != EXEC_VS)
        return translate(s, s->bytes, s->size, hull, v, words, count, e);
    bytes = with_inputs(s, v);
    if (!bytes)
        return error_set(e, -ENOMEM, "no memory for a shader's signatures");
    ret = translate(s, bytes, s->size, NULL, NULL, words, count, e);
    free(bytes);
    return ret;
}

/* ---- what is written to buffers -------------------------------------------- */

static int bad_stream(struct error *e, uint32_t i, const char *what)
{
    return error_set(e, -EINVAL, "DXBC: stream output entry %u %s", i, what);
}

static int read_stream_entry(struct shader *s, const struct dxbc_signature *out,
                             const struct aerogpu_stream_output_entry *from, uint32_t i, struct error *e)
{
    struct shader_stream_element *to = &s->streams->elements[i];
    uint32_t first = from->mask ? (uint32_t)__builtin_ctz(from->mask) : 0,
             n = (uint32_t)__builtin_popcount(from->mask);

    if (!n || from->mask > 15 || from->mask >> first != (1 << n) - 1)
        return bad_stream(e, i, "has components that do not follow each other");
    if (from->slot >= AEROGPU_STREAM_OUTPUT_SLOTS || from->stream >= 4)
        return bad_stream(e, i, "names a slot or stream above 3");
    *to =
        (struct shader_stream_element){.components = (uint8_t)n, .slot = from->slot, .stream = from->stream};
    if (from->reg == AEROGPU_STREAM_OUTPUT_GAP)
        return 0;
    for (uint32_t k = 0; k < out->count && !to->semantic; k++) {
        const struct dxbc_element *x = &out->elements[k];

        if (x->reg != from->reg || (x->mask & from->mask) != from->mask || x->stream != from->stream)
            continue;
        to->semantic = x->name; /* inside of s->bytes */
        to->index = x->index;
        to->component = (uint8_t)(first - (uint32_t)__builtin_ctz(x->mask));
    }
    return to->semantic ? 0 : bad_stream(e, i, "names a register that is not in the signature");
}

static int read_streams(struct shader *s, const struct dxbc_shader *x, struct error *e)
{
    const struct dxbc_chunk *c = dxbc_find(&x->container, AEROGPU_STREAM_OUTPUT_CHUNK);
    struct aerogpu_stream_output_entry entry;
    struct aerogpu_stream_output head;
    int ret = 0;

    if (!c || s->info.stage == EXEC_PS || s->info.stage == EXEC_HS || s->info.stage == EXEC_CS)
        return 0;
    if (c->size < sizeof(head))
        return error_set(e, -EINVAL, "DXBC: a stream output chunk of %u bytes", c->size);
    memcpy(&head, c->data, sizeof(head));
    if (head.count > AEROGPU_STREAM_OUTPUT_MOST || (c->size - sizeof(head)) / sizeof(entry) < head.count)
        return error_set(e, -EINVAL, "DXBC: %u stream output entries do not fit a chunk of %u bytes",
                         head.count, c->size);
    s->streams = calloc(1, sizeof(*s->streams) + head.count * sizeof(s->streams->elements[0]));
    if (!s->streams)
        return error_set(e, -ENOMEM, "no memory for a shader's stream output");
    s->streams->count = head.count;
    s->info.streams = true;
    s->info.rasterized = head.rasterized < 4;
    for (uint32_t i = 0; i < head.count && !ret; i++) {
        memcpy(&entry, c->data + sizeof(head) + i * sizeof(entry), sizeof(entry));
        ret = read_stream_entry(s, &x->out, &entry, i, e);
        if (!ret && !head.strides[entry.slot])
            s->streams->strides[entry.slot] += 4 * (uint32_t)s->streams->elements[i].components;
    }
    for (uint32_t i = 0; i < AEROGPU_STREAM_OUTPUT_SLOTS && !ret; i++) {
        if (head.strides[i])
            s->streams->strides[i] = head.strides[i];
        if (s->streams->strides[i] % 4 || s->streams->strides[i] > 2048)
            ret = error_set(e, -EINVAL, "DXBC: stream output slot %u has a stride of %u bytes", i,
                            s->streams->strides[i]);
    }
    return ret;
}

static uint32_t type_of(enum exec_stage stage)
{
    uint32_t type = 0;

    while (sm4_stage(type) != stage)
        type++;
    return type;
}

static int init_program(struct shader *s, struct dxbc_shader *x, struct error *e)
{
    struct sm4_facts facts;
    int ret = dxbc_shader_open(x, s->bytes, s->size, type_of(s->info.stage), e);

    if (ret)
        return ret;
    s->size = x->container.size;
    s->info.kind = SHADER_DXBC;
    s->info.major = x->program.major;
    s->info.minor = x->program.minor;
    ret = describe_signatures(s, x, e);
    if (ret)
        return ret;
    s->descriptors = calloc(SM4_MAX_DESCRIPTORS, sizeof(*s->descriptors));
    if (!s->descriptors)
        return error_set(e, -ENOMEM, "no memory for a shader's descriptors");
    facts = (struct sm4_facts){&s->info, s->descriptors, 0, SM4_MAX_DESCRIPTORS};
    ret = sm4_describe(&x->program, &facts, e);
    if (ret)
        return ret;
    s->info.descriptor_count = facts.descriptor_count;
    shader_assign_bindings(s);
    ret = read_streams(s, x, e);
    if (ret)
        return ret;
    return shader_dxbc_translate(s, NULL, NULL, &s->words, &s->word_count, e);
}

int shader_dxbc_init(struct shader *s, struct error *e)
{
    struct dxbc_shader *x = calloc(1, sizeof(*x));
    int ret;

    if (!x)
        return error_set(e, -ENOMEM, "no memory for a shader's signatures");
    ret = init_program(s, x, e);
    free(x);
    return ret;
}
