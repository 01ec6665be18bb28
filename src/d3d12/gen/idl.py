# SPDX-License-Identifier: MIT
"""Reads the installed Direct3D 12 IDL files and the annotation file into one model (gen.py turns it into C).

The model: enums {name: [(member, value)]}, structs {name: [Field]}, typedefs, constants, interfaces in an order in which
a base stands before what derives from it. A field or parameter carries a role (how it travels) beside its C type.
"""
import re


class Field:
    def __init__(self, ctype, name, dims, bits=None, sal='', members=None):
        self.ctype, self.name, self.dims, self.bits, self.sal = ctype, name, dims, bits, sal
        self.members = members  # of a nested struct or union
        self.kind = None        # 'union' or 'struct' for a nested one
        self.role, self.count, self.iface, self.pointers = None, None, None, None


def qualified(expression, fields, prefix):
    """An expression over fields' names, as C that has them behind `prefix`."""
    names = {x.name for x in fields if x.name} | {y.name for x in fields if x.members for y in x.members}
    return re.sub(r'\b([A-Za-z_]\w*)\b', lambda m: prefix + m.group(1) if m.group(1) in names else m.group(1), expression)


class Method:
    def __init__(self, iface, ret, name, params):
        self.iface, self.ret, self.name, self.params = iface, ret, name, params
        self.flags, self.natural, self.id, self.slot = set(), None, None, None
        self.state, self.state_of = None, None  # a name, a parameter


class Interface:
    def __init__(self, name, base, iid, methods):
        self.name, self.base, self.iid, self.methods = name, base, iid, methods
        self.skip = None


def strip(text):
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    text = re.sub(r'//[^\n]*', '', text)
    # SAL texts hold quotes, parentheses and commas: keep them as one token of their own
    sals = []

    def keep(m):
        s = m.group(1).replace('\\"', '"')
        sals.append(s)
        return '@%d@' % (len(sals) - 1)
    text = re.sub(r'annotation\s*\(\s*"((?:[^"\\]|\\.)*)"\s*\)', keep, text)
    text = re.sub(r'cpp_quote\s*\(\s*"(?:[^"\\]|\\.)*"\s*\)', '', text)
    text = re.sub(r'^\s*#.*$', '', text, flags=re.M)
    text = re.sub(r'import\s+"[^"]*"\s*;', '', text)
    return text, sals


def block_end(t, i):
    depth = 0
    while True:
        if t[i] == '{':
            depth += 1
        elif t[i] == '}':
            depth -= 1
            if not depth:
                return i
        i += 1


class Model:
    def __init__(self):
        self.enums, self.structs, self.typedefs, self.consts = {}, {}, {}, {}
        self.order, self.ifaces = [], {}
        self.unions = {}

    def value(self, s):
        s = s.strip()
        s = re.sub(r'\b(0x[0-9a-fA-F]+|\d+)[uUlL]+\b', r'\1', s)
        names = dict(self.consts)
        for members in self.enums.values():
            names.update(members)
        return int(eval(s, {'__builtins__': {}}, names))

    def field(self, s, sals):
        sal = ' '.join(sals[int(i)] for i in re.findall(r'@(\d+)@', s))
        s = re.sub(r'\[[^\]]*@[^\]]*\]|\[\s*(?:in|out|in\s*,\s*out)\s*\]', ' ', s).strip()
        bits = None
        m = re.search(r':\s*(\d+)$', s)
        if m:
            bits, s = int(m.group(1)), s[:m.start()].strip()
        dims = [self.value(d) for d in re.findall(r'\[([^\]]*)\]', s)]
        s = re.sub(r'\[[^\]]*\]', '', s).strip()
        m = re.match(r'(.*?)(\w+)$', s, re.S)
        ctype = ' '.join(m.group(1).replace('*', ' * ').split())
        ctype = re.sub(r'^struct ', '', ctype)
        return Field(ctype, m.group(2), dims, bits, sal)

    def fields(self, body, sals):
        out, i = [], 0
        while i < len(body):
            m = re.compile(r'\s*(union|struct)\s*(\w*)\s*\{').match(body, i)
            if m:
                e = block_end(body, m.end() - 1)
                semi = body.index(';', e)
                f = Field(None, body[e + 1:semi].strip(), [], members=self.fields(body[m.end():e], sals))
                f.kind = m.group(1)
                out.append(f)
                i = semi + 1
                continue
            semi = body.find(';', i)
            if semi < 0:
                break
            if body[i:semi].strip():
                out.append(self.field(body[i:semi], sals))
            i = semi + 1
        return out

    def read(self, path):
        t, sals = strip(open(path, encoding='latin-1').read())
        i = 0
        token = re.compile(r'\s*(?:const\s+\w+\s+(?P<const>\w+)\s*=\s*(?P<cval>[^;]+);'
                           r'|(?:typedef\s+)?enum\s+(?P<enum>\w*)\s*\{'
                           r'|(?:typedef\s+)?struct\s+(?P<struct>\w+)\s*\{'
                           r'|typedef\s+(?P<td>[^{};]+);'
                           r'|(?P<attr>\[[^{}]*?\]\s*)?interface\s+(?P<iface>\w+)\s*(?::\s*(?P<base>\w+)\s*)?(?P<open>[{;]))')
        while True:
            m = token.search(t, i)
            if not m:
                return
            i = m.end()
            if m.group('const'):
                self.consts[m.group('const')] = self.value(m.group('cval'))
            elif m.group('enum') is not None or m.group('struct'):
                e = block_end(t, i - 1)
                semi = t.index(';', e)
                names = [n.strip() for n in t[e + 1:semi].split(',') if n.strip() and '*' not in n]
                name = names[0] if names else m.group('enum') or m.group('struct')
                body = t[i:e]
                if m.group('enum') is not None:
                    self.read_enum(name, body)
                else:
                    self.structs[name] = self.fields(body, sals)
                    self.order.append(('struct', name))
                i = semi + 1
            elif m.group('td'):
                self.read_typedef(m.group('td'))
            elif m.group('open') == '{':
                e = block_end(t, i - 1)
                iid = re.search(r'uuid\(\s*([0-9a-fA-F-]+)\s*\)', m.group('attr') or '')
                self.read_interface(m.group('iface'), m.group('base'), iid and iid.group(1), t[i:e], sals)
                i = e

    def read_enum(self, name, body):
        members, last = [], -1
        self.enums[name] = members
        for part in re.split(r',(?![^(]*\))', body):
            part = ' '.join(part.split())
            if not part:
                continue
            if '=' in part:
                n, v = part.split('=', 1)
                last = self.value(v)
            else:
                n, last = part, last + 1
            members.append((n.strip(), last))
        self.order.append(('enum', name))

    def read_typedef(self, s):
        m = re.match(r'^([\w\s]+?)\s+(\w+)$', ' '.join(s.split()))
        if m and '(' not in s:
            base = re.sub(r'^(interface|struct|enum) ', '', m.group(1))
            if base != m.group(2):
                self.typedefs[m.group(2)] = base
                self.order.append(('typedef', m.group(2)))

    def read_interface(self, name, base, iid, body, sals):
        methods = []
        for s in body.split(';'):
            s = ' '.join(s.split())
            if not s:
                continue
            m = re.match(r'^(.*?)\s*\b(\w+)\s*\((.*)\)$', s)
            params, depth, cur = [], 0, ''
            for ch in m.group(3):
                if ch == '[':
                    depth += 1
                elif ch == ']':
                    depth -= 1
                if ch == ',' and not depth:
                    params.append(cur)
                    cur = ''
                else:
                    cur += ch
            if cur.strip() and cur.strip() != 'void':
                params.append(cur)
            methods.append(Method(name, ' '.join(m.group(1).replace('*', ' * ').split()), m.group(2),
                                  [self.param(p, sals) for p in params]))
        self.ifaces[name] = Interface(name, base, iid, methods)

    def param(self, s, sals):
        return self.field(re.sub(r'\[\s*(?:in|out)\s*[^\]@]*(@\d+@)?\s*\]',
                                 lambda m: '[%s]' % m.group(1) if m.group(1) else ' ', s), sals)

    def chain(self, name):
        """Interfaces from the root to `name`."""
        out = []
        while name:
            out.insert(0, self.ifaces[name])
            name = self.ifaces[name].base
        return out

    def annotate(self, path):
        for no, line in enumerate(open(path), 1):
            line = line.split('#')[0].strip() if not line.startswith('param') else line.strip()
            if not line:
                continue
            word, rest = line.split(None, 1)
            try:
                getattr(self, 'note_' + word)(rest)
            except (KeyError, StopIteration) as e:
                raise SystemExit('%s:%d: nothing matches "%s" (%r)' % (path, no, line, e))

    def method(self, s):
        iface, name = s.split('::')
        return next(m for m in self.ifaces[iface].methods if m.name == name)

    def note_param(self, rest):
        where, role, *count = rest.split(None, 2)
        where, param = where.split('.')
        p = next(p for p in self.method(where).params if p.name == param)
        p.role, p.count = role, count[0] if count else None

    def note_field(self, rest):
        where, role, *count = rest.split(None, 2)
        struct, name = where.split('.')

        def find(fields):
            for f in fields:
                if f.name == name:
                    return f
                if f.members:
                    got = find(f.members)
                    if got:
                        return got
        f = find(self.structs[struct])
        if not f:
            raise KeyError(name)
        f.role, f.count = role, count[0] if count else None

    def note_union(self, rest):
        struct, disc, *cases = rest.split()
        self.structs[struct]
        self.unions[struct] = (None, cases[0]) if disc == 'always' else (
            disc, [(int(c.split('=')[0]), c.split('=')[1]) for c in cases])

    def note_natural(self, rest):
        m, iface = rest.split()
        self.ifaces[iface]
        self.method(m).natural = iface

    def note_flag(self, rest):
        m, *flags = rest.split()
        self.method(m).flags.update(flags)

    def note_sets(self, rest, flag='sets'):
        state, m, *of = rest.split()
        me = self.method(m)
        me.flags.add(flag)
        me.state, me.state_of = state, next(p for p in me.params if p.name == of[0]).name if of else None

    def note_clears(self, rest):
        self.note_sets(rest, 'clears')

    def note_skip(self, rest):
        name, why = rest.split(' - ', 1)
        self.ifaces[name].skip = why
