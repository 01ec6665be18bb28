# SPDX-License-Identifier: MIT
"""Vulkan's registry (vk.xml), for whoever generates hooks of a layer from it."""
import xml.etree.ElementTree as ET

BASE = {'uint32_t': 'U32', 'int32_t': 'I32', 'float': 'F32', 'VkBool32': 'U32', 'uint64_t': 'U64', 'VkDeviceSize': 'U64',
        'VkDeviceAddress': 'U64', 'size_t': 'U64', 'int': 'I32', 'uint16_t': 'U32', 'uint8_t': 'U32', 'VkSampleMask': 'U32',
        'int64_t': 'U64'}


class Field:
    """A parameter or member: what it is called, of which type, and how many there are."""

    def __init__(self, node):
        self.name = node.findtext('name')
        self.type = node.findtext('type')
        text = ''.join(node.itertext())
        for c in node.findall('comment'):
            text = text.replace(c.text or '', '')
        self.pointers = text.count('*')
        self.const = 'const' in text
        self.bits = ':' in text
        tail = text.split(self.name, 1)[1] if self.name else ''
        self.dims = tail.count('[')
        self.fixed = tail.split('[')[1].split(']')[0].strip() if self.dims == 1 else None
        self.len = (node.get('altlen') or node.get('len') or '').split(',')
        self.decl = ' '.join(text.split())
        self.selector = node.get('selector')


class Registry:
    def __init__(self, path):
        root = ET.parse(path).getroot()
        self.handles, self.enums, self.flags, self.structs, self.aliases = set(), {}, {}, {}, {}
        self.object_types = {}
        self.constants = {}
        for t in root.iter('type'):
            name = t.get('name') or t.findtext('name')
            kind = t.get('category')
            if t.get('api') and 'vulkan' not in t.get('api').split(','):
                continue
            if t.get('alias'):
                self.aliases[name] = t.get('alias')
            elif kind == 'handle':
                self.handles.add(name)
                self.object_types[name] = t.get('objtypeenum')
            elif kind == 'enum':
                self.enums[name] = []
            elif kind == 'bitmask':
                self.flags[name] = 64 if t.findtext('type') == 'VkFlags64' else 32
            elif kind == 'struct':
                self.structs[name] = [Field(m) for m in t.findall('member')
                                      if not m.get('api') or 'vulkan' in m.get('api').split(',')]
            elif kind == 'union':
                self.structs[name] = None  # which member counts is not always known
            elif kind == 'basetype' and t.findtext('type') in BASE and name not in BASE:
                BASE[name] = BASE[t.findtext('type')]
        self.root = root
        self.used, self.platform = self.enabled(root)
        for e in root.iter('enums'):
            if e.get('name') == 'API Constants':
                for v in e.findall('enum'):
                    if v.get('value', '').isdigit():
                        self.constants[v.get('name')] = int(v.get('value'))
            elif e.get('name') in self.enums:
                for v in e.findall('enum'):
                    if v.get('value'):
                        self.enums[e.get('name')].append((int(v.get('value'), 0), v.get('name')))
        self.extend_enums()
        self.commands, self.command_aliases = {}, {}
        for c in root.find('commands').findall('command'):
            if c.get('alias'):
                self.command_aliases.setdefault(c.get('alias'), []).append(c.get('name'))
                continue
            if c.get('api') and 'vulkan' not in c.get('api').split(','):
                continue
            self.commands[c.find('proto').findtext('name')] = c

    @staticmethod
    def enabled(root):
        """The commands that vulkan.h declares without a platform, and what guards them: none."""
        used, platform = set(), set()
        for f in root.findall('feature'):
            if 'vulkan' in f.get('api').split(','):
                used |= {c.get('name') for c in f.iter('command')}
        for x in root.iter('extension'):
            if 'vulkan' not in (x.get('supported') or '').split(','):
                continue
            names = {c.get('name') for c in x.iter('command')}
            (platform if x.get('platform') or x.get('provisional') == 'true' else used).update(names)
        return used, platform - used

    def extend_enums(self):
        for x in self.root.iter('extension'):
            number = int(x.get('number') or 0)
            for e in x.iter('enum'):
                self.extend(e, number)
        for f in self.root.findall('feature'):
            for e in f.iter('enum'):
                self.extend(e, 0)

    def extend(self, e, number):
        name, to = e.get('name'), e.get('extends')
        if to not in self.enums or e.get('alias'):
            return
        if e.get('value'):
            value = int(e.get('value'), 0)
        elif e.get('offset'):
            value = 1000000000 + (int(e.get('extnumber') or number) - 1) * 1000 + int(e.get('offset'))
            value = -value if e.get('dir') == '-' else value
        else:
            return
        if (value, name) not in self.enums[to]:
            self.enums[to].append((value, name))

    def resolve(self, name):
        return self.aliases.get(name, name)

    def kind(self, type_name):
        """The kind of a value; None: none that is known."""
        t = self.resolve(type_name)
        if t in BASE:
            return BASE[t]
        if t in self.handles:
            return 'HANDLE'
        if t in self.enums:
            return 'ENUM'
        if t in self.flags:
            return 'FLAGS' if self.flags[t] == 32 else 'U64'
        if self.structs.get(t):
            return 'STRUCT'
        return None


def params_of(node):
    return [Field(p) for p in node.findall('param') if not p.get('api') or 'vulkan' in p.get('api').split(',')]


def proto_of(name, node, params):
    ret = node.find('proto').findtext('type')
    return ret, f'static VKAPI_ATTR {ret} VKAPI_CALL hook_{name}({", ".join(p.decl for p in params)})'
