/* SPDX-License-Identifier: MIT */
/* shader.h: what a shader says of itself: its stage and model, what goes in and comes out, and, where its compiler left it
 * (chunk RDEF; of model 6, DXIL, metadata of its bitcode), what it binds and what its constant buffers are made of. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/dxbc/dxbc.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "record/show.h"

#define SHADER_ACCELERATION 12 /* D3D_SHADER_INPUT_TYPE of an acceleration structure */

struct shader_binding {
    const char *name;   /* inside the container */
    uint32_t kind;      /* D3D_SHADER_INPUT_TYPE */
    uint32_t dimension; /* D3D_SRV_DIMENSION; 0: not said */
    uint32_t reg, count, space;
};

struct shader_buffer { /* of constants */
    const char *name;
    uint32_t size;     /* bytes */
    size_t first, num; /* of `variables` */
};

enum shader_layout { SHADER_SCALAR, SHADER_VECTOR, SHADER_MATRIX_ROWS, SHADER_MATRIX_COLUMNS };
enum shader_type { /* D3D_SHADER_VARIABLE_TYPE; the last are of model 6 and have no number there */
                   SHADER_BOOL = 1,
                   SHADER_INT = 2,
                   SHADER_FLOAT = 3,
                   SHADER_UINT = 19,
                   SHADER_DOUBLE = 39,
                   SHADER_HALF = 0x100,
                   SHADER_INT16,
                   SHADER_UINT16,
                   SHADER_INT64,
                   SHADER_UINT64
};

struct shader_variable { /* structs are taken apart, "light[2].colour" */
    char *name;
    uint32_t offset;                                /* in its buffer, bytes */
    uint16_t layout, type, rows, columns, elements; /* enums above; `elements` 0: no array */
};

struct shader {
    const char *stage;     /* "vertex", or "" if it has no program that is known */
    unsigned stage_number; /* D3D12_SHADER_VISIBILITY; 0: compute */
    unsigned major, minor;
    uint64_t hash;      /* of all its bytes */
    uint32_t groups[3]; /* threads of a group; 0: it has none */
    struct dxbc_signature in, out;
    struct dxbc_signature patch; /* constants of one */
    char unnamed[200];           /* why its bindings have no names; "": they have, or there are none */
    char **kept;                 /* names that are in no container */
    size_t num_kept, room_kept;
    struct shader_binding *bindings;
    size_t num_bindings, room_bindings;
    struct shader_buffer *buffers;
    size_t num_buffers, room_buffers;
    struct shader_variable *variables;
    size_t num_variables, room_variables;
};

/* Points into `bytes`. 0; -ENOMEM; or -EBADMSG, and *e says what is not what a shader has. Whatever it answers,
 * shader_finish() gives back what `s` holds. */
int shader_read(struct shader *s, const void *bytes, size_t size, struct error *e);
/* Of model 6 also names and constant buffers, which takes a process (llvm.h). 0 or -ENOMEM. */
int shader_read_names(struct shader *s, const void *bytes, size_t size);
/* A variable of the buffer that is read last, with a copy of `name`. 0, -ENOMEM, or -E2BIG: it has too many. */
int shader_add_variable(struct shader *s, const char *name, const struct shader_variable *v);
/* A copy of `name` that lives as long as `s`, or NULL. */
const char *shader_keep(struct shader *s, const char *name);
void shader_finish(struct shader *s);
/* Whether it may write more than its outputs: it has a view to write through, or nothing says that it has none. */
bool shader_may_write(const void *bytes, size_t size);

/* Appends lines: the shader with what goes in and comes out, and each binding. As JSON each is an object, "role" "shader" or
 * "binding". */
void shader_show(struct strbuf *out, enum show_form form, const struct shader *s, size_t size);
/* The register of buffer `i`, or NULL: nothing says it. */
const struct shader_binding *shader_buffer_binding(const struct shader *s, size_t i);
/* Appends the variables of buffer `i` with the values that `bytes` (`n` of them, of the buffer's beginning) give them; "role"
 * "constants". `what` says where they come from. Beyond `n`: unknown. */
void shader_values(struct strbuf *out, enum show_form form, const struct shader *s, size_t i,
                   const uint8_t *bytes, size_t n, const char *what);
