/* SPDX-License-Identifier: MIT */
/* validator.c: what compilers ask whether a shader of Direct3D 9 is one, instruction by instruction. No header has the interface; its
 * names and numbers are what programs use (as Wine's tests have them).
 *
 *   idle ──Begin──▶ no version yet ──the version──▶ instructions ──End──▶ idle: E_FAIL, if a message was given
 *                        └──anything else──▶ broken: all that follows fails, until the object is released
 */
#include "d3d/d3d9/rt9.h"

#include <stdlib.h>

#include "base/export.h"

enum { INPUTS_3_0 = 10 };
enum { /* the message ids; compilers show them with 5000 added */
       BEGIN_TWICE = 0xEB,
       NO_VERSION = 0xEF,
       NOT_A_VERSION = 0xF0,
       BAD_DECLARATION = 0x12C,
       NOT_DECLARED = 0x167
};

typedef HRESULT(WINAPI validator_says)(const char *file, int line, uintptr_t arg, uintptr_t id,
                                       const char *message, void *context);
struct validator;
struct validator_vtbl {
    HRESULT(WINAPI *QueryInterface)(struct validator *v, REFIID riid, void **out);
    ULONG(WINAPI *AddRef)(struct validator *v);
    ULONG(WINAPI *Release)(struct validator *v);
    HRESULT(WINAPI *Begin)(struct validator *v, validator_says *says, void *context, uintptr_t arg);
    HRESULT(WINAPI *Instruction)
    (struct validator *v, const char *file, int line, const DWORD *tokens, UINT count);
    HRESULT(WINAPI *End)(struct validator *v);
};

struct validator {
    const struct validator_vtbl *vtbl;
    LONG refs;
    enum { IDLE, BEGUN, GOING, BROKEN } state;
    validator_says *says;
    void *context;
    uintptr_t arg;
    bool failed;
    DWORD version;
    uint32_t declared; /* inputs of a pixel shader 3.0 */
};

static void say(struct validator *v, const char *file, int line, uintptr_t id, const char *message)
{
    v->failed = true;
    if (v->says)
        v->says(file, line, v->arg, id, message, v->context);
}

static HRESULT WINAPI validator_QueryInterface(struct validator *v, REFIID riid, void **out)
{
    if (!out)
        return E_POINTER;
    *out = IsEqualGUID(riid, &IID_IUnknown) ? v : NULL;
    if (!*out)
        return E_NOINTERFACE;
    v->vtbl->AddRef(v);
    return S_OK;
}

static ULONG WINAPI validator_AddRef(struct validator *v)
{
    return (ULONG)__atomic_add_fetch(&v->refs, 1, __ATOMIC_RELAXED);
}

static ULONG WINAPI validator_Release(struct validator *v)
{
    LONG refs = __atomic_sub_fetch(&v->refs, 1, __ATOMIC_ACQ_REL);

    if (!refs)
        free(v);
    return (ULONG)refs;
}

static HRESULT WINAPI validator_Begin(struct validator *v, validator_says *says, void *context, uintptr_t arg)
{
    v->says = says;
    v->context = context;
    v->arg = arg;
    if (v->state != IDLE) {
        say(v, NULL, 0, BEGIN_TWICE, "Begin() called before End() of the shader before, or behind an error.");
        return E_FAIL;
    }
    v->state = BEGUN;
    v->failed = false;
    v->declared = 0;
    return S_OK;
}

static bool is_input(DWORD token)
{
    return token >> 31 && ((token >> 28 & 7) | (token >> 8 & 0x18)) == D3DSPR_INPUT;
}

/* Of a pixel shader 3.0, that reads what it declared. */
static void check_inputs(struct validator *v, const char *file, int line, const DWORD *tokens, UINT count)
{
    const DWORD op = tokens[0] & 0xFFFF;
    const bool dcl = op == D3DSIO_DCL;

    if (op == D3DSIO_COMMENT || op == D3DSIO_DEF || op == D3DSIO_DEFI || op == D3DSIO_DEFB)
        return; /* what follows are no registers */
    for (UINT i = dcl ? 2 : 1; i < count; i++) {
        const UINT reg = tokens[i] & 0x7FF;

        if (!is_input(tokens[i]))
            continue;
        if (dcl && reg >= INPUTS_3_0)
            say(v, file, line, BAD_DECLARATION, "An input register is declared that there is not.");
        else if (dcl)
            v->declared |= 1u << reg;
        else if (reg >= INPUTS_3_0 || !(v->declared >> reg & 1))
            say(v, file, line, NOT_DECLARED, "An input register is read that was not declared.");
        if (dcl)
            break;
    }
}

static HRESULT WINAPI validator_Instruction(struct validator *v, const char *file, int line,
                                            const DWORD *tokens, UINT count)
{
    if (!tokens || !count || v->state == IDLE || v->state == BROKEN)
        return E_FAIL;
    if (v->state == BEGUN && (count != 1 || tokens[0] >> 17 != 0x7FFF)) {
        say(v, NULL, -1, NO_VERSION, "The first token is no version.");
        say(v, NULL, 0, NOT_A_VERSION, "Validation was aborted.");
        v->state = BROKEN;
        return E_FAIL;
    }
    if (v->state == BEGUN)
        v->version = tokens[0];
    else if (v->version == D3DPS_VERSION(3, 0))
        check_inputs(v, file, line, tokens, count);
    v->state = GOING;
    return S_OK;
}

static HRESULT WINAPI validator_End(struct validator *v)
{
    if (v->state != GOING)
        return E_FAIL;
    v->state = IDLE;
    return v->failed ? E_FAIL : S_OK;
}

EXPORT struct validator *WINAPI Direct3DShaderValidatorCreate9(void);

EXPORT struct validator *WINAPI Direct3DShaderValidatorCreate9(void)
{
    static const struct validator_vtbl vtbl = {validator_QueryInterface, validator_AddRef,
                                               validator_Release,        validator_Begin,
                                               validator_Instruction,    validator_End};
    struct validator *v = calloc(1, sizeof(*v));

    if (v)
        *v = (struct validator){.vtbl = &vtbl, .refs = 1};
    return v;
}
