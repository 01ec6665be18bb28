#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""d3d12_stub_gen.py SRCDIR IDLDIR OUTDIR: a Direct3D 12 that does nothing, and a program that calls all of it.

    d3d12_stub.c     every interface of the installed IDL files, also those that no implementation here has. STUB_BASE: its
                     addresses begin there; STUB_LARGE: resources need more room, and stand farther apart, and
                     the CPU has no memory of its own; STUB_LOG: it
                     says what it is asked for
    d3d12_callall.c  calls each method once with filled arguments: arrays, unions, nested structs, pipeline streams

Recording the program, playing the recording over the stub and recording that again must give the same calls.
"""
import os
import sys

sys.path.insert(0, sys.argv[1])
from gen import load  # noqa: E402


def family(g, name):
    """The interface with most methods that derives from `name`: what an object of that kind really is."""
    best = name
    for n in g.iface_order:
        if name in [c.name for c in g.m.chain(n)] and len(g.m.chain(n)) > len(g.m.chain(best)):
            best = n
    return best


def stub(g):
    m = g.m
    o = ['#include <stdlib.h>', '#include <string.h>', '#include "d3d12_api.h"', '#include "d3d12/gen/table.h"',
         'struct stub { const void *vtbl; unsigned refs; uint64_t number; void *memory; struct stub *next; };',
         '#include <stdio.h>',
         'static uint64_t numbers = 1, base; static struct stub *the_device, *stubs; /* none is freed, none lost */',
         'static void *memory(void *o) { struct stub *s = o; if (!s->memory) s->memory = calloc(1, 65536); return s->memory; }',
         'static int poisoned, hung; /* a draw of 666 vertices was recorded; and executed: the device never gets done */',
         '#define LOG(...) do { if (getenv("STUB_LOG")) { printf("stub: " __VA_ARGS__); fflush(stdout); } } while (0)',
         'static const void *vtables[];',
         'static struct stub *make(unsigned iface) { struct stub *s = calloc(1, sizeof(*s)); s->vtbl = vtables[iface];',
         '    s->refs = 1; s->number = numbers++; s->next = stubs; stubs = s; return s; }',
         'static unsigned wanted(const GUID *iid, unsigned natural) {',
         '    uint16_t i = d12_iface_of(iid); return i == 0xffff || d12_iface_is((uint16_t)natural, i) ? natural : i; }']
    fam = {n: family(g, n) for n in g.iface_order}
    tables = sorted(set(fam.values()), key=g.iface_order.index)
    special = {
        'AddRef': 'return ++((struct stub *)This)->refs;',
        'Release': 'return --((struct stub *)This)->refs;',
        'QueryInterface': '((struct stub *)This)->refs++; *ppvObject = This; return 0;',
        'GetDevice': 'the_device->refs++; *ppvDevice = the_device; return 0;',
        'Map': 'if (ppData) *ppData = memory(This); return 0;',
        'GetGPUVirtualAddress': 'return (((struct stub *)This)->number + base) << 32;',
        'CopyBufferRegion': 'if (SrcOffset + NumBytes <= 65536 && DstOffset + NumBytes <= 65536)'
                            ' memmove((char *)memory(pDstBuffer) + DstOffset, (char *)memory(pSrcBuffer) + SrcOffset, NumBytes);',
        'GetResourceAllocationInfo': '__ret->Alignment = getenv("STUB_LARGE") ? 262144 : 65536;'
                                     ' __ret->SizeInBytes = pResourceDescs->Width * (getenv("STUB_LARGE") ? 3 : 1); return __ret;',
        'GetCompletedValue': 'return hung ? 0 : 1000;',
        'DrawInstanced': 'poisoned |= VertexCountPerInstance == 666;',
        'ExecuteCommandLists': 'hung |= poisoned;',
        'CheckFeatureSupport': 'if (Feature == D3D12_FEATURE_ARCHITECTURE && FeatureSupportDataSize == sizeof(D3D12_FEATURE_DATA_ARCHITECTURE))'
                               ' ((D3D12_FEATURE_DATA_ARCHITECTURE *)pFeatureSupportData)->UMA = getenv("STUB_LARGE") != NULL; return 0;',
        'GetDescriptorHandleIncrementSize': 'return 32;',
        'GetCPUDescriptorHandleForHeapStart': '__ret->ptr = ((struct stub *)This)->number << 32; return __ret;',
        'GetGPUDescriptorHandleForHeapStart': '__ret->ptr = ((struct stub *)This)->number << 32; return __ret;',
        'GetHeapProperties': 'if (pHeapProperties) { memset(pHeapProperties, 0, sizeof(*pHeapProperties));'
                             ' pHeapProperties->Type = D3D12_HEAP_TYPE_UPLOAD; } return 0;',
    }
    # what a program that is played elsewhere can be told apart by: addresses count from the stub's base
    logs = {
        'CreateStateObject': 'if (getenv("STUB_NO_RAYS")) return (HRESULT)0x80004001;',
        'CreateHeap': 'LOG("heap of %llu\\n", (unsigned long long)pDesc->SizeInBytes);',
        'CreateCommittedResource': 'if (pHeapProperties && pHeapProperties->Type == D3D12_HEAP_TYPE_CUSTOM)'
                                   ' LOG("custom, pool %d\\n", pHeapProperties->MemoryPoolPreference);',
        'CreatePlacedResource': 'LOG("placed at %llu\\n", (unsigned long long)HeapOffset);',
        'ExecuteIndirect': 'for (UINT i = 0; i < MaxCommandCount && i < 8; i++) for (UINT k = 0; k < 3; k++) { uint64_t v = 0;'
                           ' memcpy(&v, (char *)memory(pArgumentBuffer) + ArgumentBufferOffset % 32768 + 48 * i + 16 * k, 8);'
                           ' LOG("indirect %u.%u: %llx\\n", i, k, (unsigned long long)(v >> 32 > base ? v - (base << 32) : v)); }',
    }
    for t in tables:
        names = []
        for c in m.chain(t):
            for me in c.methods:
                n = 'stub_%s_%s' % (t, me.name)
                names.append((me.name, n))
                ret = me.retb + ' *' if me.aggregate else me.ret
                ps = ['%s *This' % t] + g.params(me)
                body = special.get(me.name)
                if me.name == 'GetDesc' and me.aggregate:
                    body = 'memset(__ret, 0, sizeof(*__ret));'
                    if me.retb == 'D3D12_RESOURCE_DESC':
                        body += ' __ret->Dimension = D3D12_RESOURCE_DIMENSION_BUFFER; __ret->Width = 65536;'
                    if me.retb == 'D3D12_DESCRIPTOR_HEAP_DESC':
                        body += ' __ret->NumDescriptors = 1024;'
                    body += ' return __ret;'
                if body is None:
                    body = logs.get(me.name, '')
                    for p in me.params:
                        if p.cls == 'outobj':
                            iid = next((q.name for q in me.params if q.k == 'iid'), None)
                            nat = 'D12_IFACE_' + p.iface
                            body += 'if (%s) *(void **)%s = make(%s);' % (
                                p.name, p.name, 'wanted(%s, %s)' % (iid, nat) if iid else nat)
                    body += ('memset(__ret, 0, sizeof(*__ret)); return __ret;' if me.aggregate
                             else '' if me.ret == 'void' else 'return 0;')
                o.append('static %s WINAPI %s(%s) { %s }' % (ret, n, ', '.join(ps), body))
        o.append('static %sVtbl table_%s = {%s};' % (t, t, ', '.join('.%s = %s' % x for x in names)))
    o.append('static const void *vtables[D12_NUM_IFACES] = {%s};' % ', '.join(
        '[D12_IFACE_%s] = &table_%s' % (n, fam[n]) for n in g.iface_order))
    o.append('__attribute__((visibility("default"))) HRESULT vkd3d_create_device(const void *info, const GUID *iid, void **out);')
    o.append('HRESULT vkd3d_create_device(const void *info, const GUID *iid, void **out)'
             ' { if (getenv("STUB_BASE")) base = strtoull(getenv("STUB_BASE"), NULL, 10);'
             ' *out = the_device = make(D12_IFACE_ID3D12Device); return 0; }')
    return '\n'.join(o) + '\n'


class Caller:
    def __init__(self, g):
        self.g, self.m = g, g.m
        self.fills, self.order = {}, []

    def value(self, lv, k, b):
        if k == 'struct':
            self.need(b)
            return 'fill_%s(&%s, depth + 1);' % (b, lv)
        if k == 'enum':
            return '%s = (%s)pick((const uint32_t[]){%s}, %d);' % (
                lv, b, ', '.join('%du' % (v & 0xffffffff) for _, v in self.m.enums[b]), len(self.m.enums[b]))
        if k == 'object':
            return '%s = (void *)pool[D12_IFACE_%s];' % (lv, b)
        if k in ('cpu', 'gpu'):
            return '%s.ptr = %s_base + 32 * number(100);' % (lv, k)
        if k == 'va':
            return '%s = va_base + 16 * number(1000);' % lv
        if k == 'guid':
            return 'memcpy(&%s, &d12_ifaces[D12_IFACE_ID3D12Device].iid, 16);' % lv
        if k == 'f32':
            return '%s = (float)number(1000) / 8;' % lv
        if k == 'str':
            return '%s = "TEXCOORD";' % lv
        if k == 'wstr':
            return '%s = L"nam\\u00e9";' % lv
        if k == 'handle':
            return '%s = (HANDLE)(uintptr_t)(16 * number(3));' % lv
        return '%s = number(3);' % lv

    def field(self, f, lv, fields, owner):
        c = f.cls
        if c == 'value':
            return [self.value(lv, f.k, f.b)]
        if c == 'fixed':
            n = 1
            for d in f.dims:
                n *= d
            return ['for (int i = 0; i < %d; i++) { %s }' % (n, self.value(lv + '[0]' * (len(f.dims) - 1) + '[i]', f.k, f.b))]
        ct = f.b + (' *' if f.k == 'object' else '')
        if c in ('one', 'array', 'inout'):
            return (['v->%s = 0;' % f.pointers] if f.pointers else []) + ['{ %s *p = depth < 6 ? room(64 * sizeof(*p)) : NULL; for (int i = 0; p && i < %d; i++) { %s } %s = (void *)p; }' % (
                ct, 1 if c != 'array' else 10, self.value('p[i]', f.k, f.b), lv)]
        if c == 'oneof':
            out = ['v->%s = (__typeof__(v->%s))pick((const uint32_t[]){%s}, %d);' % (
                f.disc, f.disc, ', '.join('%du' % v for v, _ in f.cases), len(f.cases)), 'switch ((int)v->%s) {' % f.disc]
            for v, b in f.cases:
                out += ['case %d: { %s *p = depth < 6 ? room(sizeof(*p)) : NULL; if (p) { %s } %s = p; break; }' % (
                    v, b, self.value('(*p)', 'struct', b), lv)]
            return out + ['}']
        if c == 'bytes':
            return ['%s = noise(4096);' % lv]
        if c == 'stream':
            return ['%s = stream(&v->%s);' % (lv, f.expr)]
        return []

    def members(self, f, prefix, fields, owner):
        if f.members is not None:
            out = []
            for y in f.members:
                out += self.members(y, prefix + (f.name + '.' if f.name else ''), f.members, owner)
            return out
        return self.field(f, prefix + f.name, fields, owner)

    def need(self, b):
        if b in self.fills:
            return
        self.fills[b] = None
        lines = []
        fields = self.m.structs[b]
        for f in fields:
            if f.cls != 'union':
                lines += self.members(f, 'v->', fields, b)
                continue
            disc, cases = self.m.unions.get(b, (None, None))
            if disc is None:
                x = next(x for x in f.members if x.name == cases)
                lines += self.members(x, 'v->', fields, b)
                continue
            lines.append('v->%s = (__typeof__(v->%s))pick((const uint32_t[]){%s}, %d);' % (
                disc, disc, ', '.join('%du' % v for v, _ in cases), len(cases)))
            lines.append('switch ((int)v->%s) {' % disc)
            for v, name in cases:
                x = next(x for x in f.members if x.name == name)
                lines += ['case %d:' % v] + self.members(x, 'v->', fields, b) + ['break;']
            lines.append('}')
        self.fills[b] = 'static void fill_%s(%s *v, int depth) {\n    %s\n}' % (b, b, '\n    '.join(lines))
        self.order.append(b)

    def text(self):
        g, m = self.g, self.m
        calls, runs = [], []
        for me in g.methods:
            if me.iface in ('Native', 'IUnknown') or me.skip:
                continue
            fam = family(g, me.iface)
            n = '%s_%s' % (me.iface, me.name)
            decl, args, lines = [], [], []
            for p in me.params:
                b = p.b if p.members is None else None
                if p.k == 'iid' and p.cls == 'value':
                    out = next((q for q in me.params if q.cls == 'outobj'), None)
                    args.append('(const GUID *)&d12_ifaces[D12_IFACE_%s].iid' % (out.iface if out else 'ID3D12Device'))
                    continue
                if p.cls == 'outobj':
                    decl.append('void *%s = NULL;' % p.name)
                    args.append('(void *)&%s' % p.name)
                    continue
                if p.cls in ('map', 'opaque', 'ignore', 'outone', 'outarray', 'outbytes'):
                    args.append('room(8192)' if p.stars or p.dims else '(%s){0}' % p.ctype)
                    continue
                ct = p.ctype.replace('const ', '') if not p.stars else p.b + ' *' * (2 if p.cls == 'array' and p.k == 'object' else 1)
                if p.dims:
                    ct = p.b + ' *'
                if p.k in ('str', 'wstr'):
                    ct = p.ctype
                if p.cls == 'bytes':
                    ct = 'void *'
                decl.append('%s %s = {0};' % (ct, p.name) if ct in m.structs else '%s %s = 0;' % (ct, p.name))
                lines += self.field(p, p.name, me.params, '')
                args.append('(void *)%s' % p.name if p.stars and p.k not in ('str', 'wstr') else p.name)
            if me.aggregate:
                args.insert(0, 'room(8192)')
            calls.append('static void call_%s(void) {\n    int depth = 0; (void)depth;\n    %s *o = (void *)pool[D12_IFACE_%s];\n    %s\n    %s\n'
                         '    o->lpVtbl->%s(%s);\n}' % (n, fam, me.iface, '\n    '.join(decl), '\n    '.join(lines), me.name,
                                                       ', '.join(['o'] + args)))
            runs.append('    if (%sall) call_%s();' % ('' if 'refuse' in me.flags else '1 || ', n))
        streams = g.stream_types()
        cases = []
        for v, tb in streams.items():
            cases.append('    case %d: { %s *v = p; int depth = 0; (void)depth; %s break; }' % (
                v, g.ctype(tb), self.value('(*v)', tb[0], tb[1])))
        o = ['#include <stdio.h>', '#include <stdlib.h>', '#include <string.h>', '#include "d3d12/gen/pipeline_stream.h"',
             '#include "d3d12/gen/table.h"', '#include "d3d12_api.h"',
             'static void *pool[D12_NUM_IFACES]; static uint64_t cpu_base, gpu_base, va_base; static uint32_t seed = 1;',
             'HRESULT vkd3d_create_device(const void *info, const GUID *iid, void **out);',
             'static uint32_t number(uint32_t n) { seed = seed * 1664525u + 1013904223u; return 1 + (seed >> 8) % n; }',
             'static uint32_t pick(const uint32_t *v, size_t n) { return v[number((uint32_t)n) - 1]; }',
             'static void *rooms; /* all of them, so that none is lost */',
             'static void *room(size_t n) { void **p = calloc(1, n + 16); *p = rooms; rooms = p; return p + 2; }',
             'static void *noise(size_t n) { uint8_t *p = room(n); for (size_t i = 0; i < n; i++) p[i] = (uint8_t)number(256);'
             ' return p; }',
             'static void *stream(SIZE_T *size);']
        o += [self.fills[b] for b in self.order]
        o.append('static void subobject(uint32_t type, void *p) {\n    switch (type) {\n%s\n    }\n}' % '\n'.join(cases))
        o.append('static void *stream(SIZE_T *size) {\n    uint8_t *p = room(1 << 14); size_t pos = 0;\n'
                 '    for (uint32_t type = 0; type < %d; type++) {\n        size_t start = (pos + 7) & ~(size_t)7, at;\n'
                 '        if (!d12_is_subobject(type)) continue;\n'
                 '        at = stream_place(&pos, type); memcpy(p + start, &type, 4); subobject(type, p + at);\n    }\n'
                 '    *size = (pos + 7) & ~(size_t)7; return p;\n}' % (max(streams) + 1))
        o += calls
        chains = sorted({family(g, n) for n in g.iface_order if not m.ifaces[n].skip}, key=g.iface_order.index)
        o.append('int main(int argc, char **argv) {\n    int all = argc > 1 && !strcmp(argv[1], "all");\n    ID3D12Device11 *device;\n'
                 '    D3D12_CPU_DESCRIPTOR_HANDLE cpu; D3D12_GPU_DESCRIPTOR_HANDLE gpu;\n'
                 '    vkd3d_create_device(NULL, (const GUID *)&d12_ifaces[D12_IFACE_ID3D12Device11].iid, (void **)&device);')
        for t in chains:
            if t == family(g, 'ID3D12Device'):
                o.append('    ID3D12Device_made(device);')
                continue
            o.append('    make_%s(device);' % t)
        makers = []
        for t in chains:
            members = [n for n in g.iface_order if family(g, n) == t]
            sets = ' '.join('pool[D12_IFACE_%s] = o;' % n for n in members)
            if t == family(g, 'ID3D12Device'):
                makers.append('static void ID3D12Device_made(void *o) { %s }' % sets)
            else:
                # a fence by its call, of whatever kind: the stub makes what the IID asks for
                makers.append('static void make_%s(ID3D12Device11 *device) { void *o = NULL; device->lpVtbl->CreateFence(device, 0, 0,'
                              ' (const GUID *)&d12_ifaces[D12_IFACE_%s].iid, &o); %s }' % (t, t, sets))
        tail = []
        while not o[-1].startswith('int main'):
            tail.insert(0, o.pop())
        head = o.pop()
        o += makers + [head] + tail
        o.append('    ((ID3D12DescriptorHeap *)pool[D12_IFACE_ID3D12DescriptorHeap])->lpVtbl->GetCPUDescriptorHandleForHeapStart('
                 'pool[D12_IFACE_ID3D12DescriptorHeap], &cpu); cpu_base = cpu.ptr;')
        o.append('    ((ID3D12DescriptorHeap *)pool[D12_IFACE_ID3D12DescriptorHeap])->lpVtbl->GetGPUDescriptorHandleForHeapStart('
                 'pool[D12_IFACE_ID3D12DescriptorHeap], &gpu); gpu_base = gpu.ptr;')
        o.append('    va_base = ((ID3D12Resource *)pool[D12_IFACE_ID3D12Resource])->lpVtbl->GetGPUVirtualAddress('
                 'pool[D12_IFACE_ID3D12Resource]);')
        # a stream that has a subobject which the tables do not know, behind one that they do
        o.append('    if (argc > 1 && !strcmp(argv[1], "unknown")) {\n'
                 '        struct { uint32_t a, mask, b, c; } s = {14, 7, 999, 1}; void *out = NULL;\n'
                 '        D3D12_PIPELINE_STATE_STREAM_DESC d = {.SizeInBytes = sizeof(s), .pPipelineStateSubobjectStream = &s};\n'
                 '        device->lpVtbl->CreatePipelineState(device, &d, (const GUID *)&d12_ifaces[D12_IFACE_ID3D12PipelineState].iid,'
                 ' &out);\n        return 0;\n    }')
        o.append('    for (int round = 0; round < 5; round++) {')
        o += runs
        o.append('    }\n    puts("called");\n    return 0;\n}')
        return '\n'.join(o) + '\n'


def main():
    src, idl, out = sys.argv[1:4]
    g = load(idl, os.path.join(src, 'd3d12.annot'), os.path.join(src, 'native.idl'))
    with open(os.path.join(out, 'd3d12_stub.c'), 'w') as f:
        f.write(stub(g))
    with open(os.path.join(out, 'd3d12_callall.c'), 'w') as f:
        f.write(Caller(g).text())


main()
