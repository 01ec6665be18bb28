#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the COM tables of the runtime: which of an interface's methods the sources define, and an honest answer for those
that they do not.
  gen.py HEADER_DIR OUT.h OUT.c SOURCE...
A class is a prefix and an interface: a function PREFIX_Method in the sources is the method; else BASE_Method is, of a base
class; else the call is logged once and answers E_NOTIMPL, or nothing. Direct3D 10's device is a face of 11's: what only
has other types there is passed on to 11's method of the same name, and its objects are faces of 11's (d10.c).
A method of a device or a context that takes objects is called by way of a check that they are the device's own."""
import re
import sys

folder, out_h, out_c, sources = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
CHILD = "d3d_child"
CLASSES = [
    ("d3d_device", "ID3D11Device1", []),
    ("d3d_dxgi_device", "IDXGIDevice2", []),
    ("d3d_context", "ID3D11DeviceContext1", []),
    ("d3d_deferred", "ID3D11DeviceContext1", ["d3d_context"]),
    ("d3d_list", "ID3D11CommandList", [CHILD]),
    ("d3d_context_state", "ID3DDeviceContextState", [CHILD]),
    ("d3d_keyed", "IDXGIKeyedMutex", []),
    ("d3d_queue", "ID3D11InfoQueue", []),
    ("d3d_lock", "ID3D10Multithread", []),
    ("d3d_context_lock", "ID3D11Multithread", []),
    ("d3d_annotation", "ID3DUserDefinedAnnotation", []),
    ("d3d_buffer", "ID3D11Buffer", ["d3d_resource", CHILD]),
    ("d3d_texture1d", "ID3D11Texture1D", ["d3d_resource", CHILD]),
    ("d3d_texture", "ID3D11Texture2D", ["d3d_resource", CHILD]),
    ("d3d_texture3d", "ID3D11Texture3D", ["d3d_resource", CHILD]),
    ("d3d_shared", "IDXGIResource", []),
    ("d3d_surface", "IDXGISurface1", []),
    ("d3d_srv", "ID3D11ShaderResourceView", ["d3d_view", CHILD]),
    ("d3d_rtv", "ID3D11RenderTargetView", ["d3d_view", CHILD]),
    ("d3d_dsv", "ID3D11DepthStencilView", ["d3d_view", CHILD]),
    ("d3d_uav", "ID3D11UnorderedAccessView", ["d3d_view", CHILD]),
    ("d3d_vs", "ID3D11VertexShader", [CHILD]),
    ("d3d_ps", "ID3D11PixelShader", [CHILD]),
    ("d3d_gs", "ID3D11GeometryShader", [CHILD]),
    ("d3d_hs", "ID3D11HullShader", [CHILD]),
    ("d3d_ds", "ID3D11DomainShader", [CHILD]),
    ("d3d_cs", "ID3D11ComputeShader", [CHILD]),
    ("d3d_layout", "ID3D11InputLayout", [CHILD]),
    ("d3d_blend", "ID3D11BlendState1", [CHILD]),
    ("d3d_depth", "ID3D11DepthStencilState", [CHILD]),
    ("d3d_raster", "ID3D11RasterizerState1", [CHILD]),
    ("d3d_sampler", "ID3D11SamplerState", [CHILD]),
    ("d3d_query", "ID3D11Query", ["d3d_async", CHILD]),
    ("d3d_predicate", "ID3D11Predicate", ["d3d_async", CHILD]),
    ("d10_device", "ID3D10Device1", []),
    ("d10_buffer", "ID3D10Buffer", ["d10_resource", "d10_child"]),
    ("d10_texture1d", "ID3D10Texture1D", ["d10_resource", "d10_child"]),
    ("d10_texture", "ID3D10Texture2D", ["d10_resource", "d10_child"]),
    ("d10_texture3d", "ID3D10Texture3D", ["d10_resource", "d10_child"]),
    ("d10_srv", "ID3D10ShaderResourceView1", ["d10_view", "d10_child"]),
    ("d10_rtv", "ID3D10RenderTargetView", ["d10_view", "d10_child"]),
    ("d10_dsv", "ID3D10DepthStencilView", ["d10_view", "d10_child"]),
    ("d10_vs", "ID3D10VertexShader", ["d10_child"]),
    ("d10_ps", "ID3D10PixelShader", ["d10_child"]),
    ("d10_gs", "ID3D10GeometryShader", ["d10_child"]),
    ("d10_layout", "ID3D10InputLayout", ["d10_child"]),
    ("d10_blend", "ID3D10BlendState1", ["d10_child"]),
    ("d10_depth", "ID3D10DepthStencilState", ["d10_child"]),
    ("d10_raster", "ID3D10RasterizerState", ["d10_child"]),
    ("d10_sampler", "ID3D10SamplerState", ["d10_child"]),
    ("d10_query", "ID3D10Query", ["d10_async", "d10_child"]),
    ("d10_predicate", "ID3D10Predicate", ["d10_async", "d10_child"]),
    ("dxgi_factory", "IDXGIFactory5", ["dxgi_object"]),
    ("dxgi_adapter", "IDXGIAdapter3", ["dxgi_object"]),
    ("dxgi_output", "IDXGIOutput1", ["dxgi_object"]),
    ("dxgi_swapchain", "IDXGISwapChain3", ["dxgi_object"]),
]
# Methods that an older interface has take that one.
SINCE = {"ID3D11Device1": "ID3D11Device", "ID3D11DeviceContext1": "ID3D11DeviceContext", "ID3D11BlendState1": "ID3D11BlendState",
         "ID3D11RasterizerState1": "ID3D11RasterizerState"}
text = "".join(open(f"{folder}/{h}.h").read() for h in ("d3d10", "d3d10_1", "d3d11", "d3d11_1", "d3d11_4", "d3d11sdklayers", "dxgi", "dxgi1_2", "dxgi1_3", "dxgi1_4", "dxgi1_5"))
code = "".join(open(s).read() for s in sources)
# a function, or the first argument of a macro that makes one
defined = set(re.findall(r"^[\w* ]+STDMETHODCALLTYPE (\w+)\(", code, re.M)) | set(re.findall(r"^[A-Z_]+\((d\w+_\w+),", code, re.M))
# FACE makes what both faces of a resource have
for prefix in re.findall(r"^FACE\((\w+),", code, re.M):
    defined |= {f"{prefix}_{what}" for what in ("QueryInterface", "AddRef", "Release", "GetPrivateData", "SetPrivateData",
                                                "SetPrivateDataInterface", "GetParent", "GetDevice")}
# IUNKNOWN_OF what a further face of a device or context passes on
for prefix in re.findall(r"^IUNKNOWN_OF\((\w+),", code, re.M):
    defined |= {f"{prefix}_{what}" for what in ("QueryInterface", "AddRef", "Release")}
# D10_SHADER and D10_TEXTURE what Direct3D 10 has of each
for stage, kind in re.findall(r"^D10_SHADER\((\w+), (\w+)\)", code, re.M):
    defined |= {f"d10_device_{what}" for what in (f"{stage}SetShader", f"{stage}GetShader", f"Create{kind}")}
defined |= {f"d10_device_CreateTexture{dim}" for dim in re.findall(r"^D10_TEXTURE\((\w+)\)", code, re.M)}
# FILTERS what the info queue has of each kind
for what in re.findall(r"^FILTERS\((\w+),", code, re.M):
    defined |= {f"d3d_queue_{name}" for name in (f"Add{what}FilterEntries", f"Clear{what}Filter", f"PushEmpty{what}Filter", f"PushCopyOf{what}Filter",
                                                 f"Push{what}Filter", f"Pop{what}Filter", f"Get{what}FilterStackSize", f"Get{what}Filter")}
# BREAKS what it stops at
for what in re.findall(r"^BREAKS\((\w+),", code, re.M):
    defined |= {f"d3d_queue_{how}BreakOn{what}" for how in ("Set", "Get")}
# CONSTANT_BUFFERS those of a stage
for prefix in re.findall(r"^CONSTANT_BUFFERS\((\w+),", code, re.M):
    defined |= {f"{prefix}{what}" for what in ("SetConstantBuffers", "SetConstantBuffers1", "GetConstantBuffers1")}
# GET_STAGE and SET_STAGE make one of each for a stage
for prefix in re.findall(r"^GET_STAGE\((\w+),", code, re.M):
    defined |= {f"{prefix}Get{what}" for what in ("ConstantBuffers", "ShaderResources", "Samplers")}



def passed_on(ret, own, args, target):
    """A method of ID3D10Device1 that calls 11's of the same name."""
    names = [re.match(r"(.*?)(\w+)(\[\d+\])?$", a.strip()).groups() for a in args.split(",")]
    count = next((n for kind, n, _ in names if n.startswith("Num") and "*" not in kind), None)
    if "_Create" in own:
        count = None  # of what makes, it counts something else: one is made
    before, after = [], []
    out = ["(void *)&d10_device_of(This)->context" if "_context_" in target else "(void *)d10_device_of(This)"]
    for kind, name, _ in names[1:]:
        kind, iface = kind.strip(), re.match(r"ID3D10(\w+) (.*)", kind.strip())
        if iface and iface.group(2) == "*":
            out.append(f"(ID3D11{iface.group(1)} *)d10_child_of({name})")
        elif iface and "const" in iface.group(2):
            before.append(f"void *of_{name}[128]; d10_children(of_{name}, (void *const *){name}, {count});")
            out.append(f"{name} ? (ID3D11{iface.group(1)} *const *)of_{name} : NULL")
        elif iface:
            out.append(f"(ID3D11{iface.group(1)} **){name}")
            after.append(f"d10_faces((void **){name}, {count or 1});")
            count = None  # the first of several is the array
        elif "D3D10_" in kind:
            out.append(f"({kind.replace('D3D10_', 'D3D11_')}){name}")
        else:
            out.append(name)
    call = f"{target}({', '.join(out)});"
    if ret != "void":
        call, after = f"{ret} r = {call}", after + ["return r;"]
    return f"static {ret} STDMETHODCALLTYPE {own}({args}) {{ {' '.join(before)} {call} {' '.join(after)} }}"


def parameters(args):
    """Those behind This: each as its type without the name, its name, and what makes it an array."""
    return [(kind.strip(), name, array) for kind, name, array in
            (re.match(r"(.*?)(\w+)(\[\d+\])?$", a.strip()).groups() for a in args.split(","))][1:]


checks = {}  # the checks that there are, by what they call


def checked(prefix, iface, name, ret, args, target):
    """The function that calls `target` unless an object is another device's; `target` itself, where there is none to look at."""
    params, foreign, outs, count = parameters(args), [], [], "1"
    for i, (kind, param, _) in enumerate(params):
        count = param if param.startswith("Num") and "*" not in kind else count
        object = re.match(r"(ID3D11|ID3DDeviceContextState)(?!Class)\w* (.*)", kind)
        if name.startswith("OMSetRenderTargets") and re.match(r"ID3D11(RenderTarget|DepthStencil)View ", kind):
            continue  # bound all the same, as on Windows, and nothing to the driver (uav.c)
        where = f"{param}, {{}}{i + 1}, \"{SINCE.get(iface, iface)}::{name}\")"
        if object and object.group(2) == "*":
            foreign.append(f"d3d_foreign(d, {where.format('')}")
        elif object and "const" in object.group(2):
            foreign.append(f"d3d_foreign_any(d, (void *const *){where.format(count + ', ')}")
        elif object:
            outs.append(f"if ({param}) *{param} = NULL;")
        elif kind == "D3D11_MAPPED_SUBRESOURCE *":
            outs.append(f"if ({param}) {param}->pData = NULL;")
    if not foreign or prefix not in ("d3d_device", "d3d_context", "d3d_deferred"):
        return target
    if target not in checks:
        checks[target] = f"own_{target}"
        device = "(struct d3d_device *)This" if prefix == "d3d_device" else "((struct d3d_context *)This)->device"
        refused = {"void": "return;", "HRESULT": "return E_INVALIDARG;"}.get(ret, "return 0;")
        body.append(f"static {ret} STDMETHODCALLTYPE own_{target}({args}) {{ struct d3d_device *d = {device};"
                    f" if ({' || '.join(foreign)}) {{ {' '.join(outs)} {refused} }}"
                    f" {'' if ret == 'void' else 'return '}{target}({', '.join(['(void *)This'] + [n for _, n, _ in params])}); }}")
    return checks[target]


def ten_of(name):
    """Where 11 has what is 10's device's: the context first, but for what both have of their own."""
    return ("d3d_device_",) if "PrivateData" in name else ("d3d_context_", "d3d_device_")


def recorded(name, own, args, target):
    """A method of a deferred context: the call is kept with what it names, and the context's own state is set as it says."""
    params = parameters(args)
    counts = [n for kind, n, _ in params if n.startswith("Num") and "*" not in kind]
    fields, sets, plays, last = [], [], [], counts[0] if counts else "1"
    for kind, param, array in params:
        last = param if param in counts else last
        base = re.sub(r"const|\*| ", "", kind)
        if "ClassInstance" in kind:
            plays.append("NULL")
            continue
        fields.append(f"{'const ' + base + ' *' if array else kind + ' '}{param};")
        plays.append("0" if param == "NumClassInstances" else f"a->{param}")
        if kind.startswith("ID3D11") and "const" in kind:
            sets.append(f"a->{param} = d3d_hold_all(This, {param}, {last});")
        elif kind.startswith("ID3D11"):
            sets.append(f"a->{param} = d3d_hold(This, {param});")
        elif array or "*" in kind:
            count = array[1:-1] if array else "1" if base == "D3D11_BOX" else last
            sets.append(f"a->{param} = d3d_keep(This, {param}, {count}, sizeof(*{param}));")
        else:
            sets.append(f"a->{param} = {param};")
    call = ", ".join(["(void *)This"] + [n for _, n, _ in params])
    played = ", ".join(["(void *)on"] + plays)
    take = f"const struct call_{name} *a = (const void *)call; " if "a->" in played else ""
    put = f" if (a) {{ {' '.join(sets)} }}" if sets else " (void)a;"
    return (f"struct call_{name} {{ struct d3d_call call; {' '.join(fields)} }};\n"
            f"static void play_{name}(ID3D11DeviceContext1 *on, const struct d3d_call *call) {{ {take}{target}({played}); }}\n"
            f"static void STDMETHODCALLTYPE {own}({args}) {{ struct call_{name} *a = d3d_record(This, sizeof(*a), play_{name});{put}"
            f" {target}({call}); }}")


header = ['/* Made by gen.py. */', '#pragma once', '#include "d3d/com.h"', '']
body = ['/* Made by gen.py. */', '#include "d3d/tables.h"', '#include "d3d/d3d.h"', '#include "d3d/d10.h"', '']
done, declared, missing = set(), set(), 0
def methods(iface):
    table = re.search(r"typedef struct %sVtbl \{(.*?)END_INTERFACE" % iface, text, re.S).group(1)
    return [(ret.strip(), name, re.sub(r"\s+", " ", args))
            for ret, name, args in re.findall(r"([\w* ]+?)\s*\(STDMETHODCALLTYPE \*(\w+)\)\(\s*(.*?)\);", table, re.S)]


for prefix, iface, bases in CLASSES:
    rows = []
    older = {name for _, name, _ in methods(SINCE[iface])} if iface in SINCE else set()
    for ret, name, args in methods(iface):
        own = f"{prefix}_{name}"
        if name in older and own in defined:
            args = args.replace(f"{iface} *This", f"{SINCE[iface]} *This", 1)
        base = next((f"{b}_{name}" for b in bases if f"{b}_{name}" in defined), None)
        if own in defined:
            header.append(f"{ret} STDMETHODCALLTYPE {own}({args});")
            declared.add(own)
            rows.append(f"    .{name} = (void *){checked(prefix, iface, name, ret, args, own)},")
        elif prefix == "d3d_deferred" and base and ret == "void" and not re.search(r"^([A-Z]{2})?Get[A-Z]|^Swap", name):
            body.append(recorded(name, own, args, base))
            rows.append(f"    .{name} = {checked(prefix, iface, name, ret, args, own)},")
        elif base:
            if base not in done and base not in declared:
                first = re.sub(r"^\w+ \*This", "void *This", args)
                header.append(f"{ret} STDMETHODCALLTYPE {base}({first});")
                done.add(base)
            rows.append(f"    .{name} = (void *){checks.get(base, base)},")
        elif prefix == "d10_device" and (to := next((p + name for p in ten_of(name) if p + name in defined), None)):
            body.append(passed_on(ret, own, args, checks.get(to, to)))
            rows.append(f"    .{name} = {own},")
        else:
            missing += 1
            answer = {"void": "", "HRESULT": " return E_NOTIMPL;"}.get(ret, " return 0;")
            body.append(f"static {ret} STDMETHODCALLTYPE {own}({args}) {{ static LONG said;"
                        f" d3d_missing(&said, \"{iface}::{name}\");{answer} }}")
            rows.append(f"    .{name} = {own},")
    header.append(f"extern const {iface}Vtbl {prefix}_vtbl;")
    body += [f"const {iface}Vtbl {prefix}_vtbl = {{"] + rows + ["};", ""]
open(out_h, "w").write("\n".join(header) + "\n")
open(out_c, "w").write("\n".join(body) + "\n")
