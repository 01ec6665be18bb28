#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gen.py VK.XML OUTDIR: what Vulkan's commands may answer, from its registry.

lose_calls.h    the commands that answer a VkResult, by number
lose_table.c    their names and what else than VK_SUCCESS they may answer; the names of all results
lose_each.h     for the tests: a call of each of them
lose_hooks.c    for each of them: count the call, and answer what was asked for in its place, or pass it on
"""
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'layer/gen'))
from registry import Registry, params_of  # noqa: E402

LIC = "/* SPDX-License-Identifier: MIT */\n/* Made by gen.py from Vulkan's registry. */\n"
VENDORS = ('_KHR', '_EXT', '_NV', '_AMD', '_ANDROID', '_FUCHSIA')
DEVICE = ('VkDevice', 'VkQueue', 'VkCommandBuffer')
INSTANCE = ('VkInstance', 'VkPhysicalDevice')
# What belongs to a window system and is not declared without its headers: pointers are pointers, and an id is a long.
PLATFORMS = {'vkCreateXlibSurfaceKHR': {}, 'vkCreateXcbSurfaceKHR': {}, 'vkCreateWaylandSurfaceKHR': {},
             'vkAcquireXlibDisplayEXT': {}, 'vkGetRandROutputDisplayEXT': {'RROutput': 'unsigned long'}}


def codes(node):
    """What a command may answer, without the answer that is no fault."""
    names = ((node.get('successcodes') or '') + ',' + (node.get('errorcodes') or '')).split(',')
    return [n for n in dict.fromkeys(names) if n and n != 'VK_SUCCESS']


def short(name):
    """VK_ERROR_OUT_OF_DEVICE_MEMORY: out-of-device-memory."""
    for v in VENDORS:
        name = name.removesuffix(v)
    return name.removeprefix('VK_').removeprefix('ERROR_').lower().replace('_', '-')


def declare(name, params):
    """The parameters as C; what only a platform's header declares becomes what it is passed as."""
    out = []
    for p in params:
        decl = p.decl
        if name in PLATFORMS and not p.type.startswith('Vk'):
            decl = f'void *{p.name}' if p.pointers else f'{PLATFORMS[name].get(p.type, p.type)} {p.name}'
        elif name in PLATFORMS and p.type.endswith('SurfaceCreateInfoKHR'):
            decl = f'const void *{p.name}'
        out.append(decl)
    return ', '.join(out)


def hook(reg, name, node):
    params = params_of(node)
    decl = declare(name, params)
    last = params[-1]
    by = {p.name: p for p in params}
    filled = next((p for p in params if p.len[0] in by and by[p.len[0]].pointers == 1 and not p.const and p.pointers == 1
                   and 'VK_INCOMPLETE' in codes(node)), None)
    counted = filled and by[filled.len[0]].type == 'uint32_t'
    less = 'FAULT_ITEMS' if counted else 'FAULT_BYTES'
    fills = f'{filled.name} ? {less} : FAULT_WHOLE' if filled else 'FAULT_ANSWER'
    out = [f'static VKAPI_ATTR VkResult VKAPI_CALL fault_{name}({decl})', '{',
           f'    struct fault_call c = fault_begin_{"device" if params[0].type in DEVICE else "instance"}'
           f'({params[0].name}, LOSE_{name}, {fills});', '    VkResult r;', '', '    if (c.how == FAULT_INSTEAD) {']
    if name.startswith(('vkCreate', 'vkAllocate')) and last.type in reg.handles and last.len[0]:
        out += [f'        for (uint32_t i = 0; i < {last.len[0]}; i++)', f'            {last.name}[i] = VK_NULL_HANDLE;']
    if name in ('vkEnumeratePhysicalDevices', 'vkEnumeratePhysicalDeviceGroups'):
        out += ['        if (c.result == VK_SUCCESS) /* there is none */', f'            *{params[1].name} = 0;']
    each = ['pPresentInfo->pResults && i < pPresentInfo->swapchainCount; i++)', '        pPresentInfo->pResults[i] = ']
    if name == 'vkQueuePresentKHR':
        out += ['        for (uint32_t i = 0; ' + each[0], '    ' + each[1] + 'c.result;']
    if filled and not counted:
        out += ['        if (c.result == VK_INCOMPLETE)', f'            *{filled.len[0]} = 0;']
    out += ['        return c.result;', '    }']
    if counted:
        out += [f'    if (c.how == FAULT_LESS && *{filled.len[0]})', f'        --*{filled.len[0]};']
    types = ', '.join('void *' if p.pointers else p.type if p.type.startswith('Vk') else 'unsigned long' for p in params)
    pfn = f'VkResult(VKAPI_PTR *)({types})' if name in PLATFORMS else f'PFN_{name}'
    args = ', '.join(f'(void *){p.name}' if name in PLATFORMS and p.pointers else p.name for p in params)
    out += [f'    r = (({pfn})(void (*)(void))c.next)({args});']
    if counted:
        out += [f'    if (c.how == FAULT_LESS && r == VK_SUCCESS && *{filled.len[0]}) {{', f'        --*{filled.len[0]};',
                '        r = VK_INCOMPLETE;', '    }']
    out += ['    r = fault_end(&c, r);']
    if name == 'vkQueuePresentKHR':
        out += ['    for (uint32_t i = 0; c.how == FAULT_AFTER && ' + each[0], each[1] + 'r;']
    return out + ['    return r;', '}', '']


def destroy_hook(name, node, number):
    params = params_of(node)
    ret = node.find('proto').findtext('type')
    call = f'((PFN_{name})d->destroys[{number}])({", ".join(p.name for p in params)})'
    return [f'static VKAPI_ATTR {ret} VKAPI_CALL destroy_{name}({", ".join(p.decl for p in params)})', '{',
            f'    struct device *d = layer_find(&lose_devices, {params[0].name});', '',
            '    if (!d->slot || lose_may_destroy(d))', f'        {"return " if ret != "void" else ""}{call};'] + \
        (['    return VK_SUCCESS;'] if ret != 'void' else []) + ['}', '']


def call_each(name, node):
    """A call with whatever fits: `memory` for what is pointed to, 1 for numbers."""
    params = params_of(node)
    args = [f'({params[0].type})object']
    for p in params[1:]:
        number = p.type.startswith(('uint', 'int', 'size_t', 'VkDeviceSize', 'VkBool32', 'float'))
        args.append('memory' if p.pointers else '1' if number else f'({p.type if p.type.startswith("Vk") else "unsigned long"})0')
    types = ', '.join('void *' if p.pointers else p.type if p.type.startswith('Vk') else 'unsigned long' for p in params)
    pfn = f'VkResult(VKAPI_PTR *)({types})' if name in PLATFORMS else f'PFN_{name}'
    return [f'static VkResult call_{name}(void (*fn)(void), void *object, void *memory)', '{',
            f'    return (({pfn})fn)({", ".join(args)});', '}', '']


def main():
    reg = Registry(sys.argv[1])
    out = Path(sys.argv[2])
    answers = {n: c for n, c in sorted(reg.commands.items())
               if c.find('proto').findtext('type') == 'VkResult' and (n in reg.used or n in PLATFORMS)}
    # What is asked before there is an instance, the loader answers itself.
    hooked = {n: c for n, c in answers.items() if params_of(c)[0].type in DEVICE + INSTANCE}
    calls = list(hooked) + ['vkCreateInstance']
    values = {}
    for v, n in reg.enums['VkResult']:
        if not n.endswith('MAX_ENUM'):
            values.setdefault(n, v)
    alias = {a: n for a, n in ((e.get('name'), e.get('alias')) for e in reg.root.iter('enum')) if n}
    number = lambda n: values[alias.get(n, n)]  # noqa: E731

    head = [LIC, '#pragma once\n', 'enum lose_call {', '    LOSE_NO_CALL,'] + [f'    LOSE_{n},' for n in calls]
    gone = [n for n, c in sorted(reg.commands.items()) if n in reg.used and n.startswith(('vkDestroy', 'vkFree'))
            and params_of(c)[0].type == 'VkDevice' and n not in ('vkDestroyDevice',) and len(params_of(c)) > 2]
    (out / 'lose_calls.h').write_text('\n'.join(head + ['    LOSE_NUM_CALLS,', f'    LOSE_NUM_DESTROYS = {len(gone)}', '};', '']))

    table = [LIC, '#include "lose/table.h"\n', 'const struct lose_result_name lose_results[] = {']
    table += [f'    {{{v}, "{n}", "{short(n)}"}},' for n, v in sorted(values.items(), key=lambda x: -x[1]) if v]
    table += ['};', 'const unsigned lose_num_results = sizeof(lose_results) / sizeof(lose_results[0]);', '']
    for n in calls:
        may = sorted({number(c) for c in codes(answers[n])}, reverse=True)
        table.append(f'static const int32_t may_{n}[] = {{{", ".join(map(str, may + [0]))}}};')
    table += ['', 'const struct lose_call_desc lose_calls[LOSE_NUM_CALLS] = {']
    table += [f'    [LOSE_{n}] = {{"{n}", may_{n}}},' for n in calls] + ['};', '']
    (out / 'lose_table.c').write_text('\n'.join(table))

    src = [LIC, '#include "lose/device.h"\n']
    for n, c in hooked.items():
        src += hook(reg, n, c)
    src += ['const struct fault_hook fault_hooks[] = {']
    for n, c in hooked.items():
        device = 'true' if params_of(c)[0].type in DEVICE else 'false'
        for name in [n] + [a for a in reg.command_aliases.get(n, []) if a in reg.used]:
            src.append(f'    {{"{name}", LOSE_{n}, {device}, (PFN_vkVoidFunction)(void (*)(void))fault_{n}}},')
    src += ['    {0},', '};', '']
    each = [LIC]
    for n, c in hooked.items():
        each += call_each(n, c)
    each += ['static VkResult (*const call_each[LOSE_NUM_CALLS])(void (*fn)(void), void *object, void *memory) = {']
    (out / 'lose_each.h').write_text('\n'.join(each + [f'    [LOSE_{n}] = call_{n},' for n in hooked] + ['};', '']))
    for i, n in enumerate(gone):
        src += destroy_hook(n, reg.commands[n], i)
    src += ['const struct layer_hook destroy_hooks[] = {'] + [
        f'    {{"{name}", (PFN_vkVoidFunction)destroy_{n}}},' for n in gone for name in [n] + [a for a in reg.command_aliases.get(n, []) if a in reg.used]]
    src += ['    LAYER_HOOKS_END,', '};', '', 'const char *const destroy_names[LOSE_NUM_DESTROYS] = {']
    (out / 'lose_hooks.c').write_text('\n'.join(src + [f'    "{n}",' for n in gone] + ['};', '']))


main()
