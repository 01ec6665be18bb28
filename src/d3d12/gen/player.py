# SPDX-License-Identifier: MIT
"""The player's half of what gen.py writes: one decoder per method, the arguments that it fills in, and the call itself."""
import math
import re

from idl import Field, qualified


class Player:
    """By what a gen.Gen, prepared, knows of methods and types."""
    def __init__(self, gen):
        self.gen = gen
        self.decs = {}
        self.dec_order = []

    def dec_value(self, f, lv, k=None, b=None):
        k, b = k or f.k, b or f.b
        if k == 'struct':
            self.need_dec(b)
            return 'dec_s_%s(d, &%s);' % (b, lv)
        if k == 'enum':
            return '%s = (%s)dec_u32(d);' % (lv, b)
        if k == 'object':
            if f.role == 'loose':
                return '%s = dec_loose_object(d);' % lv
            return '%s = dec_object(d, D12_IFACE_%s);' % (lv, b)
        if k in ('cpu', 'gpu'):
            return '%s.ptr = dec_%s(d);' % (lv, k)
        if k == 'guid':
            return 'dec_guid(d, &%s);' % lv
        return '%s = dec_%s(d);' % (lv, k)

    def dec_field(self, f, lv, fields, prefix, ptr=None):
        def ex(s):
            return qualified(s, fields, prefix)
        cls = f.cls
        if cls == 'value':
            return [self.dec_value(f, lv)]
        if cls == 'fixed':
            n = math.prod(f.dims)
            p = lv + '[0]' * (len(f.dims) - 1)
            return ['for (size_t i = 0; i < %d; i++)' % n, '    ' + self.dec_value(f, p + '[i]')]
        ct = f.b + (' *' if f.k == 'object' else '')
        if cls in ('one', 'inout', 'outone'):
            return ['{', '    %s *p = dec_present(d) ? dec_alloc(d, sizeof(*p), 1) : NULL;' % ct,
                    '    if (p)', '        ' + self.dec_value(f, '(*p)'), '    %s = (void *)p;' % lv, '}']
        if cls in ('array', 'outarray'):
            return ['{', '    size_t n;', '    %s *p = dec_array(d, sizeof(*p), &n);' % ct,
                    '    for (size_t i = 0; p && i < n; i++)', '        ' + self.dec_value(f, 'p[i]'),
                    '    %s = (void *)p;' % lv, '    %sn_%s = n;' % (prefix, f.name) if ptr else '    (void)n;', '}']
        if cls in ('bytes', 'outbytes'):
            return ['%s = (void *)dec_bytes(d, %s);' % (lv, '&%sn_%s' % (prefix, f.name) if ptr else 'NULL')]
        if cls == 'stream':
            return ['%s = dec_stream(d, &v->%s);' % (lv, f.expr)]
        if cls in ('opaque', 'map'):
            return ['dec_present(d);']
        return []

    def check_field(self, f, fields, prefix, where):
        """Lines that refuse an array whose recorded length is not what the API will read."""
        if f.cls not in ('array', 'bytes') or not f.expr or 'rec_' in f.expr:
            return []
        return [qualified(f.expr, fields, prefix)]

    def need_dec(self, b):
        if b in self.decs:
            return
        self.decs[b] = None
        fields = self.gen.m.structs[b]
        lines = []

        def member(f, prefix, siblings):
            if f.members is not None:
                return [s for y in f.members for s in member(y, prefix + (f.name + '.' if f.name else ''), f.members)]
            if f.cls in ('array', 'bytes'):  # inside a union: its count stands outside and was decoded before
                return (['{', '    size_t n_%s = 0;' % f.name] +
                        ['    ' + x for x in self.counted(f, prefix, siblings)] +
                        ['    dec_expect(d, %s%s, n_%s, %s, "%s.%s");' % (prefix, f.name, f.name, x, b, f.name)
                         for x in self.check_field(f, fields, 'v->', b)] + ['}'])
            return self.dec_field(f, prefix + f.name, siblings, prefix)

        checks = []
        for f in fields:
            if f.cls == 'union':
                disc, cases = self.gen.m.unions[b]
                if disc is None:
                    x = next(x for x in f.members if x.name == cases)
                    lines += member(x, 'v->', fields)
                    continue
                lines.append('switch ((int)v->%s) {' % disc)
                for v, name in cases:
                    x = next(x for x in f.members if x.name == name)
                    lines += ['case %d:' % v] + ['    ' + s for s in member(x, 'v->', fields)] + ['    break;']
                lines.append('}')
            else:
                if f.cls in ('array', 'bytes'):
                    lines += self.counted(f, 'v->', fields)
                    checks += ['dec_expect(d, v->%s, n_%s, %s, "%s.%s");' % (f.name, f.name, e, b, f.name)
                               for e in self.check_field(f, fields, 'v->', b)]
                else:
                    lines += member(f, 'v->', fields)
        decl = ''.join('    size_t n_%s = 0;\n' % f.name for f in fields if f.cls in ('array', 'bytes'))
        self.decs[b] = 'static void dec_s_%s(struct dec *d, %s *v)\n{\n%s    %s\n}\n' % (
            b, b, decl, '\n    '.join(lines + checks))
        self.dec_order.append(b)

    def counted(self, f, prefix, fields):
        lv = prefix + f.name
        if f.cls == 'bytes':
            return ['%s = (void *)dec_bytes(d, &n_%s);' % (lv, f.name)]
        ct = f.b + (' *' if f.k == 'object' else '')
        return ['{', '    %s *p = dec_array(d, sizeof(*p), &n_%s);' % (ct, f.name),
                '    for (size_t i = 0; p && i < n_%s; i++)' % f.name, '        ' + self.dec_value(f, 'p[i]'),
                '    %s = (void *)p;' % lv, '}']

    def arg_members(self, me):
        out = []
        for p in me.params:
            if p.cls == 'outobj':
                out.append('uint32_t %s;' % p.name)
                continue
            if p.cls in ('ignore',):
                continue
            if p.cls in ('opaque', 'map'):
                out.append('bool %s;' % p.name)
                continue
            if p.cls in ('outbytes', 'outone', 'outarray'):
                out.append('const void *%s;' % p.name)
                out.append('size_t n_%s;' % p.name)
                continue
            if p.k == 'iid':
                out.append('GUID %s;' % p.name)
                continue
            ct = p.ctype
            if p.dims:
                ct = ct + ' *'
            elif p.cls in ('one', 'array', 'inout') and not ct.startswith('const') and p.k != 'object':
                pass
            if p.cls == 'array' and p.k == 'object':
                ct = '%s **' % p.b
            if p.cls == 'value':
                ct = re.sub(r'^const ', '', ct) if p.stars == 0 else ct
            out.append('%s %s;' % (ct, p.name))
            if p.cls in ('array', 'bytes'):
                out.append('size_t n_%s;' % p.name)
        if me.ret != 'void':
            out.append('%s ret;' % (me.retb if me.retk != 'opaque' else 'bool'))
        out.append('char pad_;')
        return out

    def playable(self, me):
        return not me.skip and not me.flags & {'query', 'refuse'}

    def args(self):
        o = ['/* Made by gen.py from the installed IDL files. */', '#pragma once',
             '#include <stdbool.h>', '#include "d3d12_api.h"', 'struct player;', 'struct play_call;', 'struct dec;']
        for me in self.gen.methods:
            if self.playable(me):
                n = '%s_%s' % (me.iface, me.name)
                o.append('struct args_%s {\n    %s\n};' % (n, '\n    '.join(self.arg_members(me))))
                if 'special' in me.flags:
                    o.append('int play_special_%s(struct player *p, const struct play_call *c, struct args_%s *a);' % (n, n))
                if 'plan' in me.flags:
                    o.append('void dec_m_%s(struct dec *d, struct args_%s *a);' % (n, n))
                if 'adjust' in me.flags:
                    o.append('void play_adjust_%s(struct player *p, const struct play_call *c, %s *This, struct args_%s *a);'
                             % (n, me.iface, n))
        return '\n'.join(o) + '\n'

    def play(self):
        fns, rows = [], []
        for me in self.gen.methods:
            if not self.playable(me):
                continue
            n = '%s_%s' % (me.iface, me.name)
            lines, checks = [], []
            for p in me.params:
                if p.cls == 'ignore' or p.cls.startswith('out') or p.cls == 'map':
                    continue
                if p.cls in ('array', 'bytes'):
                    got = self.counted(p, 'a->', me.params)
                    got = [s.replace('&n_%s' % p.name, '&a->n_%s' % p.name).replace('i < n_%s' % p.name,
                                                                                   'i < a->n_%s' % p.name) for s in got]
                    lines += got
                    checks += ['dec_expect(d, a->%s, a->n_%s, %s, "%s");' % (p.name, p.name, e, p.name)
                               for e in self.check_field(p, me.params, 'a->', n)]
                elif p.k == 'iid':
                    lines.append('dec_iid(d, &a->%s);' % p.name)
                elif p.cls == 'opaque':
                    lines.append('a->%s = dec_present(d);' % p.name)
                else:
                    lines += self.dec_field(p, 'a->' + p.name, me.params, 'a->')
            lines += checks
            if me.has_result:
                lines.append('if (!dec_has_result(d))\n        return;')
                if me.ret != 'void':
                    f = Field(me.retb, '', [])
                    f.k, f.b = me.retk, me.retb
                    lines.append('a->ret = dec_present(d);' if me.retk == 'opaque' else self.dec_value(f, 'a->ret').replace(
                        'dec_cpu(d)', 'dec_raw_cpu(d)').replace('dec_gpu(d)', 'dec_raw_gpu(d)').replace(
                        'dec_va(d)', 'dec_raw_va(d)'))
                for p in me.outs:
                    if p.cls == 'outobj':
                        lines.append('a->%s = dec_new_id(d);' % p.name)
                    elif p.cls == 'map':
                        lines.append('a->%s = dec_present(d);' % p.name)
                    elif p.cls == 'outbytes':
                        lines.append('a->%s = dec_bytes(d, &a->n_%s);' % (p.name, p.name))
                    elif p.cls == 'inout':
                        lines += ['if (dec_present(d)) {', '    %s after;' % p.b, '    ' + self.dec_value(p, 'after'),
                                  '    (void)after;', '}']
                    else:
                        raise SystemExit('%s: output %s cannot be played' % (n, p.name))
            fns.append('%svoid dec_m_%s(struct dec *d, struct args_%s *a)\n{\n    %s\n}\n' % (
                '' if 'plan' in me.flags else 'static ', n, n, '\n    '.join(lines) or '(void)a;'))
            if 'special' in me.flags:
                fns.append('static int run_%s(struct player *p, const struct play_call *c, struct dec *d)\n{\n'
                           '    struct args_%s a = {0};\n    dec_m_%s(d, &a);\n    if (play_decoded(p, c, d))\n'
                           '        return p->error.code;\n'
                           '    return play_special_%s(p, c, &a);\n}\n' % (n, n, n, n))
            else:
                args = ['This']
                outs = [p for p in me.params if p.cls == 'outobj']
                for p in me.params:
                    if p.cls == 'outobj':
                        args.append('(void *)&out_%s' % p.name)
                    elif p.k == 'iid' and p.cls == 'value':
                        args.append('&a.' + p.name)
                    elif p.cls in ('ignore', 'opaque', 'map', 'outone', 'outarray', 'outbytes'):
                        args.append('NULL')
                    elif p.cls == 'array' and p.k == 'object':
                        args.append('(void *)a.' + p.name)
                    else:
                        args.append('(void *)a.' + p.name if p.stars else 'a.' + p.name)
                body = ['struct args_%s a = {0};' % n]
                body += ['void *out_%s = NULL;' % p.name for p in outs]
                body += ['dec_m_%s(d, &a);' % n, 'if (play_decoded(p, c, d))\n        return p->error.code;',
                         '%s *This = play_this(p, c, D12_IFACE_%s, D12_SLOT_%s);' % (me.iface, me.iface, n),
                         'if (!This)\n        return p->error.code;']
                if 'adjust' in me.flags:
                    body.append('play_adjust_%s(p, c, This, &a);' % n)
                call = '((%s *)This)->lpVtbl->%s(%s);' % (me.iface, me.name, ', '.join(args))
                if me.ret == 'void':
                    body.append(call)
                else:
                    body.append('%s ret = %s' % (me.ret, call))
                for p in outs:
                    iid = next((q.name for q in me.params if q.k == 'iid'), None)
                    body.append('play_new_object(p, c, a.%s, out_%s, %s, D12_IFACE_%s);' % (
                        p.name, p.name, '&a.' + iid if iid else 'NULL', p.iface))
                if me.retk == 'hresult':
                    body.append('return play_compare(p, c, a.ret, ret);')
                else:
                    if me.ret != 'void':
                        body.append('(void)ret;')
                    body.append('return 0;')
                fns.append('static int run_%s(struct player *p, const struct play_call *c, struct dec *d)\n{\n    %s\n}\n'
                           % (n, '\n    '.join(body)))
            rows.append('    [%d] = run_%s,' % (me.id, n))
        streams = self.gen.stream_types()
        f = Field('', '', [])
        so = ['size_t dec_stream_subobject(struct dec *d, uint32_t type, void *out)\n{\n    switch (type) {']
        for v, tb in streams.items():
            f.k, f.b = tb
            so.append('    case %d: {\n        %s *v = out;\n        %s\n        return sizeof(*v);\n    }' % (
                v, self.gen.ctype(tb), self.dec_value(f, '(*v)')))
        so.append('    }\n    return 0;\n}\n')
        o = ['/* Made by gen.py from the installed IDL files. */', '#include "d3d12/play/play_internal.h"',
             '#include "d3d12_args.h"', '']
        o += [self.decs[b] for b in self.dec_order]
        o += so + fns
        o.append('const play_fn play_table[D12_NUM_METHODS] = {')
        o += rows + ['};']
        return '\n'.join(o) + '\n'
