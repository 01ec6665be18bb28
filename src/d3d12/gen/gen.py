#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gen.py IDLDIR ANNOTATIONS NATIVE OUTDIR: writes the C sources that are made from the Direct3D 12 IDL files.

    d3d12_api.h     declarations: enums, structs, interfaces with their tables, method numbers
    d3d12_table.c   the tables that the printers and the validator walk
    d3d12_record.c  one thunk per method: encode, forward, encode the answer
    d3d12_args.h    one struct of decoded arguments per method
    d3d12_play.c    one decoder per method, and the call itself where nothing special is needed
"""
import hashlib
import math
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from idl import Field, Interface, Method, Model, qualified  # noqa: E402
from player import Player  # noqa: E402

SCALARS = {'BOOL': 'u32', 'UINT': 'u32', 'UINT32': 'u32', 'DWORD': 'u32', 'ULONG': 'u32', 'INT': 'i32', 'INT32': 'i32',
           'LONG': 'i32', 'int': 'i32', 'HRESULT': 'hresult', 'UINT8': 'u8', 'INT8': 'u8', 'BYTE': 'u8', 'UINT16': 'u16',
           'UINT64': 'u64', 'SIZE_T': 'u64', 'ULONG_PTR': 'u64', 'INT64': 'i64', 'LONG_PTR': 'i64', 'FLOAT': 'f32',
           'GUID': 'guid', 'IID': 'guid', 'HANDLE': 'handle', 'LPCSTR': 'str', 'LPCWSTR': 'wstr',
           'REFIID': 'iid', 'REFGUID': 'iid', 'REFCLSID': 'iid', 'D3D12_GPU_VIRTUAL_ADDRESS': 'va',
           'D3D12_CPU_DESCRIPTOR_HANDLE': 'cpu', 'D3D12_GPU_DESCRIPTOR_HANDLE': 'gpu'}
KINDS = ['u8', 'u16', 'u32', 'i32', 'u64', 'i64', 'f32', 'hresult', 'guid', 'handle', 'str', 'wstr', 'iid', 'va', 'cpu',
         'gpu', 'enum', 'object', 'struct']
# Annotations that the tables carry: enum api_method_flags.
TABLE_FLAGS = {'query', 'refuse', 'frame', 'names', 'ends', 'varies', 'counts', 'mark', 'list', 'afresh', 'executes',
               'closes', 'open', 'passes', 'keeps', 'casts', 'once', 'defines', 'copies', 'maps', 'unmaps', 'sets', 'clears', 'says'}


class Gen:
    def __init__(self, m):
        self.m = m
        self.types = []      # table rows
        self.type_index = {}
        self.encs, self.enc_order = {}, []

    # ---- classification -------------------------------------------------------------------------------------
    def base(self, ctype):
        stars = ctype.count('*')
        b = ' '.join(w for w in ctype.replace('*', ' ').split() if w != 'const')
        return b, stars

    def kind(self, b):
        if b in SCALARS:
            return SCALARS[b]
        if b in self.m.typedefs and b not in self.m.structs:
            return self.kind(self.m.typedefs[b])
        if b in self.m.enums:
            return 'enum'
        if b in self.m.structs:
            return 'struct'
        if b in self.m.ifaces:
            return 'object'
        return None

    def real(self, b):
        while b in self.m.typedefs and b not in SCALARS:
            b = self.m.typedefs[b]
        return b

    def classify(self, f, is_param, method=None):
        """Sets f.role and friends: value, fixed, one, array, bytes, stream, opaque, ignore for what goes in;
        outobj, outone, outarray, outbytes, map for what comes out; inout for both."""
        if f.members is not None:
            f.cls = 'union' if f.kind == 'union' else 'nested'
            for x in f.members:
                self.classify(x, False)
            return
        b, stars = self.base(f.ctype)
        f.b, f.stars = self.real(b), stars
        sal, role = f.sal, f.role
        m = re.search(r'(_\w+_)\s*\((.*)\)', sal)
        word, expr = (m.group(1), m.group(2).strip()) if m else (sal.split()[0] if sal else '', None)
        f.expr = f.count or expr
        k = self.kind(b)
        f.k = k
        if role == 'string':
            f.cls, f.k = 'value', 'str'
        elif role == 'loose':
            f.cls = 'value'
        elif role in ('opaque', 'ignore', 'map', 'stream', 'outbytes', 'bytes'):
            f.cls = role
        elif role == 'oneof':  # a pointer to what another field says
            f.cls = role
            disc, *cases = f.count.split()
            f.disc, f.cases = disc, [(int(c.split('=')[0]), c.split('=')[1]) for c in cases]
        elif role == 'index':  # of what it points to, in an array that the call has
            f.cls = role
        elif role == 'gather':  # an array, or one of pointers
            f.cls, f.b = 'array', b
            f.expr, f.pointers = f.count.split()
        elif role in ('in', 'out'):
            f.cls = 'array' if role == 'in' else 'outarray'
        elif stars == 0:
            f.cls = ('array' if is_param else 'fixed') if f.dims else 'value'
            if f.cls == 'array':
                f.expr = str(f.dims[0])
            if k is None:
                f.cls = 'opaque'
        elif stars == 1 and k == 'object':
            f.cls = 'value'
        elif stars == 2 and (k == 'object' or b == 'void'):
            if '_COM_Outptr' in sal or '_Outptr' in sal:
                f.cls = 'outobj' if b != 'ID3DBlob' else 'ignore'
            elif '_In_reads' in sal:
                f.cls, f.k = 'array', 'object'
            else:
                f.cls = 'opaque'
        elif b == 'void':
            f.cls = 'bytes' if '_In_reads' in word or '_Field_size_bytes' in word else (
                'outbytes' if '_Out_writes' in word or '_Inout' in word else 'opaque')
        elif k is None:
            f.cls = 'opaque'
        elif word.startswith(('_In_reads', '_Field_size', '_In_opt_count')):
            f.cls = 'array'
        elif word.startswith('_Out_writes'):
            f.cls = 'outarray'
        elif '_Out_' in sal:
            f.cls = 'outone'
        elif '_Inout' in sal:
            f.cls = 'inout'
        else:
            f.cls = 'one'
        if f.cls in ('outarray', 'array') and f.expr and f.expr.startswith('*'):
            f.expr = '(%s ? %s : 0)' % (f.expr[1:].strip(), f.expr)
        if f.cls == 'outobj':
            f.iface = self.natural(f, method) if is_param else None

    def natural(self, f, method):
        if method and method.natural:
            return method.natural
        if f.k == 'object':
            return f.b
        n = re.sub(r'^ppv?', '', f.name)
        return 'ID3D12' + n if 'ID3D12' + n in self.m.ifaces else 'IUnknown'

    def prepare(self):
        m = self.m
        for fields in m.structs.values():
            for f in fields:
                self.classify(f, False)
        nid = 1
        order = ['Native', 'IUnknown', 'ID3D12GraphicsCommandList'] + [
            n for n in m.ifaces if n not in ('Native', 'IUnknown', 'ID3D12GraphicsCommandList')]
        self.methods = []
        for name in order:
            i = m.ifaces[name]
            first = sum(len(c.methods) for c in m.chain(name)[:-1]) if name != 'Native' else 0
            for slot, me in enumerate(i.methods):
                if me.name.startswith('Create') or me.name in ('Signal', 'Wait', 'Map'):
                    me.flags.add('mark')
                if name.startswith('ID3D12GraphicsCommandList'):
                    me.flags.add('list')
                me.slot = first + slot
                me.id, nid = nid, nid + 1
                me.skip = i.skip or ('norec' in me.flags and 'flagged')
                for p in me.params:
                    self.classify(p, True, me)
                if me.params and me.params[-1].name == 'DestDescriptor':
                    me.flags.add('defines')
                b, stars = self.base(me.ret)
                me.retb, me.retk = b, None if me.ret == 'void' else ('opaque' if stars else self.kind(b))
                me.aggregate = me.retk in ('struct', 'cpu', 'gpu')
                me.outs = [p for p in me.params if p.cls.startswith('out') or p.cls in ('map', 'inout')]
                me.has_result = me.ret != 'void' or bool(me.outs)
                me.late = bool(me.outs) or me.retk not in (None, 'hresult') and me.name not in ('AddRef', 'Release')
                self.methods.append(me)
        self.iface_order = [n for n in m.ifaces if n != 'Native']
        self.iface_index = {n: k for k, n in enumerate(self.iface_order)}

    # ---- declarations ---------------------------------------------------------------------------------------
    def decl_fields(self, fields, ind):
        out = ''
        for f in fields:
            pad = '    ' * ind
            if f.members is not None:
                out += '%s%s {\n%s%s}%s;\n' % (pad, f.kind, self.decl_fields(f.members, ind + 1), pad,
                                               ' ' + f.name if f.name else '')
            else:
                ct = f.ctype
                b, _ = self.base(ct)
                if b in self.m.structs and '*' in ct:
                    ct = re.sub(r'\b%s\b' % b, 'struct ' + b, ct)
                out += '%s%s %s%s%s;\n' % (pad, ct, f.name, ''.join('[%d]' % d for d in f.dims),
                                           ' : %d' % f.bits if f.bits else '')
        return out

    def params(self, me, names=True):
        out = []
        if me.aggregate:
            out.append('%s *__ret' % me.retb)
        for p in me.params:
            out.append('%s %s%s' % (p.ctype, p.name, ''.join('[%d]' % d for d in p.dims)))
        return out

    def api(self):
        m = self.m
        o = ['/* Made by gen.py from the installed IDL files. */', '#pragma once',
             '#include "d3d12/gen/win.h"', '']
        for n, v in m.consts.items():
            if n.startswith('D3D12_'):
                o.append('#define %s %s' % (n, hex(v) if v > 0x7fffffff else v))
        for n in m.ifaces:
            if n != 'Native' and n != 'IUnknown':
                o.append('typedef struct %s %s;' % (n, n))
        o += ['#ifndef _WIN32', 'typedef struct IUnknown IUnknown;', '#endif']
        for what, n in m.order:
            if what == 'enum':
                o.append('typedef enum %s {' % n)
                o += ['    %s = %s,' % (k, '(int)0x%xu' % v if v > 0x7fffffff else v) for k, v in m.enums[n]]
                o.append('} %s;' % n)
            elif what == 'struct':
                if n == 'LUID':
                    o.append('#ifndef _WIN32')
                o.append('typedef struct %s {\n%s} %s;' % (n, self.decl_fields(m.structs[n], 1), n))
                if n == 'LUID':
                    o.append('#endif')
            else:
                o.append('typedef %s %s;' % (m.typedefs[n], n))
        for n in m.ifaces:
            if n == 'Native':
                continue
            if n == 'IUnknown':
                o.append('#ifndef _WIN32')
            o.append('typedef struct %sVtbl {' % n)
            for i in m.chain(n):
                for me in i.methods:
                    ps = ['%s *This' % n] + self.params(me)
                    ret = me.retb + ' *' if me.aggregate else me.ret
                    o.append('    %s (WINAPI *%s)(%s);' % (ret, me.name, ', '.join(ps)))
            o.append('} %sVtbl;\nstruct %s {\n    const %sVtbl *lpVtbl;\n};' % (n, n, n))
            if n == 'IUnknown':
                o.append('#endif')
        o.append('\nenum d12_method {\n    D12_NONE,')
        o += ['    D12_%s_%s = %d,' % (me.iface, me.name, me.id) for me in self.methods]
        o.append('    D12_NUM_METHODS\n};\n\n/* where a method stands in the tables of its interface */\nenum d12_slot {')
        o += ['    D12_SLOT_%s_%s = %d,' % (me.iface, me.name, me.slot) for me in self.methods]
        o.append('};\n\nenum d12_iface {')
        o += ['    D12_IFACE_%s = %d,' % (n, k) for n, k in self.iface_index.items()]
        o.append('    D12_NUM_IFACES,\n    D12_IFACE_UNKNOWN = 0xffff\n};')
        o.append('#define D12_MAX_SLOTS %d' % max(
            sum(len(i.methods) for i in m.chain(n)) for n in self.iface_order))
        return '\n'.join(o) + '\n'

    # ---- tables ---------------------------------------------------------------------------------------------
    def type_of(self, k, b, nested=None):
        """Index of a table row for one value."""
        key = (k, b) if k in ('enum', 'struct', 'object') else (k, None)
        if k is None:
            raise SystemExit('no kind for ' + str(b))
        if key in self.type_index:
            return self.type_index[key]
        idx = len(self.types)
        self.type_index[key] = idx
        self.types.append(None)
        fields = self.table_fields(nested if nested is not None else self.m.structs[b], b) if k == 'struct' else []
        self.types[idx] = (k, b if key[1] else k, fields)
        return idx

    def table_field(self, f, owner):
        """(name, type, mode, count)"""
        mode = {'value': 'VALUE', 'fixed': 'FIXED', 'one': 'ONE', 'array': 'ARRAY', 'bytes': 'BYTES',
                'stream': 'STREAM', 'opaque': 'OPAQUE', 'index': 'VALUE', 'ignore': 'IGNORE', 'outobj': 'VALUE', 'outone': 'ONE',
                'outarray': 'ARRAY', 'outbytes': 'BYTES', 'map': 'OPAQUE', 'inout': 'ONE'}[f.cls]
        if f.cls == 'outobj':
            return (f.name, self.type_of('object', f.iface), mode, 0)
        if f.cls == 'index':
            return (f.name, self.type_of('u32', None), mode, 0)
        t = 0
        if mode in ('VALUE', 'FIXED', 'ONE', 'ARRAY'):
            t = self.type_of(f.k, f.b)
        n = math.prod(f.dims)
        return (f.name, t, mode, n if mode == 'FIXED' else 0)

    def table_fields(self, fields, owner):
        out = []
        for f in fields:
            if f.cls == 'union':
                disc, cases = self.m.unions.get(owner, (None, None))
                if cases is None:
                    continue
                rows = []
                for v, name in ([(0, cases)] if disc is None else cases):
                    x = next(x for x in f.members if x.name == name)
                    if x.members is not None:
                        rows.append((v, (x.name, self.type_of('struct', owner + '_' + x.name, x.members), 'VALUE', 0)))
                    else:
                        rows.append((v, self.table_field(x, owner)))
                d = 0xff if disc is None else [y.name for y in fields].index(disc)
                out.append(('', 0, 'UNION', rows, d))
            elif f.cls == 'oneof':
                out.append(('', 0, 'UNION', [(v, (f.name, self.type_of('struct', b), 'ONE', 0)) for v, b in f.cases],
                            [y.name for y in fields].index(f.disc)))
            else:
                out.append(self.table_field(f, owner))
        return out

    def table(self):
        m = self.m
        self.type_of('u32', None)
        streams = self.stream_types()
        cases = []
        for v, tb in streams.items():
            i = self.type_of(*tb)
            cases.append('{%d, {"%s", &d12_types[%d], API_MODE_VALUE, 0, 0, 0, 0}}' % (
                v, tb[1] if tb[0] in ('enum', 'struct', 'object') else tb[0], i))
        arrays = ['static const struct api_case stream_cases[] = {\n    %s};' % ',\n    '.join(cases)]
        meth = []
        num = [0]

        def field_row(f):
            if f[2] == 'UNION':
                num[0] += 1
                cn = 'cases_%d' % num[0]
                arrays.append('static const struct api_case %s[] = {%s};' % (
                    cn, ', '.join('{%d, %s}' % (v, field_row(r)) for v, r in f[3])))
                return '{"", 0, API_MODE_UNION, %d, 0, %s, %d}' % (f[4], cn, len(f[3]))
            if f[2] == 'STREAM':
                return '{"%s", 0, API_MODE_STREAM, 0, 0, stream_cases, %d}' % (f[0], len(streams))
            typed = f[2] in ('VALUE', 'FIXED', 'ONE', 'ARRAY')
            return '{"%s", %s, API_MODE_%s, 0, %d, 0, 0}' % (f[0], '&d12_types[%d]' % f[1] if typed else '0', f[2], f[3])

        def fields_array(name, fields):
            if not fields:
                return '0'
            rows = ',\n    '.join(field_row(f) for f in fields)
            arrays.append('static const struct api_field %s[] = {\n    %s};' % (name, rows))
            return name

        states = sorted({me.state for me in self.methods if me.state})
        for me in self.methods:
            if me.skip:
                continue
            ins = [self.table_field(p, '') for p in me.params if not p.cls.startswith('out') and p.cls != 'map']
            outs = []
            if me.ret != 'void':
                outs.append(('return', 0 if me.retk == 'opaque' else self.type_of(me.retk, self.real(me.retb)),
                             'OPAQUE' if me.retk == 'opaque' else 'VALUE', 0))
            outs += [self.table_field(p, '') for p in me.outs]
            flags = sorted(me.flags & TABLE_FLAGS)
            me.state_row = (1 + states.index(me.state) if me.state else 0,
                            1 + [f[0] for f in ins].index(me.state_of) if me.state_of else 0)
            i = m.ifaces[me.iface]
            meth.append((me, fields_array('in_%d' % me.id, ins), len(ins), fields_array('out_%d' % me.id, outs),
                         len(outs), flags))
        enums, erows = [], {}
        for k, b, _ in self.types:
            if k == 'enum':
                erows[b] = 'enum_%s' % b
                enums.append('static const struct api_enum enum_%s[] = {\n    %s};' % (
                    b, ',\n    '.join('{%d, "%s"}' % (v & 0xffffffff, n) for n, v in m.enums[b])))
        trows = []
        for idx, (k, b, fields) in enumerate(self.types):
            fa = fields_array('fields_%d' % idx, fields)
            n = len(fields)
            extra = '0, 0'
            if k == 'enum':
                flags = [v for _, v in m.enums[b] if v > 0]
                is_flags = b.endswith(('_FLAGS', 'STATES', 'SYNC', 'ACCESS')) and len(flags) > 0
                extra = '%s, %d' % (erows[b], len(m.enums[b]))
                n = 1 if is_flags else 0
            iface = self.iface_index.get(b, 0xffff) if k == 'object' else 0
            if k is None:
                raise SystemExit('no kind for type %r %r' % (b, idx))
            trows.append('{API_KIND_%s, "%s", %s, %d, %s, %d}' % (k.upper(), b, fa, n, extra, iface))
        o = ['/* Made by gen.py from the installed IDL files. */', '#include "d3d12/gen/table.h"', '#include "d3d12_api.h"', '']
        o += enums + arrays
        o.append('const struct api_type d12_types[] = {\n    %s};' % ',\n    '.join(trows))
        o.append('const struct api_method d12_methods[D12_NUM_METHODS] = {')
        for me, a, na, b, nb, flags in meth:
            fl = ' | '.join(['API_' + f.upper() for f in flags] + (['API_LATE'] if me.late else []) +
                            (['API_RESULT'] if me.has_result else [])) or '0'
            o.append('    [%d] = {"%s", "%s", %s, %d, %s, %d, %s, %d, %d, %d, %d},' % (
                me.id, me.iface, me.name, a, na, b, nb, fl,
                self.iface_index.get(me.iface, 0xffff), me.slot, *me.state_row))
        o.append('};')
        o.append('const struct api_iface d12_ifaces[D12_NUM_IFACES] = {')
        for n in self.iface_order:
            i = m.ifaces[n]
            d = i.iid.replace('-', '')
            g = '{0x%s, 0x%s, 0x%s, {%s}}' % (d[:8], d[8:12], d[12:16],
                                              ', '.join('0x' + d[j:j + 2] for j in range(16, 32, 2)))
            slots = sum(len(c.methods) for c in m.chain(n))
            o.append('    [%d] = {"%s", %s, %s, %d, %s},' % (
                self.iface_index[n], n, self.iface_index[i.base] if i.base else '0xffff', g, slots,
                '"%s"' % i.skip if i.skip else '0'))
        o.append('};')
        o.append('const struct api d12_api = {\n    .name = "Direct3D 12", .magic = "D3D12TRC", .prefix = "ID3D12",\n'
                 '    .tables = "the same d3d12.idl (meson -Dd3d12_idl_dir=...)",\n'
                 '    .schema = UINT64_C(0x%s),\n    .methods = d12_methods, .num_methods = D12_NUM_METHODS,\n'
                 '    .words = {.draw = "^(Draw|Dispatch|ExecuteIndirect|ExecuteBundle)",\n'
                 '              .state = "^(IA|RS|OM|SO)Set|^Set(?!Marker|Name|Private)", .write = "^(Clear|Copy|Resolve)",\n'
                 '              .frame = "^Present$", .list = "CommandList", .begin = "^BeginEvent$", .end = "^EndEvent$"},\n    .said = d12_said,\n'
                 '    .ifaces = d12_ifaces, .num_ifaces = D12_NUM_IFACES,\n    .note = D12_Native_Note, .memory_write = D12_Native_MemoryWrite,\n    .readback_hash = D12_Native_ReadbackHash,\n'
                 '    .frame_hash = D12_Native_FrameHash, .contents = D12_Native_Contents,\n};'
                 % self.schema(meth))
        o.append('_Static_assert(D12_NUM_METHODS <= API_MAX_METHODS, "record/api.h");')
        return '\n'.join(o) + '\n'

    def schema(self, methods):
        """What the bytes of a recording depend on: which number a method, a type of object and an interface has, in which order
        fields travel and how, and whether an answer stands behind them. Not what is done with it (flags, states), nor the names
        of values."""
        types = [(k, b, fields) for k, b, fields in self.types]
        rows = [(me.id, me.iface, me.name, [self.table_field(p, '') for p in me.params if not p.cls.startswith('out') and p.cls != 'map'],
                 [me.ret] + [self.table_field(p, '') for p in me.outs], bool(me.late), bool(me.has_result)) for me, *_ in methods]
        shape = repr((types, sorted(self.stream_types().items()), rows, self.iface_order))
        return hashlib.sha256(shape.encode()).hexdigest()[:16]

    # ---- encoding -------------------------------------------------------------------------------------------
    def enc_value(self, f, lv, k=None, b=None):
        k, b = k or f.k, b or f.b
        if k == 'struct':
            self.need_enc(b)
            return 'enc_s_%s(e, &%s);' % (b, lv)
        if k == 'enum':
            return 'enc_u32(e, (uint32_t)%s);' % lv
        if k == 'object':
            return 'enc_object(e, %s);' % lv
        if k in ('cpu', 'gpu'):
            return 'enc_%s(e, %s.ptr);' % (k, lv)
        if k == 'guid':
            return 'enc_guid(e, &%s);' % lv
        return 'enc_%s(e, %s);' % (k, lv)

    def enc_field(self, f, lv, owner, fields, prefix, out=False):
        def ex(s):
            return qualified(s, fields, prefix)
        cls = f.cls
        if cls == 'value':
            return [self.enc_value(f, lv)]
        if cls == 'fixed':
            n = math.prod(f.dims)
            ptr = lv + '[0]' * (len(f.dims) - 1)
            return ['for (size_t i = 0; i < %d; i++)' % n, '    ' + self.enc_value(f, ptr + '[i]')]
        if cls in ('one', 'outone', 'inout'):
            return ['if (enc_present(e, %s))' % lv, '    ' + self.enc_value(f, '(*%s)' % lv)]
        if cls == 'oneof':
            out = ['switch ((int)%s) {' % (prefix + f.disc)]
            for v, b in f.cases:
                self.need_enc(b)
                out += ['case %d:' % v, '    if (enc_present(e, %s))' % lv, '        enc_s_%s(e, (const %s *)%s);' % (b, b, lv),
                        '    break;']
            return out + ['}']
        if cls == 'index':
            return ['enc_u32(e, %s(%s));' % (f.count, lv)]
        if cls == 'array' and f.pointers:
            self.need_enc(f.b)
            return ['for (size_t i = 0, n = enc_count(e, %s, %s); i < n && enc_room(e); i++)' % (lv, ex(f.expr)),
                    '    enc_s_%s(e, %s ? ((const %s *const *)%s)[i] : &%s[i]);' % (f.b, ex(f.pointers), f.b, lv, lv)]
        if cls in ('array', 'outarray'):
            return ['for (size_t i = 0, n = enc_count(e, %s, %s); i < n && enc_room(e); i++)' % (lv, ex(f.expr)),
                    '    ' + self.enc_value(f, lv + '[i]')]
        if cls in ('bytes', 'outbytes'):
            return ['enc_bytes(e, %s, %s);' % (lv, ex(f.expr))]
        if cls == 'stream':
            return ['enc_stream(e, %s, %s);' % (lv, ex(f.expr))]
        if cls in ('opaque', 'map'):
            if owner and not f.role:
                raise SystemExit('%s.%s: no way to encode %s' % (owner, f.name, f.ctype))
            return ['enc_present(e, %s);' % lv]
        if cls == 'ignore':
            return []
        if cls == 'outobj':
            iid = next((p.name for p in fields if p.k == 'iid'), None)
            return ['enc_new_object(e, %s ? *(void **)%s : NULL, %s, D12_IFACE_%s, %s);' % (
                lv, lv, '(const GUID *)' + iid if iid else 'NULL', f.iface,
                'SUCCEEDED(ret)')]
        raise SystemExit('cannot encode ' + cls)

    def need_enc(self, b):
        if b in self.encs:
            return
        self.encs[b] = None
        fields = self.m.structs[b]
        lines = []
        for f in fields:
            if f.cls == 'union':
                disc, cases = self.m.unions.get(b, (None, None))
                if cases is None:
                    raise SystemExit('union in %s has no annotation' % b)
                if disc is None:
                    x = next(x for x in f.members if x.name == cases)
                    lines += self.enc_member(x, 'v->', b, fields)
                    continue
                lines.append('switch ((int)v->%s) {' % disc)
                for v, name in cases:
                    x = next(x for x in f.members if x.name == name)
                    lines += ['case %d:' % v] + ['    ' + s for s in self.enc_member(x, 'v->', b, fields)] + ['    break;']
                lines.append('}')
            else:
                lines += self.enc_member(f, 'v->', b, fields)
        self.encs[b] = 'static void REC_ABI enc_s_%s(struct enc *e, const %s *v)\n{\n    %s\n}\n' % (b, b, '\n    '.join(lines))
        self.enc_order.append(b)

    def enc_member(self, f, prefix, owner, fields):
        if f.members is not None:
            out = []
            for y in f.members:
                out += self.enc_member(y, prefix + (f.name + '.' if f.name else ''), owner, f.members)
            return out
        return self.enc_field(f, prefix + f.name, owner, fields, prefix)

    def record(self):
        body, thunks = [], {}
        for me in self.methods:
            if me.iface == 'Native' or me.skip:
                continue
            name = '%s_%s' % (me.iface, me.name)
            ps = ['%s *This' % me.iface] + self.params(me)
            args = ['This'] + (['__ret'] if me.aggregate else []) + [p.name for p in me.params]
            ret = me.retb + ' *' if me.aggregate else me.ret
            isvoid = me.ret == 'void'
            queue = me.iface == 'ID3D12CommandQueue' and 'query' not in me.flags
            mode = 'REC_MODE_LATE' if me.late else (
                'REC_MODE_LOAD' if me.iface.startswith('ID3D12GraphicsCommandList') and isvoid else 'REC_MODE_TICKET')
            ins, outs = [], []
            for p in me.params:
                if not p.cls.startswith('out') and p.cls != 'map':
                    ins += self.enc_field(p, p.name, '', me.params, '')
            if not isvoid:
                if me.retk == 'opaque':
                    outs.append('enc_present(e, ret);')
                elif me.aggregate:
                    f = Field(me.retb, '', [])
                    f.k, f.b = me.retk, me.retb
                    outs.append(self.enc_value(f, '(*__ret)'))
                else:
                    f = Field(me.retb, '', [])
                    f.k, f.b = me.retk, me.retb
                    outs.append(self.enc_value(f, 'ret'))
            for p in me.outs:
                outs += self.enc_field(p, p.name, '', me.params, '')
            if isvoid and any('SUCCEEDED(ret)' in s for s in outs):
                outs = [s.replace('SUCCEEDED(ret)', '1') for s in outs]
            # what only records into a list, answers nothing, and needs nothing else: rec.h, the short way
            short = mode == 'REC_MODE_LOAD' and not me.has_result and not me.flags & {'pre', 'post'}
            t = ['typedef %s (WINAPI *pfn_%s)(%s);' % (ret, name, ', '.join(ps))]
            t.append('static %s%s WINAPI %s_%s(%s)\n{' % ('__attribute__((noinline, cold)) ' if short else '', ret,
                                                        'long' if short else 'thunk', name, ', '.join(ps)))
            t.append('    struct rec_thread *t = rec_enter();')
            t.append('    if (!t)')
            call = '((pfn_%s)rec_orig(This, %d))(%s);' % (name, me.slot, ', '.join(args))
            if isvoid:
                t[-1] += ' {'
                t += ['        ' + call, '        return;', '    }']
            else:
                t.append('        return ' + call)
            t.append('    struct rec_object *o = rec_object_of(t, This);')
            t.append('    pfn_%s orig = (pfn_%s)o->orig[%d];' % (name, name, me.slot))
            t.append('    struct enc *e = &t->enc;')
            hookargs = ', '.join(['t', 'o'] + args)
            if 'pre' in me.flags:
                t.append('    rec_pre_%s(%s);' % (name, hookargs))
            if queue:
                t.append('    rec_lock(o);')
            t.append('    do {\n        rec_begin(t, o, %d, %s);' % (me.id, mode))
            t += ['        ' + s for s in ins]
            values = self.values_of(me) if short else None
            t.append('    } while (rec_args_done(t, %d, %s));' % (
                me.id, 'REC_ANSWER' if me.has_result else 'REC_RETURNS' if values is None else 'REC_RETURNS_VALUES'))
            t.append('    t->depth++;')
            t.append('    %sorig(%s);' % ('' if isvoid else ret + (' ' if ret[-1] != '*' else '') + 'ret = ', ', '.join(args)))
            t.append('    t->depth--;')
            if not me.has_result:
                t.append('    rec_returned(t);')
            if queue:
                t.append('    rec_unlock(o);')
            if me.has_result:
                t.append('    do {\n        rec_result(t, %s);' % mode)
                t += ['        ' + s for s in outs]
                t.append('    } while (rec_result_done(t));')
            if 'post' in me.flags:
                t.append('    rec_post_%s(%s);' % (name, ', '.join(['t', 'o'] + ([] if isvoid else ['ret']) + args)))
            if not isvoid:
                t.append('    return ret;')
            t.append('}\n')
            if short:
                t += self.short_thunk(me, name, ps, args, ins, values)
            body.append('\n'.join(t))
            thunks[(me.iface, me.name)] = 'thunk_' + name
        o = ['/* Made by gen.py from the installed IDL files. */', '#include "d3d12/record/rec_values.h"',
             '#include "d3d12/record/rec_hooks.h"', '']
        streams = self.stream_types()
        for b in streams.values():
            if b[0] == 'struct':
                self.need_enc(b[1])
        o += [self.encs[b] for b in self.enc_order]
        o.append(self.stream_encoder(streams))
        o.append('void enc_resource_desc(struct enc *e, const D3D12_RESOURCE_DESC *v)\n{\n    enc_s_D3D12_RESOURCE_DESC(e, v);\n}\n')
        o += body
        for n in self.iface_order:
            if self.m.ifaces[n].skip:
                continue
            row = []
            for c in self.m.chain(n):
                for me in c.methods:
                    row.append('(void *)' + thunks[(c.name, me.name)] if (c.name, me.name) in thunks else 'NULL')
            o.append('static void *const table_%s[] = {%s};' % (n, ', '.join(row)))
        o.append('void *const *const rec_thunks[D12_NUM_IFACES] = {')
        o += ['    %s,' % ('NULL' if self.m.ifaces[n].skip else 'table_' + n) for n in self.iface_order]
        o.append('};')
        return '\n'.join(o) + '\n'

    def is_flat(self, f):
        """A number, or a structure of numbers without gaps, that two calls can be compared by: its size in bytes, and whether
        all of it are floats; None: it is something else."""
        if self.real(f.b) in ('SIZE_T', 'ULONG_PTR', 'LONG_PTR'):
            return None  # as wide as a pointer
        sizes = {'u8': 1, 'u16': 2, 'u32': 4, 'i32': 4, 'enum': 4, 'f32': 4, 'u64': 8, 'i64': 8}
        if f.k in sizes:
            return sizes[f.k], f.k == 'f32'
        if f.k != 'struct':
            return None
        fields = self.m.structs[f.b]
        each = [self.is_flat(x) if x.members is None and x.cls == 'value' and not x.bits else None for x in fields]
        if not all(each) or len({n for n, _ in each}) != 1:
            return None
        return sum(n for n, _ in each), all(x for _, x in each)

    def values_of(self, me):
        """How a method's arguments are compared: (parameter, word, size of an array's element or None); None: by their bytes."""
        out, word, array = [], 0, None
        for p in me.params:
            if p.cls == 'value' and p.k in ('u8', 'u16', 'u32', 'i32', 'u64', 'i64', 'f32', 'enum', 'va', 'cpu', 'gpu', 'object'):
                out.append((p, word, None))
                word += 2 if p.k == 'object' else 1
            elif p.cls == 'array' and not p.pointers and not array and self.is_flat(p) and self.is_flat(p)[0] % 4 == 0:
                array = p
            else:
                return None
        return out + ([(array, word, self.is_flat(array)[0])] if array else [])

    def short_thunk(self, me, name, ps, args, ins, values, same_objects=False):
        """The thunk of a method that only records into a list; what it cannot do long_X() does. Where calls differ in more than
        their objects those mostly stay: such a thunk has none looked up, and so needs few registers; others_X() does that."""
        objects = [(p, w) for p, w, _ in values or [] if p.k == 'object']
        split = objects and len(objects) < len(values)
        t = self.short_thunk(me, name, ps, args, ins, values, True) if split and not same_objects else []
        away = '    if (%%s) {\n        %s_%s(%s);\n        return;\n    }' % ('others' if same_objects else 'long', name, ', '.join(args))
        if same_objects:
            t.append('static void WINAPI others_%s(%s);' % (name, ', '.join(ps)))
        t += ['static %svoid WINAPI %s_%s(%s)\n{' % (('__attribute__((noinline)) ', 'others') + (name, ', '.join(ps)) if split and not same_objects
                                                     else ('', 'thunk') + (name, ', '.join(ps))),
             '    struct rec_thread *t = rec_self;',
             away % '!rec_short_begins(t, This)',
             '    struct rec_last *last = &t->last[%d];' % me.id,
             '    uint8_t *hdr = t->w, *args = varint_put(hdr, %d << REC_FLAG_BITS);' % me.id,
             '    struct enc enc = {args, t->limit, false}, *e = &enc;']
        if values is None:
            t += ['    ' + s for s in ins]
            t.append(away % 'enc.full')
            t.append('    uint8_t *end = rec_short_bytes(t, last, hdr, args, e->p);')
        else:
            stamp = 't->object_stamp' if any(p.k in ('object', 'va', 'cpu', 'gpu') for p, _, _ in values) else 't->chunk_stamp'
            same, keep, enc = ['known'], [] if same_objects else ['last->stamp = %s;' % stamp], {}
            if same_objects:
                t.append(away % ' || '.join(['last->stamp != ' + stamp] + [
                    'last->values[%d] != (uintptr_t)%s' % (w, p.name) for p, w in objects]))
            for p, w, size in values:
                at = 'last->values[%d]' % w
                if size:
                    n = '(size_t)(%s)' % qualified(p.expr, me.params, '')
                    t.append(away % ('(%s && !%s) || %s > sizeof(last->values[0]) * (REC_VALUES - %d) / %d' % (n, p.name, n, w, size)))
                    same.append('rec_same(&%s, %s, %s * %d)' % (at, p.name, n, size))
                    keep.append('rec_copy(&%s, %s, %s * %d);' % (at, p.name, n, size))
                    if self.is_flat(p)[1]:
                        enc[p.name] = ['enc_count(e, %s, %s);' % (p.name, n), 'rec_copy(e->p, %s, %s * %d);' % (p.name, n, size),
                                       'e->p += %s * %d;' % (n, size)]
                elif p.k == 'object':
                    enc[p.name] = ['enc_var(e, last->values[%d]);' % (w + 1)]
                    if same_objects:
                        continue
                    same.append('%s == (uintptr_t)%s' % (at, p.name))
                    keep.append('if (!known || %s != (uintptr_t)%s) {' % (at, p.name))
                    keep.append('    %s = (uintptr_t)%s;' % (at, p.name))
                    keep.append('    last->values[%d] = rec_object_number(%s);\n        }' % (w + 1, p.name))
                else:
                    value = 'enc_float_bits(%s)' % p.name if p.k == 'f32' else '(uint64_t)%s%s' % (
                        p.name, '.ptr' if p.k in ('cpu', 'gpu') else '')
                    same.append('%s == %s' % (at, value))
                    keep.append('%s = %s;' % (at, value))
            t.append('    uint8_t *end = args;')
            if values:
                t.append('    const bool known = %s;' % ('true' if same_objects else 'last->stamp == ' + stamp))
                t.append('    if (%s) {\n        varint_put(hdr, %d << REC_FLAG_BITS | REC_REPEAT);\n    } else {' % (' && '.join(same), me.id))
                t += ['        ' + s for s in keep]
                for p in me.params:
                    t += ['        ' + s for s in enc.get(p.name) or self.enc_field(p, p.name, '', me.params, '')]
                t.append('        end = e->p;\n    }')
        t.append('    pfn_%s orig = (pfn_%s)t->list_orig[%d];' % (name, name, me.slot))
        t += ['    rec_short_done(t, end);', '    orig(%s);' % ', '.join(args), '    rec_short_returned(t);', '}\n']
        return t

    # The stream's subobject types stand in comments of the IDL file; their values in the enum.
    STREAM = {'ROOT_SIGNATURE': ('object', 'ID3D12RootSignature'), 'VS': ('struct', 'D3D12_SHADER_BYTECODE'),
              'PS': ('struct', 'D3D12_SHADER_BYTECODE'), 'DS': ('struct', 'D3D12_SHADER_BYTECODE'),
              'HS': ('struct', 'D3D12_SHADER_BYTECODE'), 'GS': ('struct', 'D3D12_SHADER_BYTECODE'),
              'CS': ('struct', 'D3D12_SHADER_BYTECODE'), 'AS': ('struct', 'D3D12_SHADER_BYTECODE'),
              'MS': ('struct', 'D3D12_SHADER_BYTECODE'), 'STREAM_OUTPUT': ('struct', 'D3D12_STREAM_OUTPUT_DESC'),
              'BLEND': ('struct', 'D3D12_BLEND_DESC'), 'SAMPLE_MASK': ('u32', 'UINT'),
              'RASTERIZER': ('struct', 'D3D12_RASTERIZER_DESC'),
              'DEPTH_STENCIL': ('struct', 'D3D12_DEPTH_STENCIL_DESC'),
              'INPUT_LAYOUT': ('struct', 'D3D12_INPUT_LAYOUT_DESC'),
              'IB_STRIP_CUT_VALUE': ('enum', 'D3D12_INDEX_BUFFER_STRIP_CUT_VALUE'),
              'PRIMITIVE_TOPOLOGY': ('enum', 'D3D12_PRIMITIVE_TOPOLOGY_TYPE'),
              'RENDER_TARGET_FORMATS': ('struct', 'D3D12_RT_FORMAT_ARRAY'),
              'DEPTH_STENCIL_FORMAT': ('enum', 'DXGI_FORMAT'), 'SAMPLE_DESC': ('struct', 'DXGI_SAMPLE_DESC'),
              'NODE_MASK': ('u32', 'UINT'), 'CACHED_PSO': ('struct', 'D3D12_CACHED_PIPELINE_STATE'),
              'FLAGS': ('enum', 'D3D12_PIPELINE_STATE_FLAGS'),
              'DEPTH_STENCIL1': ('struct', 'D3D12_DEPTH_STENCIL_DESC1'),
              'VIEW_INSTANCING': ('struct', 'D3D12_VIEW_INSTANCING_DESC'),
              'DEPTH_STENCIL2': ('struct', 'D3D12_DEPTH_STENCIL_DESC2')}

    def stream_types(self):
        pre = 'D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_'
        out = {}
        for n, v in self.m.enums['D3D12_PIPELINE_STATE_SUBOBJECT_TYPE']:
            s = n[len(pre):]
            if s == 'MAX_VALID':
                continue
            if s not in self.STREAM:
                raise SystemExit('pipeline stream subobject %s has no type' % s)
            out[v] = self.STREAM[s]
        return out

    def ctype(self, tb):
        return tb[1] + ' *' if tb[0] == 'object' else tb[1]

    def stream_encoder(self, streams):
        o = ['bool enc_stream_subobject(struct enc *e, uint32_t type, const void *p)\n{\n    switch (type) {']
        f = Field('', '', [])
        for v, tb in streams.items():
            f.k, f.b = tb
            ct = self.ctype(tb)
            o.append('    case %d: {\n        const %s *v = p;' % (v, ct) if tb[0] != 'object' else
                     '    case %d: {\n        %s const *v = p;' % (v, ct))
            o.append('        %s\n        return true;\n    }' % self.enc_value(f, '(*v)'))
        o.append('    }\n    return false;\n}\n')
        return '\n'.join(o)

    def stream_table(self):
        streams = self.stream_types()
        f = Field('', '', [])
        o = ['/* Made by gen.py from the installed IDL files. */', '#include "d3d12/gen/pipeline_stream.h"', '']
        o.append('const struct d12_subobject d12_subobjects[D12_NUM_SUBOBJECTS] = {')
        for v, tb in streams.items():
            ct = self.ctype(tb)
            o.append('    [%d] = {sizeof(%s), _Alignof(%s)},' % (v, ct, ct))
        o.append('};')
        return '\n'.join(o) + '\n'


def load(idldir, annot, native):
    m = Model()
    for f in ('dxgiformat.idl', 'dxgicommon.idl', 'd3dcommon.idl', 'd3d12.idl'):
        m.read(os.path.join(idldir, f))
    m.structs['RECT'] = [Field('LONG', n, []) for n in ('left', 'top', 'right', 'bottom')]  # win.h declares it
    m.read(native)
    m.ifaces.pop('ID3DDestructionNotifier', None)
    m.annotate(annot)
    if '@' in ''.join(m.ifaces):
        raise SystemExit('unreadable IDL')
    ordered = ['Native', 'IUnknown']
    while len(ordered) < len(m.ifaces):
        for n, i in m.ifaces.items():
            if n not in ordered and i.base in ordered:
                ordered.append(n)
    m.ifaces = {n: m.ifaces[n] for n in ordered}
    g = Gen(m)
    g.prepare()
    return g


def main():
    out = sys.argv[4]
    g = load(*sys.argv[1:4])
    p = Player(g)
    for name, text in (('d3d12_api.h', g.api()), ('d3d12_table.c', g.table()), ('d3d12_record.c', g.record()),
                       ('d3d12_args.h', p.args()), ('d3d12_play.c', p.play()), ('d3d12_stream.c', g.stream_table())):
        with open(os.path.join(out, name), 'w') as f:
            f.write(text)


if __name__ == '__main__':
    main()
