#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gen.py VK.XML OUTDIR: Vulkan's registry as tables and hooks.

vkbox_table.h   the commands that command buffers record, by number
vkbox_table.c   their names, what kind of work they are, and their arguments as they lie in a record
vkbox_next.h    the functions of a device that the layer calls, with the names under which a driver may have them
vkbox_hooks.c   for every vkCmd*: record the call, pass it on; for every function that makes or destroys objects: note it

A record of a call is a sequence of 32-bit words: numbers as they are (64-bit ones low word first), structs member by
member, whatever is pointed to as a count and at most CAP elements, strings as a count of bytes and at most TEXT of them.
pNext chains and bytes of the program's are left out.
"""
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'layer/gen'))
from registry import BASE, Registry, params_of, proto_of  # noqa: E402

CAP, TEXT, DEPTH = 8, 60, 3
# Arrays of structs are longer in a record; so many elements are enough to see what is done.
CAP_STRUCTS = 4

NAMED = {'pImageInfo': 'images', 'pBufferInfo': 'buffers', 'pTexelBufferView': 'views'}
WORDS = {'U32': 1, 'I32': 1, 'F32': 1, 'ENUM': 1, 'FLAGS': 1, 'U64': 2, 'HANDLE': 2}


class Table:
    """Rows of fields; structs are rows that others point to."""

    def __init__(self, reg):
        self.reg, self.structs, self.enums = reg, {}, set()

    def fields(self, members, depth):
        """[(field, kind, how)]: how is VALUE, FIXED or COUNT (with the C expression of the count)."""
        out = []
        names = {m.name: m for m in members}
        for m in members:
            kind = self.reg.kind(m.type)
            if m.name in ('sType', 'pNext') or m.dims > 1 or m.bits or m.selector:
                continue
            if m.type == 'char' and m.pointers == 1 and m.len[0] == 'null-terminated':
                out.append((m, 'TEXT', None))
            elif m.pointers > 1 or not kind or (m.pointers and not m.const) or (kind == 'STRUCT' and depth >= DEPTH):
                continue
            elif m.pointers == 1:
                count = m.len[0] if m.len[0] else None
                if count and (count not in names or names[count].pointers):
                    continue  # counted by something that is computed
                out.append((m, kind, ('COUNT', count)))
            elif m.fixed:
                n = self.reg.constants.get(m.fixed) or (int(m.fixed) if m.fixed.isdigit() else 0)
                if n:
                    out.append((m, kind, ('FIXED', n)))
            else:
                out.append((m, kind, None))
        return out

    def words(self, members, depth=0):
        n = 0
        for m, kind, how in self.fields(members, depth):
            if kind == 'TEXT':
                n += 1 + TEXT // 4
                continue
            one = self.words(self.reg.structs[self.reg.resolve(m.type)], depth + 1) if kind == 'STRUCT' else WORDS[kind]
            if how is None:
                n += one
            elif how[0] == 'FIXED':
                n += how[1] * one
            else:
                n += 1 + one * self.cap(kind, how)
        return n

    @staticmethod
    def cap(kind, how):
        return 1 if how[1] is None else CAP_STRUCTS if kind == 'STRUCT' else CAP

    # ---- C that writes a record

    def encode(self, members, at, depth=0, indent='    '):
        out = []
        for m, kind, how in self.fields(members, depth):
            value = f'{at}{m.name}'
            if kind == 'TEXT':
                out.append(f'{indent}p = put_text(p, {value});')
            elif how is None:
                out += self.encode_one(m, kind, value, depth, indent)
            else:
                out += self.encode_many(m, kind, how, value, at, depth, indent)
        return out

    def encode_many(self, m, kind, how, value, at, depth, indent):
        i = f'i{depth}'
        if how[0] == 'FIXED':
            return [f'{indent}for (uint32_t {i} = 0; {i} < {how[1]}; {i}++) {{'] + \
                self.encode_one(m, kind, f'{value}[{i}]', depth, indent + '    ') + [f'{indent}}}']
        count = f'(uint32_t){at}{how[1]}' if how[1] else '1'
        if m.name in NAMED:  # by VkWriteDescriptorSet: the type says which of them counts, the others may be anything
            value_there = f'names_{NAMED[m.name]}({at}descriptorType) && {value}'
        else:
            value_there = value
        return [f'{indent}p = put_u32(p, {value_there} ? {count} : 0);',
                f'{indent}for (uint32_t {i} = 0; {value_there} && {i} < {count} && {i} < {self.cap(kind, how)}; {i}++) {{'] + \
            self.encode_one(m, kind, f'{value}[{i}]', depth, indent + '    ') + [f'{indent}}}']

    def encode_one(self, m, kind, value, depth, indent):
        if kind == 'STRUCT':
            return self.encode(self.reg.structs[self.reg.resolve(m.type)], value + '.', depth + 1, indent)
        if kind == 'F32':
            return [f'{indent}p = put_f32(p, {value});']
        if kind == 'HANDLE':
            return [f'{indent}p = put_u64(p, (uint64_t){value});']
        return [f'{indent}p = put_{"u64" if WORDS[kind] == 2 else "u32"}(p, (uint{64 if WORDS[kind] == 2 else 32}_t){value});']

    # ---- the same as data

    def rows(self, members, depth=0):
        rows = []
        for m, kind, how in self.fields(members, depth):
            sub = 'NULL'
            t = self.reg.resolve(m.type)
            cap = 0
            mode = 'VALUE'
            if how and how[0] == 'FIXED':
                mode, cap = 'FIXED', how[1]
            elif how:
                mode, cap = 'COUNT', self.cap(kind, how)
            if kind == 'STRUCT':
                sub = self.struct(t, depth + 1)
            elif kind == 'ENUM':
                self.enums.add(t)
                sub = f'&enum_{t}'
            elif kind == 'HANDLE':
                sub = f'"{t}"'
            rows.append(f'{{"{m.name}", VKBOX_{kind}, VKBOX_{mode}, {cap}, {sub}}}')
        return rows

    def struct(self, name, depth):
        key = f'struct_{name}_{depth}'
        if key not in self.structs:
            self.structs[key] = None
            rows = self.rows(self.reg.structs[name], depth)
            self.structs[key] = rows
        return f'&{key}' if self.structs[key] else 'NULL'


def flags_of(name, node):
    tasks = (node.get('tasks') or '').split(',')
    if name.startswith('vkCmdBeginRender'):
        return ['BEGIN']
    if name.startswith('vkCmdEndRender'):
        return ['END']
    if name.startswith('vkCmdNextSubpass'):
        return ['NEXT']
    by_name = {'vkCmdBeginDebugUtilsLabelEXT': 'PUSH', 'vkCmdDebugMarkerBeginEXT': 'PUSH', 'vkCmdEndDebugUtilsLabelEXT': 'POP',
               'vkCmdDebugMarkerEndEXT': 'POP', 'vkCmdExecuteCommands': 'EXECUTE', 'vkCmdBindPipeline': 'PIPELINE',
               'vkCmdBindDescriptorSets': 'SETS', 'vkCmdBindVertexBuffers': 'VERTICES', 'vkCmdBindVertexBuffers2': 'VERTICES',
               'vkCmdBindIndexBuffer': 'INDICES', 'vkCmdPushDescriptorSetKHR': 'PUSHED'}
    if name in by_name:
        return [by_name[name]]
    # Actions in the registry's words, which take no time.
    if name in ('vkCmdInsertDebugUtilsLabelEXT', 'vkCmdDebugMarkerInsertEXT', 'vkCmdSetCheckpointNV'):
        return []
    if name.startswith('vkCmdWaitEvents'):
        return ['WORK', 'WAIT']
    if 'action' in tasks and not name.startswith(('vkCmdBegin', 'vkCmdEnd', 'vkCmdWaitEvents')):
        kind = 'DRAW' if name.startswith('vkCmdDraw') or name.startswith('vkCmdExecuteGenerated') else \
               'DISPATCH' if name.startswith(('vkCmdDispatch', 'vkCmdTraceRays', 'vkCmdSubpassShading')) else 'COPY'
        return ['WORK', kind]
    return []


HAND = {'vkCreateInstance', 'vkDestroyInstance', 'vkCreateDevice', 'vkDestroyDevice', 'vkAllocateCommandBuffers',
        'vkFreeCommandBuffers'}
DESTROYS = ('vkDestroy', 'vkFree')
MAKES = ('vkCreate', 'vkAllocate')


# What passes.c does itself.
PASSES = {'vkCmdBeginRenderPass', 'vkCmdBeginRenderPass2', 'vkCmdBeginRendering', 'vkCmdEndRenderPass', 'vkCmdEndRenderPass2',
          'vkCmdEndRendering', 'vkCmdExecuteCommands'}
REGIONS = {'vkCmdBeginDebugUtilsLabelEXT': '1, 0', 'vkCmdEndDebugUtilsLabelEXT': '-1, 0', 'vkCmdDebugMarkerBeginEXT': '0, 1',
           'vkCmdDebugMarkerEndEXT': '0, -1'}
# What must end in the pass that it began in.
OPENS = {'vkCmdBeginQuery': 1, 'vkCmdEndQuery': -1, 'vkCmdBeginQueryIndexedEXT': 1, 'vkCmdEndQueryIndexedEXT': -1,
         'vkCmdBeginTransformFeedbackEXT': 1, 'vkCmdEndTransformFeedbackEXT': -1, 'vkCmdBeginConditionalRenderingEXT': 1,
         'vkCmdEndConditionalRenderingEXT': -1}


def command_hook(t, name, node, number):
    params = params_of(node)
    ret, proto = proto_of(name, node, params)
    flags = flags_of(name, node)
    args = ', '.join(p.name for p in params)
    cb = params[0].name
    rest = ''.join(f', {p.name}' for p in params[1:])
    state = ret == 'void' and node.get('tasks') == 'state' or bool({'PUSH', 'POP'} & set(flags))
    call = f'pass_{name}(cb, {args})' if name in PASSES else f'NEXT_OF({cb}, cb, {name})(commands_part(cb, {cb}, {"true" if state else "false"}){rest})'
    out = [proto, '{', f'    struct command_buffer *cb = command_buffer_of({cb});']
    body = t.encode(params[1:], '')
    if state:
        out.append('    VkCommandBuffer to;')
    begin = f'commands_begin(cb, {1 + t.words(params[1:])});'
    if 'WAIT' in flags:  # for the host, perhaps: no group with others
        out += ['    uint32_t *p;', '', '    commands_alone(cb);', f'    p = {begin}']
    else:
        out += [f'    uint32_t *p = {begin}', '']
    work = bool({'WORK', 'EXECUTE'} & set(flags))
    if body:
        out += ['    if (p) {'] + ['    ' + l for l in body] + ['    }']
    out.append(f'    commands_end(cb, p, VKBOX_{name});')
    ending = 'END' in flags
    if ret != 'void':
        out += [f'    return {call};']
    elif work or ending or 'BEGIN' in flags or 'NEXT' in flags:
        if 'BEGIN' in flags:
            out.append('    commands_pass(cb, true);')
        out.append(f'    {call};')
        out.append(f'    commands_{"pass(cb, false)" if ending else "work(cb)" if work else "subpass(cb)" if "NEXT" in flags else "begun(cb)"};')
        if 'WAIT' in flags:
            out.append('    commands_alone(cb);')
    else:
        out.append(f'    {call};')
        if state:
            out.append(f'    for (uint32_t n = 0; (to = commands_part_behind(cb, &n));)')
            out.append(f'        NEXT_OF({cb}, cb, {name})(to{rest});')
        if name in REGIONS:
            out.append(f'    commands_region(cb, {REGIONS[name]});')
        if name in OPENS:
            out.append(f'    commands_open(cb, {OPENS[name]});')
    return out + ['}', '']


def object_hook(reg, name, node):
    """What makes or destroys objects of a device; None: it is none of these."""
    params = params_of(node)
    if not params or params[0].type not in ('VkDevice',) or name in HAND:
        return None
    ret, proto = proto_of(name, node, params)
    args = ', '.join(p.name for p in params)
    call = f'd->next.{name}({args})'
    last = params[-1]
    if name.startswith(MAKES) and ret == 'VkResult' and last.pointers == 1 and not last.const and last.type in reg.handles:
        count = None
        if last.len[0]:
            count = last.len[0].replace('->', '->')
        info = next((p for p in params if p.name in ('pCreateInfo', 'pAllocateInfo', 'pCreateInfos')), None)
        out = [proto, '{', f'    struct device *d = device_of({params[0].name});', f'    VkResult r = {call};', '']
        each = f'{last.name}[i]' if count else f'*{last.name}'
        struct = info.type if info else ''
        info_at = f'&{info.name}[i]' if info and info.name == 'pCreateInfos' else info.name if info else 'NULL'
        note = f'note_created(d, {reg.object_types[last.type]}, (uint64_t){each}, {info_at});'
        out.append('    if (r < 0)')
        out.append(f'        return note_result(d, VKBOX_CALL_{name}, r);')
        if count:
            out.append(f'    for (uint32_t i = 0; i < {count}; i++)')
            out.append(f'        if ({each})')
            out.append(f'            {note}')
        else:
            out.append(f'    {note}')
        return out + ['    return r;', '}', '']
    if name.startswith(DESTROYS):
        out = [proto, '{', f'    struct device *d = device_of({params[0].name});', '']
        if params[-1].name == 'pAllocator' and len(params) == 3 and params[1].type in reg.handles and not params[1].pointers:
            out.append(f'    note_destroyed(d, {reg.object_types[params[1].type]}, (uint64_t){params[1].name});')
        elif params[-1].len[0] and params[-1].type in reg.handles:
            out.append(f'    for (uint32_t i = 0; {params[-1].name} && i < {params[-1].len[0]}; i++)')
            out.append(f'        note_destroyed(d, {reg.object_types[params[-1].type]}, (uint64_t){params[-1].name}[i]);')
        else:
            return None
        out.append(f'    if (!device_is_lost(d)) /* it may still work on that */')
        out.append(f'        {"return " if ret != "void" else ""}{call};')
        if ret != 'void':
            out.append('    return VK_SUCCESS;')
        return out + ['}', '']
    return None


# Calls of a device that can say that it is lost, or that memory ran out; the layer's own hooks call them.
CALLS = ['vkQueueSubmit', 'vkQueueSubmit2', 'vkQueueBindSparse', 'vkQueueWaitIdle', 'vkDeviceWaitIdle', 'vkQueuePresentKHR',
         'vkAcquireNextImageKHR', 'vkAcquireNextImage2KHR', 'vkWaitForPresentKHR', 'vkWaitForFences', 'vkGetFenceStatus', 'vkResetFences',
         'vkWaitSemaphores', 'vkGetSemaphoreCounterValue', 'vkGetEventStatus', 'vkGetQueryPoolResults', 'vkGetSwapchainStatusKHR',
         'vkBeginCommandBuffer', 'vkEndCommandBuffer']
# What else the layer's own code calls.
OWN = ['vkDestroyDevice', 'vkGetDeviceQueue', 'vkGetDeviceQueue2', 'vkAllocateCommandBuffers', 'vkFreeCommandBuffers',
       'vkResetCommandBuffer', 'vkResetCommandPool', 'vkGetBufferMemoryRequirements', 'vkGetImageMemoryRequirements', 'vkBindBufferMemory', 'vkMapMemory',
       'vkGetMemoryHostPointerPropertiesEXT', 'vkSetDebugUtilsObjectNameEXT', 'vkBindBufferMemory2', 'vkBindImageMemory',
       'vkGetBufferDeviceAddress', 'vkResetDescriptorPool', 'vkUpdateDescriptorSets', 'vkUpdateDescriptorSetWithTemplate', 'vkMapMemory', 'vkUnmapMemory', 'vkCmdUpdateBuffer',
       'vkCmdPipelineBarrier', 'vkCmdResetQueryPool', 'vkCmdWriteTimestamp', 'vkSetDeviceMemoryPriorityEXT',
       'vkImportSemaphoreFdKHR', 'vkGetDeviceFaultInfoEXT', 'vkBindImageMemory2']


def main():
    reg = Registry(sys.argv[1])
    out = Path(sys.argv[2])
    t = Table(reg)
    commands = sorted(n for n in reg.commands if n.startswith('vkCmd') and n in reg.used)
    hooks, objects, rows = [], [], []
    for i, n in enumerate(commands):
        hooks += command_hook(t, n, reg.commands[n], i)
        fields = t.rows(params_of(reg.commands[n])[1:])
        rows.append((n, flags_of(n, reg.commands[n]), fields))
    for n in sorted(reg.commands):
        if n not in reg.used:
            continue
        h = object_hook(reg, n, reg.commands[n])
        if h:
            objects.append(n)
            hooks += h
    calls = CALLS + [n for n in objects if n not in CALLS and n.startswith(MAKES)] + ['vkMapMemory']
    following = sorted(set(commands) | set(objects) | set(CALLS) | set(OWN))

    lic = '/* SPDX-License-Identifier: MIT */\n/* Made by gen.py from Vulkan\'s registry. */\n'
    head = [lic, '#ifndef VKBOX_TABLE_H_\n#define VKBOX_TABLE_H_\n', 'enum vkbox_command {', '    VKBOX_NONE,', '    VKBOX_POINT, /* (number, 0): a mark */', '    VKBOX_EXECUTED, /* (slot, recording): of a command buffer that the command before executes */', '    VKBOX_CHECKPOINT, /* (low, high): the program\'s, VK_NV_device_diagnostic_checkpoints */', '    VKBOX_NAMED, /* (0, 0): a checkpoint that is the label behind it */',
            '    VKBOX_PARTS, /* (first, n): numbers of the points between the parts of the command buffer that is executed next */',
            '    VKBOX_PART, /* (n, 0): the nth of them, in its own record */',
            '    VKBOX_FOREIGN, /* (name): a command that the registry does not know */', '    VKBOX_FOREIGN_STATE, /* (name): and that takes no time */']
    head += [f'    VKBOX_{n},' for n in commands] + ['    VKBOX_NUM_COMMANDS', '};', '', '/* Calls whose results are noted. */',
                                                    'enum vkbox_call {', '    VKBOX_CALL_none,']
    head += [f'    VKBOX_CALL_{n},' for n in calls] + ['    VKBOX_NUM_CALLS', '};', '', '#endif', '']
    (out / 'vkbox_table.h').write_text('\n'.join(head))

    body = [lic, '#include "vkbox/table.h"\n', '#include <stddef.h>\n']
    table = []
    for n, flags, fields in rows:
        if fields:
            table.append(f'static const struct vkbox_field fields_{n}[] = {{{", ".join(fields)}}};')
    for e in sorted(t.enums):
        values = ', '.join(f'{{{v}, "{n}"}}' for v, n in sorted(set(reg.enums[e])))
        body.append(f'static const struct vkbox_enum_value values_{e}[] = {{{values}}};' if values else '')
        body.append(f'static const struct vkbox_enum enum_{e} = {{"{e}", {f"values_{e}" if values else "NULL"}, '
                    f'{len(set(reg.enums[e]))}}};')
    # Inner structs come first: they were begun last.
    for key in reversed(list(t.structs)):
        if t.structs[key]:
            body.append(f'static const struct vkbox_struct {key};')
    for key, fields in t.structs.items():
        if fields:
            body.append(f'static const struct vkbox_field fields_{key}[] = {{{", ".join(fields)}}};')
            body.append(f'static const struct vkbox_struct {key} = {{fields_{key}, {len(fields)}}};')
    body += table
    body.append('static const struct vkbox_field fields_foreign[] = {{"name", VKBOX_TEXT, VKBOX_VALUE, 0, NULL}};')
    body.append('\nconst struct vkbox_command_desc vkbox_commands[VKBOX_NUM_COMMANDS] = {')
    body.append('    [VKBOX_FOREIGN] = {"a command of the driver\'s", VKBOX_IS_WORK | VKBOX_IS_FOREIGN, fields_foreign, 1},')
    body.append('    [VKBOX_FOREIGN_STATE] = {"a command of the driver\'s", VKBOX_IS_FOREIGN, fields_foreign, 1},')
    for n, flags, fields in rows:
        f = ' | '.join('VKBOX_IS_' + x for x in flags) or '0'
        body.append(f'    [VKBOX_{n}] = {{"{n}", {f}, {f"fields_{n}" if fields else "NULL"}, {len(fields)}}},')
    body.append('};\n\nconst char *const vkbox_calls[VKBOX_NUM_CALLS] = {')
    body += [f'    [VKBOX_CALL_{n}] = "{n}",' for n in calls] + ['};', '']
    objtypes = sorted({v for v in reg.enums['VkObjectType']})
    body.append('const struct vkbox_enum_value vkbox_object_types[] = {' + ', '.join(
        f'{{{v}, "{n}"}}' for v, n in objtypes) + '};')
    body.append(f'const unsigned vkbox_num_object_types = {len(objtypes)};')
    results = sorted({v for v in reg.enums['VkResult']})
    body.append('const struct vkbox_enum_value vkbox_results[] = {' + ', '.join(f'{{{v}, "{n}"}}' for v, n in results) + '};')
    body.append(f'const unsigned vkbox_num_results = {len(results)};\n')
    (out / 'vkbox_table.c').write_text('\n'.join(body))

    nxt = [lic, '/* N(name): a function of a device. A(name, alias): another name for it. */', '#define VKBOX_NEXT(N) \\']
    nxt += [f'    N({n}) \\' for n in following] + ['', '#define VKBOX_ALIASES(A) \\']
    nxt += [f'    A({n}, {a}) \\' for n in following for a in reg.command_aliases.get(n, []) if a in reg.used] + ['', '']
    (out / 'vkbox_next.h').write_text('\n'.join(nxt))

    src = [lic, '#include "vkbox/encode.h"', '#include "vkbox/fast.h"', ''] + hooks
    src += ['const struct layer_hook generated_hooks[] = {']
    for n in commands + objects:
        for name in [n] + [a for a in reg.command_aliases.get(n, []) if a in reg.used]:
            src.append(f'    {{"{name}", (PFN_vkVoidFunction)hook_{n}}},')
    src += ['    LAYER_HOOKS_END,', '};', '']
    (out / 'vkbox_hooks.c').write_text('\n'.join(src))


main()
