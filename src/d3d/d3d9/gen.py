#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The vtables of Direct3D 9's interfaces, from Wine's header and from what the sources define.
  gen.py HEADERS OUT.h OUT.c SOURCE...
A method is PREFIX_Method, or BASE_Method of a base, or one that says so once and answers D3DERR_INVALIDCALL. Every one is whole:
the table's entry holds the lock of the device while the method runs; but Release, which may end the device, and the factory's."""
import re
import sys

folder, out_h, out_c, *sources = sys.argv[1:]
DEVICE = {"d9_device": "d9_device_of(This)", "d9_swapchain": "((struct d9_swapchain *)This)->device",
          "d9_surface": "((struct d9_surface *)This)->resource->o.device",
          "d9_volume": "((struct d9_surface *)This)->resource->o.device"}
OBJECTS = "((struct d9_object *)This)->device"
CLASSES = [
    ("d9_factory", "IDirect3D9Ex", []),
    ("d9_device", "IDirect3DDevice9Ex", []),
    ("d9_swapchain", "IDirect3DSwapChain9Ex", []),
    ("d9_surface", "IDirect3DSurface9", []),
    ("d9_texture", "IDirect3DTexture9", ["d9_base", "d9_resource", "d9_object"]),
    ("d9_cube", "IDirect3DCubeTexture9", ["d9_base", "d9_resource", "d9_object"]),
    ("d9_volumes", "IDirect3DVolumeTexture9", ["d9_base", "d9_resource", "d9_object"]),
    ("d9_volume", "IDirect3DVolume9", []),
    ("d9_vb", "IDirect3DVertexBuffer9", ["d9_buffer", "d9_resource", "d9_object"]),
    ("d9_ib", "IDirect3DIndexBuffer9", ["d9_buffer", "d9_resource", "d9_object"]),
    ("d9_vs", "IDirect3DVertexShader9", ["d9_shader", "d9_object"]),
    ("d9_ps", "IDirect3DPixelShader9", ["d9_shader", "d9_object"]),
    ("d9_decl", "IDirect3DVertexDeclaration9", ["d9_object"]),
    ("d9_query", "IDirect3DQuery9", ["d9_object"]),
    ("d9_block", "IDirect3DStateBlock9", ["d9_object"]),
]
text = re.sub(r"/\*.*?\*/", " ", open(f"{folder}/d3d9.h").read(), flags=re.S)
code = "".join(open(s).read() for s in sources)
defined = set(re.findall(r"^[\w* ]+STDMETHODCALLTYPE (\w+)\(", code, re.M)) | set(re.findall(r"^[A-Z_]+\((d9_\w+),", code, re.M))

header = ['/* Made by gen.py. */', '#pragma once', '#include "d3d/d3d9/com9.h"', '']
body = ['/* Made by gen.py. */', '#include "d3d/d3d9/tables.h"', '#include "d3d/d3d9/rt9.h"', '']
done = set()
for prefix, iface, bases in CLASSES:
    table = re.search(r"DECLARE_INTERFACE_\(%s\s*,.*?\{(.*?)\};" % iface, text, re.S).group(1)
    rows = []
    for ret, name, args in re.findall(r"STDMETHOD_?\(((?:[\w ]+\*?,\s*)?)(\w+)\)\s*\((.*?)\)\s*PURE;", table, re.S):
        ret = ret.strip().rstrip(",") or "HRESULT"
        args = re.sub(r"\*(?=,|$)", "*unnamed", re.sub(r"\s+", " ", args).strip())
        args = f"{iface} *This, " + args[5:].strip() if args.startswith("THIS_") else f"{iface} *This"
        own = f"{prefix}_{name}"
        base = next((f"{b}_{name}" for b in bases if f"{b}_{name}" in defined), None)
        function = own if own in defined or not base else base
        if own in defined:
            header.append(f"{ret} STDMETHODCALLTYPE {own}({args});")
        elif base:
            if base not in done:
                header.append(f"{ret} STDMETHODCALLTYPE {base}({re.sub(r'^[A-Za-z0-9]+ [*]This', 'void *This', args)});")
                done.add(base)
        else:
            answer = {"void": "", "HRESULT": " return D3DERR_INVALIDCALL;"}.get(ret, " return 0;")
            body.append(f"static {ret} STDMETHODCALLTYPE {own}({args}) {{ static LONG said;"
                        f" d9_missing(&said, \"{iface}::{name}\");{answer} }}")
        if name == "Release" or prefix == "d9_factory":
            rows.append(f"    .{name} = {'' if function == own else '(void *)'}{function},")
            continue
        names = ", ".join(re.search(r"(\w+)$", a).group(1) for a in args.split(","))
        keep, answer = ("", "") if ret == "void" else (f"{ret} r = ", " return r;")
        body.append(f"static {ret} STDMETHODCALLTYPE locked_{own}({args}) {{ struct d9_device *d = {DEVICE.get(prefix, OBJECTS)};"
                    f" pthread_mutex_lock(&d->lock); {keep}{function}({names}); pthread_mutex_unlock(&d->lock);{answer} }}")
        rows.append(f"    .{name} = locked_{own},")
    header.append(f"extern const {iface}Vtbl {prefix}_vtbl;")
    body += [f"const {iface}Vtbl {prefix}_vtbl = {{"] + rows + ["};", ""]
open(out_h, "w").write("\n".join(header) + "\n")
open(out_c, "w").write("\n".join(body) + "\n")
