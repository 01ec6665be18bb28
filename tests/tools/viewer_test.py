#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# usage: viewer_test.py AEROGPU STUB CALLALL WORKLOAD ELSEWHERE: the page of a recording, in a browser: what a click on a column's head, and a choice of
# the order of calls, make of its lists. Speaks TAP.
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

aerogpu, stub, callall, workload, elsewhere = map(os.path.abspath, sys.argv[1:6])
if not shutil.which("chromium"):
    print("1..0 # SKIP chromium is not installed")
    sys.exit(0)
CLICKS = """
<script>const out = {};let later = Promise.resolve();{
const texts = (rows, k) => [...rows].map(r => r.cells[k].textContent);
const side = () => document.querySelector("#side table");
const head = k => side().tHead.rows[0].cells[k];
const calls = () => [...document.querySelectorAll("#list .row:not(.group)")].slice(0, 30).map(r => r.textContent.trim());
document.getElementById("index").click();
out.objects = texts(side().tBodies[0].rows, 0);
head(1).click();
out.types = texts(side().tBodies[0].rows, 1);
head(1).click();
out.types_back = texts(side().tBodies[0].rows, 1);
out.calls = calls();
const order = document.getElementById("order");
order.value = "method";
order.dispatchEvent(new Event("change"));
out.methods = calls();
document.querySelector("#side a[data-o]").click();
out.life = texts(side().tBodies[0].rows, 0);
}</script>
"""
INSIDE = """
<script>const out = {parts: {}};let later = Promise.resolve();{
go(%(draw)d);
for (const d of document.querySelectorAll("#side details")) out.parts[d.id] = d.textContent;
const canvas = document.querySelector("#side canvas.mesh"), pixels = canvas ? canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data : [];
out.mesh = 0;
for (let i = 3; i < pixels.length; i += 4) out.mesh += pixels[i] > 0;
out.time = (document.getElementById("gpu-time") || {textContent: ""}).textContent;
later = pixelChanges(%(draw)d, 8, 8).then(list => { out.picked = list.map(c => c.call); });
[...document.querySelectorAll("#bindings a[data-i]")].pop().click();
out.after = document.querySelector("#side h2").textContent;
[...document.querySelectorAll("header button")].find(b => b.textContent === "queues").click();
out.executes = document.querySelectorAll("#side .execute").length;
out.signals = document.querySelectorAll("#side .signal").length;
[...document.querySelectorAll("header button")].find(b => b.textContent === "memory").click();
out.memory = [...document.querySelectorAll("#side .memory rect")].map(r => +r.dataset.o);
out.addresses = [location.hash];
showObject(%(target)d);
out.addresses.push(location.hash);
go(%(draw)d);
out.thumbs = document.querySelectorAll("#targets img.thumb").length;
const constants = document.getElementById("constants");
constants.open = false;
history.replaceState(null, "", "#call=%(draw)d&part=constants");
go(0);
history.replaceState(null, "", "#call=%(draw)d&part=constants");
route();
out.addresses.push(location.hash);
out.opened = document.getElementById("constants").open && document.querySelector("#side h2").textContent;
const shown = (kind, view, d) => partsOfView({ViewDimension: "D3D12_SRV_DIMENSION_" + kind, view}, {Dimension: "D3D12_RESOURCE_DIMENSION_TEXTURE2D", Width: 8, Height: 4, DepthOrArraySize: 1, MipLevels: 0, ...d}).map(x => x[0]);
out.shown = [shown("TEXTURE2DARRAY", {MostDetailedMip: 1, MipLevels: 4294967295, FirstArraySlice: 1, ArraySize: 4294967295}, {DepthOrArraySize: 3}),
  shown("TEXTURE3D", {MostDetailedMip: 3, MipLevels: 9}, {Dimension: "D3D12_RESOURCE_DIMENSION_TEXTURE3D", DepthOrArraySize: 16}), shown("TEXTURECUBE", {MostDetailedMip: 0, MipLevels: 1}, {DepthOrArraySize: 12, MipLevels: 1})];
out.odd = ["#call=-1", "#call=0.5", "#call=99999999", "#view=%%", "#view=none", "#object=-1"].map(a => {
  history.replaceState(null, "", a);
  try { route(); } catch (e) { return String(e); }
  return document.querySelector("#side h2").textContent.split(" ").slice(0, 2).join(" ");
});
showObject(%(target)d);
const figure = () => document.querySelector("#side figure img");
out.sub = [...document.querySelectorAll("#side figcaption")].map(f => f.textContent);
const hidden = () => [...document.querySelectorAll("#side figure")].map(f => f.hidden), choice = document.querySelector("[data-subs]");
out.hidden = [hidden()];
choice.value = "1";
choice.dispatchEvent(new Event("change", {bubbles: true}));
out.hidden.push(hidden());
out.filter = [figure() && getComputedStyle(figure()).filter];
document.querySelector("#side [data-channel=G]").click();
out.filter.push(figure() && getComputedStyle(figure()).filter);
const press = (key, where) => (where || document.body).dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
go(0);
out.keys = [];
for (const key of ["n", "n", "p", "j", "k", "k"]) {
  press(key);
  out.keys.push(selected);
}
press("n", document.getElementById("q"));
out.keys.push(selected);
press("?");
out.help = document.querySelector("#side").textContent;
Object.defineProperty(navigator, "clipboard", {value: {writeText: t => { out.copied = t.split("#")[1]; return Promise.resolve(); }}, configurable: true});
go(%(draw)d);
document.getElementById("copy").click();
const table = {index: 1, kind: "table", ranges: [{kind: "SRV", register: 2, count: 3, space: 1}]};
out.used = [{kind: "texture", register: 4, space: 1}, {kind: "texture", register: 5, space: 1}, {kind: "texture", register: 4, space: 0},
  {kind: "typed UAV", register: 4, space: 1}].map(b => isUsed(table, [b]));
out.doubts = doubtsOf(%(draw)d, [], [], {method: "DrawInstanced", args: {VertexCountPerInstance: 0}}, null).certain;
// What is said of a draw that does something else than to write colours: certain, and what may be wrong.
const saidOf = f => { const say = [], may = []; f(t => say.push(t), t => may.push(t)); return [say.length, may.length]; };
const plainBlend = {BlendEnable: 1, SrcBlend: "D3D12_BLEND_ZERO", DestBlend: "D3D12_BLEND_ONE", BlendOp: "D3D12_BLEND_OP_ADD", SrcBlendAlpha: "D3D12_BLEND_ZERO", DestBlendAlpha: "D3D12_BLEND_ONE",
  BlendOpAlpha: "D3D12_BLEND_OP_ADD", RenderTargetWriteMask: 15}, writes = {out: [{semantic: "SV_Target", index: 0}]};
const black0 = {targets: [{target: 0, values: [0, 0, 0, 1]}]};
const ofTarget = (t, k, besides, px) => saidOf((say, may) => doubtsOfTarget(k, {}, {...plainBlend, ...t}, px || null, writes, null, new Map(), [1, 1, 1, 1], null, besides, say, may));
out.right = {nothing: ofTarget({}, 0, false), alpha: ofTarget({SrcBlendAlpha: "D3D12_BLEND_ONE"}, 0, false), noAlpha: ofTarget({SrcBlendAlpha: "D3D12_BLEND_ONE", RenderTargetWriteMask: 7}, 0, false),
  black: ofTarget({BlendEnable: 0}, 0, false, black0), mask: ofTarget({RenderTargetWriteMask: 0}, 0, false), besides: ofTarget({RenderTargetWriteMask: 0}, 0, true), alphaAlone: ofTarget({RenderTargetWriteMask: 8}, 0, false),
  second: ofTarget({}, 1, false)};
const keep = {StencilFailOp: "D3D12_STENCIL_OP_KEEP", StencilDepthFailOp: "D3D12_STENCIL_OP_KEEP", StencilPassOp: "D3D12_STENCIL_OP_KEEP"}, counts = {...keep, StencilPassOp: "D3D12_STENCIL_OP_REPLACE"};
out.depths = [{DepthEnable: 1, DepthWriteMask: "D3D12_DEPTH_WRITE_MASK_ALL"}, {DepthEnable: 1, DepthWriteMask: "D3D12_DEPTH_WRITE_MASK_ZERO"}, {StencilEnable: 1, StencilWriteMask: 255, FrontFace: keep, BackFace: counts},
  {StencilEnable: 1, StencilWriteMask: 255, FrontFace: keep, BackFace: keep}, {StencilEnable: 1, StencilWriteMask: 0, FrontFace: counts, BackFace: counts}].map(depth => isWritingDepth({depth}));
const pipelineOf = pDesc => ({call: {call: 0, method: "CreateGraphicsPipelineState", args: {pDesc}}}), areas = d => d.filter(x => /target|viewport|scissor/.test(x)).length;
const doubtsWith = (lines, pDesc) => areas(doubtsOf(%(draw)d, lines, [], {method: "DrawInstanced", args: {VertexCountPerInstance: 3}}, pDesc && pipelineOf(pDesc)).certain);
out.others = [doubtsWith([]), doubtsWith([{role: "binding", stage: "pixel", kind: "structured UAV", register: 1, space: 0, count: 1}]), doubtsWith([], {StreamOutput: {NumEntries: 1, RasterizedStream: 4294967295}})];
}</script>
"""
BLACK = """
<script>const out = {};let later = Promise.resolve();{
for (const i of inside.draws.keys()) {
  const box = document.createElement("div");
  box.innerHTML = insideOf(i).html;
  out[i] = [...box.querySelectorAll("#doubts p, #maybe p")].map(p => (p.closest("#maybe") ? "may: " : "") + p.textContent);
  out.places = {...out.places, [i]: placeOf(i).map(saysOf)};
}
const begun = placeOf([...inside.draws.keys()][0])[0];
go(begun);
out.part = [...document.querySelectorAll("#side .place")].map(p => p.textContent);
}</script>
"""
# What the page says of each draw of the workload "black", by the name that it prints.
BLACK_SAID = {"fine": None, "culled": "every triangle faces back, and such are culled", "away": "every triangle lies outside of what is seen", "depth": "the depth target was cleared to 0 last",
              "no-depth": "the depth test is on, and no depth target", "scissor": "a scissor rectangle is empty", "scissor-away": "the scissor rectangle lies outside of the target",
              "no-scissor": "no scissor rectangle is set", "blend": "may: blending takes nothing of what the shader writes to target 0: its factor is ZERO", "black": "and nothing of what was there: the result is 0",
              "mask": "no channel of target 0 is written", "nan": "every triangle has a corner whose position is no number", "flat-w": "every triangle lies behind the eye: w is 0 or less", "inked": "may: the pixel shader writes black to every pixel of target 0: (0 0 0 1)",
              "zero-constants": "may: the vertex shader's transform (b0) holds zeros alone", "unbound": "nothing is bound to root parameter 0", "other-root": "the root signature that is set is #",
              "null-view": "names no resource", "no-view": "descriptors where nothing was ever put", "unwritten": "was written by no call that is known", "stride": "has a stride of 0",
              "no-buffer": "no vertex buffer is set in slot 0, from which POSITION comes", "behind": "vertices 0 to 5 are drawn, the buffer in slot 0 has 3",
              "index-format": "indices are of format R16_FLOAT", "indices-behind": "indices 0 to 5 are drawn, the index buffer has 3", "viewport": "a viewport of 0 by 16 has no pixels",
              "viewport-away": "the viewport lies outside of the target", "viewport-flipped": "may: a viewport of height -16 draws upside down", "samples": "the sample mask is 0", "stencil": "the stencil test never passes: the reference is 3, and stencil was cleared to 7 last",
              "no-target": "no render target and no depth target", "target-format": "target 0 is seen as R8G8B8A8_UNORM_SRGB", "topology": "the pipeline is made for TRIANGLE, what is set is LINELIST",
              "no-instance": "InstanceCount is 0", "cleared": "what it draws is cleared again behind it", "no-pixel-shader": "has no pixel shader", "predicated": "it is skipped: the predicate is in resource #",
              "indirect": "InstanceCount is 0", "bundle": "no scissor rectangle is set", "no-constants": "nothing is bound to root parameter 0, which a shader uses",
              "few-constants": "which are root constants, some were never set", "degenerate": "every triangle is without an area", "too-few": "2 vertices are not enough for one primitive of TRIANGLELIST",
              "no-vertex": "VertexCountPerInstance is 0", "never": "the depth test never passes", "stencil-never": "the stencil test never passes",
              "clear-ink": "its factor is SRC_ALPHA, and alpha is 0 in every pixel", "alpha-alone": "may: of target 0 alpha alone is written", "behind-eye": "every triangle lies behind the eye",
              "deep": "in front of or behind the depth that is seen", "factor": "its factor is BLEND_FACTOR, and nothing of what was there", "index-away": "index 900 names a vertex behind the end of a buffer",
              "no-command": "no command is executed", "counted-none": "no command is executed", "no-view-of-target": "target 0 is a descriptor where nothing was ever put",
              "null-target": "target 0 is a view of no resource", "writes-none": "1 targets are bound, the pipeline writes 0", "other-heap": "lies in heap #", "state": "is read by a shader and in state COPY_DEST",
              "target-state": "is a render target and in state COPY_SOURCE", "discards": "the pixel shader discards every pixel", "part": "shows mip 1, which no known call wrote"}
# The workload executes none of its lists: a bundle it has no list of.
UNEXECUTED = "its list is executed by no call behind it"
END = """
<script>later.then(() => {
const pre = document.createElement("pre");
pre.id = "out";
pre.textContent = JSON.stringify(out);
document.body.replaceChildren(pre);
});</script>
"""
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
tests = []


def check(what, good, why=""):
    tests.append(good)
    print(f"{'ok' if good else 'not ok'} {len(tests)} - {what}")
    if not good:
        print("# " + str(why)[:2000])


def look(path, script, work):
    """What the script, run in the page, leaves in `out`; {}: the page did not open."""
    page = open(path).read()
    open(path, "w").write(page.replace("</body>", script + END + "</body>"))
    dom = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=30000", "--dump-dom", f"file://{path}"],
                         env=dict(os.environ, HOME=work), capture_output=True, text=True, timeout=200).stdout
    m = re.search(r'<pre id="out">(.*?)</pre>', dom, re.S)
    check("the page opens", bool(m), dom[-1500:])
    return json.loads(re.sub(r"&(lt|gt|amp);", lambda e: {"lt": "<", "gt": ">", "amp": "&"}[e[1]], m[1])) if m else {}


def inside_a_draw(work):
    """A program that draws a triangle: what is on the page is what `show --state` says, and what was planted."""
    made = subprocess.run([aerogpu, "record", "-o", work + "/s", "--", workload, "scene"], capture_output=True, text=True)
    if made.returncode:
        print("# the workload cannot run here:", made.stderr[-300:])
        return
    calls = [json.loads(l) for l in subprocess.run([aerogpu, "show", "--json", work + "/s"], check=True, capture_output=True, text=True).stdout.splitlines()]
    draw = next(c["call"] for c in calls if c["method"] == "ExecuteIndirect")
    lines = [json.loads(l) for l in subprocess.run([aerogpu, "show", "--json", "--state", str(draw), work + "/s"], check=True,
                                                   capture_output=True, text=True).stdout.splitlines()]
    writer = {l["object"]: l["written_by"] for l in lines if l["role"] == "resource"}
    target = next(l["call"]["args"]["pResource"]["object"] for l in lines if l["role"] == "descriptor")
    bound = next(l["call"]["args"]["BufferLocation"]["base"]["object"] for l in lines
                 if l["role"] == "state" and l["call"]["method"] == "SetGraphicsRootConstantBufferView")
    subprocess.run([aerogpu, "show", "--html", work + "/s.html", "--pictures", "0-0", "--pixel", "8,8", work + "/s"], check=True, capture_output=True)
    played = subprocess.run([aerogpu, "play", "--pixel", "8,8", work + "/s"], check=True, capture_output=True, text=True).stdout
    change = re.search(r"^call %d: \w+: resource %d: (.*) -> (.*)$" % (draw, target), played, re.M)
    timed = re.findall(r"^call (\d+): ExecuteIndirect: [\d.]+ ms on the GPU$", subprocess.run(
        [aerogpu, "play", "--gpu-time", "--draws", "0-1000", work + "/s"], check=True, capture_output=True, text=True).stdout, re.M)
    draws = [str(c["call"]) for c in calls if c["method"] == "ExecuteIndirect"]
    page = open(work + "/s.html").read() # the program has let its target go at the end: two pictures, as playing would have left them
    open(work + "/s.html", "w").write(page.replace('id="pictures">', 'id="pictures">' + "".join(
        f"res-{target}-{k}.png\t{PIXEL}\n" for k in (0, 1))))
    said, there = [], {}
    for l in re.search(r'id="inside">(.*?)</script>', page, re.S)[1].splitlines():
        if l.startswith("{"):
            said.append(json.loads(l))
        else:
            there[l.split("\t")[0]] = [said[int(k)] for k in l.split("\t")[1].split()]
    state = lambda c: [json.loads(l) for l in subprocess.run([aerogpu, "show", "--json", "--state", c, work + "/s"], check=True,
                                                             capture_output=True, text=True).stdout.splitlines()]
    check("every draw has what show --state says of it", list(there) == draws and
          all([l for l in there[c] if l["role"] != "mesh"] == state(c) for c in draws), [draws, list(there)])
    out = look(work + "/s.html", INSIDE % {"draw": draw, "target": target}, work)
    if not out:
        return
    has = lambda part, *words: check(f"{part}: {', '.join(words)}", all(w in out["parts"].get(part, "") for w in words), out["parts"].get(part, out["parts"]))
    has("targets", f"Resource#{target}", f"call {writer[target]}")
    has("bindings", "CBV", "b0, space 0", f"Resource#{bound} at byte 8192", f"call {writer[bound]}")
    has("constants", "transform", "scale_offset", "0.9", f"resource {bound} at byte 8192")
    has("vertices", "POSITION", "COLOR", "-1 -1 0 1", "1 0 0 1")
    has("pipeline", "CreateGraphicsPipelineState", "cull", "NONE, front is clockwise", "R8G8B8A8_UNORM", "RGBA", "0xffffffff")
    has("shader-vertex", "model 5.0", "POSITION", "SV_Position", "transform", "mul", "ret")
    has("shader-pixel", "SV_Target")
    check("each instruction says what it wrote", re.search(r"\d+: \w+ o0\S*,.*  o0\.x\w* = -?[\d.]+", out["parts"].get("shader-vertex", "")), out["parts"].get("shader-vertex"))
    has("resources", f"#{bound}", f"#{target}", "16×16, R8G8B8A8_UNORM")
    check("the mesh is drawn", out["mesh"] > 50, out["mesh"])
    has("pixel", change[1], change[2], str(draw))
    check("each draw is timed", timed == draws and re.match(r"\d+\.\d{3} ms on the GPU", out["time"]) or not timed, [timed, draws, out["time"]])
    check("the same pixel by the pictures", out["picked"][:1] == [draw] and out["picked"] != draws, out["picked"])
    executes = sum(c["method"] == "ExecuteCommandLists" for c in calls)
    check("what the queue was given is on its line", out["executes"] == executes > 1 and out["signals"] > 1, out)
    made = [c["result"]["ppvResource"]["object"] for c in calls if c["method"] == "CreateCommittedResource"]
    check("every resource is on the map of memory", sorted(out["memory"]) == sorted(made), [out["memory"], made])
    check("a link leads to who wrote it", out["after"].startswith(f"call {writer[bound]} "), out["after"])
    check("a texture has a picture for each slice, one at a time", out["sub"] == ["subresource 0: mip 0", "subresource 1: mip 0, slice 1"] and
          out["hidden"] == [[False, True], [True, False]], out)
    check("what one sees has an address", out["addresses"] == ["#view=memory", f"#object={target}", f"#call={draw}&part=constants"] and
          out["opened"].startswith(f"call {draw} "), [out["addresses"], out["opened"]])
    check("a view shows these mips and slices", out["shown"] == [[5, 6, 7, 9, 10, 11], [3, 4], [0, 1, 2, 3, 4, 5]], out["shown"])
    check("an address of nothing leads to the first call", out["odd"] == ["call 0"] * 6, out["odd"])
    check("what is bound has its picture beside it", out["thumbs"] == 1, out["thumbs"])
    first, second = int(draws[0]), int(draws[1])
    check("keys go from draw to draw and from call to call; not where one types", out["keys"] == [first, second, first, first + 1, first, first - 1, first - 1],
          [out["keys"], draws])
    check("a draw that lacks nothing has no doubts", "doubts" not in out["parts"], out["parts"].get("doubts"))
    check("what a draw lacks is said", all(any(w in d for d in out["doubts"]) for w in (
        "VertexCountPerInstance is 0", "no pipeline", "no render target", "no viewport", "no scissor", "no root signature")), out["doubts"])
    check("what only black, alpha or other targets are written by may be meant", out["right"] == {"nothing": [1, 0], "alpha": [0, 1], "noAlpha": [1, 0], "black": [0, 1], "mask": [1, 0], "besides": [0, 1],
          "alphaAlone": [0, 1], "second": [0, 1]}, out["right"])
    check("depth and stencil are written", out["depths"] == [True, False, True, False, False], out["depths"])
    check("who streams out or writes where it likes needs no target", out["others"] == [3, 2, 0], out["others"])
    check("of root parameters those that a shader uses are missed", out["used"] == [True, False, False, False], out["used"])
    check("keys are listed", all(w in out["help"] for w in ("the next draw", "the frame before", "copy the address")), out["help"])
    check("the address can be copied", out.get("copied") == f"call={draw}", out.get("copied"))
    check("and each channel by itself", out["filter"] == ['url("#only-RGB")', 'url("#only-G")'], out["filter"])


def why_it_is_black(work):
    """Draws with one thing wrong each: the page says which, and of the one that is fine nothing."""
    made = subprocess.run([aerogpu, "record", "-o", work + "/b", "--", workload, "black"], capture_output=True, text=True)
    if made.returncode:
        print("# the workload cannot run here:", made.stderr[-300:])
        return
    subprocess.run([aerogpu, "show", "--html", work + "/b.html", work + "/b"], check=True, capture_output=True)
    out = look(work + "/b.html", BLACK, work)
    places, part = out.pop("places", {}), out.pop("part", [])
    said = [l.split()[0] for l in made.stdout.splitlines() if not l.startswith("black ")]
    check("each draw is on the page", len(out) == len(said) == len(BLACK_SAID), [said, out])
    draws = dict(zip(said, [out[k] for k in sorted(out, key=int)])) if out else {}
    named = dict(zip(said, [places[k] for k in sorted(places, key=int)]))
    check("a draw says which part the program calls it", all(named[n] == ([] if n == "bundle" else [n]) for n in named), named)
    check("a part says what it has", len(part) == 1 and re.match(r"1 draws and the like, from \d+ to \d+; it ends with call \d+$", part[0]), part)
    for name, lines in draws.items():
        wanted = BLACK_SAID[name]
        check(f"its list is said to be executed by no call: {name}", (UNEXECUTED in lines) == (name != "bundle"), lines)
        lines = [l for l in lines if l != UNEXECUTED]
        check(f"why it is not seen: {name}", lines == [] if wanted is None else lines and any(wanted in l for l in lines) and len(lines) <= 2, lines)


SIX = """
<script>const out = {};let later = Promise.resolve();
for (const i of inside.draws.keys()) {
  go(i);
  out[call(i).text.replace(/.*?\\.(\\w+)\\(.*/, "$1")] = [...document.querySelectorAll("#side details")].filter(d => /^shader-/.test(d.id)).map(d => d.textContent);
}
</script>
"""


def model_6(work):
    """Shaders of model 6: what stands beside a dispatch, rays and a draw."""
    env = dict(os.environ, LD_PRELOAD=stub, AEROGPU_SOURCE_ROOT=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    subprocess.run([aerogpu, "record", "-o", work + "/six", "--", elsewhere, "six"], env=env, check=True, capture_output=True)
    subprocess.run([aerogpu, "show", "--html", work + "/six.html", work + "/six"], check=True, capture_output=True)
    out = look(work + "/six.html", SIX, work)
    names = any(shutil.which(n) for n in ("llvm-dis-14", "llvm-dis"))
    for method, wanted in {"Dispatch": ["groups of 8 \u00d7 4 \u00d7 2 threads", "; parts: SFI0", "parameter 1, for all: table of"] + ["materialsconstant buffer", "; source six.hlsl"] * names,
                           "DispatchRays": ["; exports look (raygeneration)"] + ["sceneacceleration structure"] * names,
                           "DrawInstanced": ["not run: of models 4 to 5.1 alone", "model 6.0"] + ["smooth_onesampler", "@dx.op.sample.f32("] * names}.items():
        texts = "\n".join((out or {}).get(method, []))
        check(f"a shader of model 6 is shown: {method}", all(w in texts for w in wanted), texts[:600])


with tempfile.TemporaryDirectory() as work:
    inside_a_draw(work)
    model_6(work)
    why_it_is_black(work)
    env = dict(os.environ, LD_PRELOAD=stub, HOME=work)
    subprocess.run([aerogpu, "record", "-o", work + "/r", "--", callall], env=env, check=True, capture_output=True)
    subprocess.run([aerogpu, "show", "--html", work + "/v.html", work + "/r"], check=True, capture_output=True)
    out = look(work + "/v.html", CLICKS, work)
if out:
    numbers = [int(o[1:]) for o in out["objects"]]
    check("every object is listed", len(numbers) > 20 and numbers == sorted(numbers), numbers)
    check("objects are sorted by type", out["types"] == sorted(out["types"], key=str.lower) and len(set(out["types"])) > 5, out["types"])
    check("and the other way round", out["types_back"] == sorted(out["types"], key=str.lower, reverse=True), out["types_back"])
    name = [re.search(r"(\w+)\(", c)[1] for c in out["methods"]]
    check("calls are sorted by method", name == sorted(name) and out["methods"] != out["calls"], out["methods"])
    check("the calls of an object's life are a list", len(out["life"]) > 1 and all(c.isdigit() for c in out["life"]), out["life"])
print(f"1..{len(tests)}")
sys.exit(not all(tests))
