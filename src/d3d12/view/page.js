/* SPDX-License-Identifier: MIT */
// What a draw works on, beside its call: from the blocks "inside" and "shaders" (page.h).
const inside = {lines: [], draws: new Map(), shaders: new Map()};
for (const l of (document.getElementById("inside") || {textContent: ""}).textContent.split("\n")) {
  const k = l.indexOf("\t");
  if (l[0] === "{") inside.lines.push(l);
  else if (k > 0) inside.draws.set(+l.slice(0, k), l.slice(k + 1));
}
for (const l of (document.getElementById("shaders") || {textContent: ""}).textContent.split("\n"))
  if (l) inside.shaders.set(l.slice(0, 16), l.slice(17));

// What playing printed: times of a draw in ms, a line for each time that its list was executed; and what became of a pixel.
inside.times = new Map();
for (const m of (document.getElementById("times") || {textContent: ""}).textContent.matchAll(/^call (\d+): \w+: ([\d.]+) ms/gm))
  inside.times.set(+m[1], [...inside.times.get(+m[1]) || [], +m[2]]);
inside.pixel = {at: "", changes: []};
for (const l of (document.getElementById("pixel") || {textContent: ""}).textContent.split("\n")) {
  const m = /^(in front of )?call (\d+): (\w+): resource (\d+): (.*)$/.exec(l);
  if (m) inside.pixel.changes.push({before: !!m[1], call: +m[2], method: m[3], resource: +m[4], values: m[5].split(" -> ")});
  else if (/^\d+,\d+$/.test(l)) inside.pixel.at = l;
}

const cell = s => String(s).replace(/[&<>]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;"}[c]));
const callLink = i => i === null || i === undefined ? "no call that is known" : `<a data-i="${i}">call ${i}</a>`;
const objectLink = o => o ? `<a data-o="${o.object}">${cell(o.type.replace(/^ID3D12/, ""))}#${o.object}</a>` : "nothing";
const short = s => typeof s === "string" ? s.replace(/^(D3D|D3D12|DXGI)_(BLEND_OP|BLEND|FORMAT|FILL_MODE|CULL_MODE|COMPARISON_FUNC|STENCIL_OP|LOGIC_OP|DEPTH_WRITE_MASK|PRIMITIVE_TOPOLOGY_TYPE|PRIMITIVE_TOPOLOGY|CONSERVATIVE_RASTERIZATION_MODE|RESOURCE_DIMENSION|HEAP_TYPE|SRV_DIMENSION|UAV_DIMENSION|RTV_DIMENSION|DSV_DIMENSION|FILTER|TEXTURE_ADDRESS_MODE)_/, "") : s;
const number = v => v === null ? "?" : typeof v !== "number" ? cell(v) : Number.isInteger(v) ? String(v) : String(+v.toPrecision(6));
const row = (...cells) => `<tr>${cells.map(c => `<td>${c}`).join("")}</tr>`;
const table = (head, rows) => rows.length ? `<table><tr>${head.map(h => `<th>${h}`).join("")}</tr>${rows.join("")}</table>` : "";
const section = (id, title, note, html, open) => html ?
  `<details class="part" id="${id}"${open ? " open" : ""}><summary>${title} <span>${note || ""}</span></summary><div>${html}</div></details>` : "";

// ---- pipeline state

const MASKS = "RGBA";
const maskText = m => [...MASKS].map((c, i) => m >> i & 1 ? c : "·").join("");

function blendTable(b, targets) {
  const shown = b.IndependentBlendEnable ? Math.max(1, targets) : 1, rows = [];
  for (let i = 0; i < shown && i < b.RenderTarget.length; i++) {
    const t = b.RenderTarget[i], on = t.BlendEnable;
    rows.push(row(b.IndependentBlendEnable ? i : "all", on ? "on" : '<span class="off">off</span>',
      on ? `${short(t.SrcBlend)} ${short(t.BlendOp)} ${short(t.DestBlend)}` : "", on ? `${short(t.SrcBlendAlpha)} ${short(t.BlendOpAlpha)} ${short(t.DestBlendAlpha)}` : "",
      t.LogicOpEnable ? short(t.LogicOp) : '<span class="off">off</span>', maskText(t.RenderTargetWriteMask)));
  }
  return `<h3>Blend${b.AlphaToCoverageEnable ? ", alpha to coverage" : ""}</h3>` +
    table(["target", "blend", "colour: source op destination", "alpha", "logic", "writes"], rows);
}

function depthTable(d) {
  const face = f => `${short(f.StencilFunc)}; fail ${short(f.StencilFailOp)}, depth fail ${short(f.StencilDepthFailOp)}, pass ${short(f.StencilPassOp)}`;
  const rows = [row("depth test", d.DepthEnable ? short(d.DepthFunc) : '<span class="off">off</span>')];
  if (d.DepthEnable) rows.push(row("depth writes", short(d.DepthWriteMask)));
  rows.push(row("stencil", d.StencilEnable ? `read 0x${d.StencilReadMask.toString(16)}, write 0x${d.StencilWriteMask.toString(16)}` : '<span class="off">off</span>'));
  if (d.StencilEnable) rows.push(row("front", face(d.FrontFace)), row("back", face(d.BackFace)));
  return "<h3>Depth and stencil</h3>" + table(["", ""], rows);
}

function rasterTable(r) {
  return "<h3>Rasterizer</h3>" + table(["", ""], [
    row("fill", short(r.FillMode)), row("cull", `${short(r.CullMode)}, front is ${r.FrontCounterClockwise ? "counterclockwise" : "clockwise"}`),
    row("depth bias", `${number(r.DepthBias)}, slope ${number(r.SlopeScaledDepthBias)}, clamp ${number(r.DepthBiasClamp)}`),
    row("depth clip", r.DepthClipEnable ? "on" : "off"),
    row("multisampling", `${r.MultisampleEnable ? "on" : "off"}${r.AntialiasedLineEnable ? ", smooth lines" : ""}${r.ForcedSampleCount ? `, ${r.ForcedSampleCount} samples forced` : ""}`)]);
}

// The description of a pipeline, wherever its call has it: a structure, or a stream of parts.
function partsOf(args) {
  const found = {};
  (function look(o) {
    if (!o || typeof o !== "object") return;
    for (const [k, v] of Object.entries(o)) {
      if (v && typeof v === "object" && "RenderTarget" in v && "AlphaToCoverageEnable" in v) found.blend = v;
      else if (v && typeof v === "object" && "FillMode" in v) found.raster = v;
      else if (v && typeof v === "object" && "DepthEnable" in v) found.depth = v;
      else if (/^(NumRenderTargets|RTVFormats|DSVFormat|SampleDesc|SampleMask|PrimitiveTopologyType|IBStripCutValue)$/.test(k)) found[k] = v;
      else look(v);
    }
  })(args);
  return found;
}

function pipelineSection(call) {
  const p = partsOf(call.args), n = p.NumRenderTargets || 0;
  let html = `<p>${callLink(call.call)}: ${cell(call.method)}</p>`;
  if (p.blend) html += blendTable(p.blend, n);
  if (p.depth) html += depthTable(p.depth);
  if (p.raster) html += rasterTable(p.raster);
  const rest = [];
  if (p.PrimitiveTopologyType) rest.push(row("primitives", short(p.PrimitiveTopologyType)));
  if (p.RTVFormats) rest.push(row("render targets", n ? p.RTVFormats.slice(0, n).map(short).join(", ") : "none"));
  if (p.DSVFormat) rest.push(row("depth format", short(p.DSVFormat)));
  if (p.SampleDesc) rest.push(row("samples", `${p.SampleDesc.Count}, quality ${p.SampleDesc.Quality}`));
  if (p.SampleMask !== undefined) rest.push(row("sample mask", "0x" + (p.SampleMask >>> 0).toString(16)));
  return html + (rest.length ? "<h3>Output</h3>" + table(["", ""], rest) : "");
}

// ---- what is bound

// "state" lines, each with what stands behind it.
function groupsOf(lines) {
  const out = [];
  for (const l of lines) {
    if (l.role === "state") out.push({state: l.call, behind: []});
    else if (out.length && /^(object|parameter|sampler|descriptor|damaged)$/.test(l.role)) out[out.length - 1].behind.push(l);
  }
  return out;
}

function viewOf(call, written) {
  if (!call) return {what: '<span class="bad">nothing was ever put there</span>', of: "", more: "", by: ""};
  const a = call.args || {}, d = a.pDesc, from = a.pResource || a.pDestBuffer || (d && d.BufferLocation && d.BufferLocation.base);
  const kind = call.method.replace(/^Create/, "");
  let more = "";
  if (d && d.Format) more = short(d.Format);
  if (d && d.SizeInBytes !== undefined) more = `${d.SizeInBytes} bytes at ${d.BufferLocation ? d.BufferLocation.offset : "?"}`;
  if (d && d.Filter) more = `${short(d.Filter)}, ${short(d.AddressU)} ${short(d.AddressV)} ${short(d.AddressW)}`;
  for (const part of Object.values(d || {}))
    if (part && typeof part === "object" && ("MipLevels" in part || "MipSlice" in part))
      more += "MipLevels" in part ? `, mips ${part.MostDetailedMip || 0}${part.MipLevels === 4294967295 ? "…" : "–" + ((part.MostDetailedMip || 0) + part.MipLevels - 1)}` : `, mip ${part.MipSlice}`;
  if (!d && /RenderTarget|DepthStencil|ShaderResource|UnorderedAccess/.test(kind)) more = "as the resource is";
  const shown = from && pictures.has(`res-${from.object}-0.png`) ? `<img class="thumb" title="after the last played frame" src="data:image/png;base64,${pictures.get(`res-${from.object}-0.png`)}">` : "";
  return {what: `<a data-i="${call.call}">${cell(kind)}</a>`, of: from ? objectLink(from) + shown : "", more: cell(more),
          by: from && written.has(from.object) ? callLink(written.get(from.object)) : ""};
}

const LETTERS = {CBV: "b", SRV: "t", UAV: "u", sampler: "s"};
function bindingRows(p, group, written) {
  const rows = [], name = p.kind === "table" || p.ranges ? "table" : p.kind, where = p.ranges ?
    p.ranges.map(r => `${r.kind} ${LETTERS[r.kind] || ""}${r.register ?? "?"}${r.count === null || r.count > 1 ? `+${r.count ?? "…"}` : ""}, space ${r.space}`).join("; ") :
    `${LETTERS[p.kind] || "b"}${p.register}, space ${p.space}`;
  const head = [p.index, cell(name), cell(where), cell(p.stages)];
  if (!group) return [row(...head, '<span class="bad">nothing is bound</span>', "", "")];
  const a = group.state.args, at = a.BufferLocation, set = callLink(group.state.call);
  if (at) rows.push(row(...head, `${objectLink(at.base)} at byte ${at.offset}`, "", at.base && written.has(at.base.object) ? callLink(written.get(at.base.object)) : ""));
  else if (p.ranges) rows.push(row(...head, `${a.BaseDescriptor && a.BaseDescriptor.base ? `${objectLink(a.BaseDescriptor.base)}[${a.BaseDescriptor.index}]` : "?"}`, set, ""));
  else rows.push(row(...head, "constants", set, ""));
  for (const d of group.behind.filter(l => l.role === "descriptor")) {
    const v = viewOf(d.call, written);
    rows.push(row("", "", `&nbsp;&nbsp;[${d.index}]`, v.what, v.of, v.more, v.by));
  }
  return rows;
}

function bindingsSection(groups, compute, written) {
  const prefix = compute ? "SetComputeRoot" : "SetGraphicsRoot", signature = groups.find(g => g.state.method === prefix + "Signature");
  if (!signature) return "";
  const bound = new Map(groups.filter(g => g !== signature && g.state.method.startsWith(prefix)).map(g => [g.state.args.RootParameterIndex, g]));
  const object = signature.behind.find(l => l.role === "object"), rows = [];
  for (const p of signature.behind.filter(l => l.role === "parameter")) rows.push(...bindingRows(p, bound.get(p.index), written));
  for (const s of signature.behind.filter(l => l.role === "sampler"))
    rows.push(row("", "static sampler", `s${s.register}, space ${s.space}`, cell(s.stages), "", "", ""));
  const bad = signature.behind.filter(l => l.role === "damaged").map(l => `<p class="bad">${cell(l.why)}</p>`).join("");
  return `<p>${objectLink(signature.state.args.pRootSignature)}${object ? `, made by ${callLink(object.call.call)}` : ""}</p>${bad}` +
    table(["#", "parameter", "register", "seen by", "bound", "", "written last by"], rows);
}

function targetsSection(groups, written) {
  const g = groups.find(x => x.state.method === "OMSetRenderTargets");
  if (!g) return "";
  return table(["view", "resource", "format", "written last by"], g.behind.filter(l => l.role === "descriptor").map(d => {
    const v = viewOf(d.call, written);
    return row(`${v.what} [${d.index}]`, v.of, v.more, v.by);
  }));
}

// ---- values

function valuesText(v) {
  const n = v.components || v.values.length, out = [];
  for (let i = 0; i < v.values.length; i += n) out.push(v.values.slice(i, i + n).map(x => number(x).padStart(10)).join(" "));
  return out.join("\n") + (v.by_column && out.length > 1 ? "   (a line is a column)" : "");
}

const constantsOf = l => `<h3>${cell(l.stage)} shader: ${l.buffer ? cell(l.buffer) + ", " : ""}b${l.register}, space ${l.space}</h3>` +
  `<p>${cell(l.from).replace(/^resource (\d+)/, '<a data-o="$1">resource $1</a>')}</p>` +
  table(["name", "byte", "value"], l.variables.map(v => `<tr><td>${cell(v.name)}<td>${v.offset}<td class="value">${valuesText(v)}</tr>`));

function swatch(values) {
  if (values.length < 3 || values.some(v => v === null || v < 0 || v > 1)) return "";
  return `<i class="swatch" style="background:rgb(${values.slice(0, 3).map(v => Math.round(v * 255)).join(" ")})"></i>`;
}

function verticesTable(lines) {
  if (!lines.length) return "";
  const named = e => `${e.semantic}${e.index || ""}`;
  return table(["row", "vertex", ...lines[0].elements.map(e => cell(named(e)))], lines.map(l => row(l.row, l.vertex < 0 ? "?" : l.vertex,
    ...l.elements.map(e => e.values ? (/COLOR|DIFFUSE/i.test(e.semantic) ? swatch(e.values) : "") + e.values.map(number).join(" ") : "?"))));
}

// ---- shaders

const signatureTable = (title, list) => list && list.length ? `<h3>${title}</h3>` + table(["semantic", "register", "mask"],
  list.map(e => row(cell(e.semantic + (e.index || "")), e.register, [..."xyzw"].map((c, i) => e.mask >> i & 1 ? c : "·").join("")))) : "";

const listingOf = l => inside.shaders.has(l.hash) ? JSON.parse(inside.shaders.get(l.hash)) : "";

function shaderSection(l, bindings) {
  const text = listingOf(l);
  return section("shader-" + l.stage, `${cell(l.stage)} shader`, `model ${cell(l.model)}, ${l.bytes} bytes, ${cell(l.hash)}`,
    signatureTable("In", l.in) + signatureTable("Out", l.out) +
    (bindings.length ? "<h3>Binds</h3>" + table(["name", "what", "register", "space", "count"], bindings.map(b => row(cell(b.name), cell(b.kind), b.register, b.space, b.count))) : "") +
    (text ? `<h3>Instructions</h3><pre class="listing">${cell(text)}</pre>` : ""));
}

// ---- resources

function sizeText(d) {
  if (!d) return "";
  if (/BUFFER/.test(d.Dimension)) return `${d.Width} bytes`;
  return `${d.Width}×${d.Height}${d.DepthOrArraySize > 1 ? `×${d.DepthOrArraySize}` : ""}, ${short(d.Format)}` +
    `${d.MipLevels !== 1 ? `, ${d.MipLevels || "all"} mips` : ""}${d.SampleDesc && d.SampleDesc.Count > 1 ? `, ${d.SampleDesc.Count} samples` : ""}`;
}

const resourceRow = l => row(`<a data-o="${l.object}">#${l.object}</a> ${l.name ? cell(l.name) : ""}`, l.call ? cell(sizeText(l.call.args.pDesc)) : "?",
  callLink(l.written_by), l.call ? callLink(l.call.call) : "?");

// ---- the mesh

// Corners of the lines of primitive topology `t` over `n` vertices.
function edgesOf(t, n) {
  const e = [], triangle = (a, b, c) => e.push([a, b], [b, c], [c, a]);
  if (/POINTLIST/.test(t)) for (let i = 0; i < n; i++) e.push([i, i]);
  else if (/LINELIST/.test(t)) for (let i = 0; i + 1 < n; i += 2) e.push([i, i + 1]);
  else if (/LINESTRIP/.test(t)) for (let i = 0; i + 1 < n; i++) e.push([i, i + 1]);
  else if (/TRIANGLESTRIP/.test(t)) for (let i = 0; i + 2 < n; i++) triangle(i, i + 1, i + 2);
  else if (/(\d+)_CONTROL_POINT/.test(t)) {
    const k = +/(\d+)_CONTROL_POINT/.exec(t)[1];
    for (let i = 0; i + k <= n; i += k) for (let j = 0; j < k; j++) e.push([i + j, i + (j + 1) % k]);
  } else for (let i = 0; i + 2 < n; i += 3) triangle(i, i + 1, i + 2);
  return e;
}

function drawMesh(canvas, mesh, topology) {
  const k = mesh.components, n = Math.floor(mesh.positions.length / k), edges = edgesOf(topology, n);
  const at = i => [mesh.positions[k * i], mesh.positions[k * i + 1], k > 2 ? mesh.positions[k * i + 2] : 0];
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < n; i++)
    at(i).forEach((v, a) => {
      if (v === null || !isFinite(v)) return;
      low[a] = Math.min(low[a], v);
      high[a] = Math.max(high[a], v);
    });
  const middle = low.map((l, a) => (l + high[a]) / 2), size = Math.max(...low.map((l, a) => high[a] - l)) || 1;
  let yaw = k > 2 && high[2] > low[2] ? .6 : 0, pitch = yaw ? .4 : 0;
  function paint() {
    const w = canvas.width = canvas.clientWidth * devicePixelRatio || 600, h = canvas.height = canvas.clientHeight * devicePixelRatio || 240;
    const g = canvas.getContext("2d"), scale = .75 * Math.min(w, h) / size, style = getComputedStyle(canvas);
    const place = i => {
      const p = at(i).map((v, a) => v === null || !isFinite(v) ? NaN : v - middle[a]);
      const x = p[0] * Math.cos(yaw) + p[2] * Math.sin(yaw), z = p[2] * Math.cos(yaw) - p[0] * Math.sin(yaw);
      return [w / 2 + scale * x, h / 2 - scale * (p[1] * Math.cos(pitch) - z * Math.sin(pitch))];
    };
    g.strokeStyle = style.color;
    g.lineWidth = devicePixelRatio;
    g.globalAlpha = .7;
    g.beginPath();
    for (const [a, b] of edges) {
      const p = place(a), q = place(b);
      if (isNaN(p[0]) || isNaN(p[1]) || isNaN(q[0]) || isNaN(q[1])) continue;
      if (a === b) g.rect(p[0] - 1, p[1] - 1, 2, 2);
      g.moveTo(...p);
      g.lineTo(...q);
    }
    g.stroke();
  }
  canvas.addEventListener("pointermove", e => {
    if (!(e.buttons & 1)) return;
    yaw += e.movementX / 120;
    pitch += e.movementY / 120;
    paint();
  });
  new ResizeObserver(paint).observe(canvas);
  paint();
}

// ---- a pixel

const median = a => [...a].sort((x, y) => x - y)[Math.floor((a.length - 1) / 2)];
const colour = text => { // of numbers from 0 to 1
  const v = text.split(" ").map(Number);
  return v.length < 3 || v.some(x => !(x >= 0 && x <= 1)) ? "" : swatch(v);
};
const changesTable = list => table(["call", "resource", "was", "became"], list.map(c => row(
  `${c.before ? "in front of " : ""}<a data-i="${c.call}">${c.call}</a> ${cell(c.method)}`, `<a data-o="${c.resource}">#${c.resource}</a>`,
  c.values.length > 1 ? colour(c.values[0]) + cell(c.values[0]) : "", colour(c.values[c.values.length - 1]) + cell(c.values[c.values.length - 1]))));
const pixelView = () => ({html: `<h2>pixel ${cell(inside.pixel.at)}</h2>` + changesTable(inside.pixel.changes), ready() {}});

// The first render target of a draw.
function targetOf(i) {
  for (const k of (inside.draws.get(i) || "").split(" ")) {
    const l = k ? JSON.parse(inside.lines[k]) : {};
    if (l.role === "descriptor" && l.call && l.call.method === "CreateRenderTargetView") return l.call.args.pResource.object;
  }
  return 0;
}

async function pixelOf(name, x, y) {
  const image = new Image(), canvas = document.createElement("canvas"), g = canvas.getContext("2d", {willReadFrequently: true});
  image.src = "data:image/png;base64," + pictures.get(name);
  await image.decode();
  canvas.width = canvas.height = 1;
  g.drawImage(image, -x, -y);
  return [...g.getImageData(0, 0, 1, 1).data];
}

// Which draws change pixel x, y of what call `i` draws to: by the pictures behind draws.
async function pixelChanges(i, x, y) {
  const target = targetOf(i), out = [];
  let was = null;
  for (const name of [...pictures.keys()].filter(n => n.startsWith("draw-")).sort()) {
    const k = +/\d+/.exec(name)[0];
    if (targetOf(k) !== target) continue;
    const now = await pixelOf(name, x, y);
    if (!was || now.some((v, c) => v !== was[c])) out.push({call: k, method: method(call(k).text), resource: target, before: false,
      values: (was ? [was, now] : [now]).map(p => p.map(v => number(v / 255)).join(" "))});
    was = now;
  }
  return out;
}

function pickPixels(root, i) {
  const image = root.querySelector("img.target");
  if (!image || !targetOf(i)) return;
  image.title = "click: which draws change this pixel";
  image.addEventListener("click", async e => {
    const x = Math.floor(e.offsetX * image.naturalWidth / image.clientWidth), y = Math.floor(e.offsetY * image.naturalHeight / image.clientHeight);
    const changes = await pixelChanges(i, x, y);
    root.querySelector("#picked")?.remove();
    image.insertAdjacentHTML("afterend", `<div id="picked" class="part"><h3>pixel ${x},${y}, by the pictures behind draws</h3>${changesTable(changes)}</div>`);
  });
}

// ---- queues over time

const svgText = (x, y, s, more = "") => `<text x="${x}" y="${y}" ${more}>${cell(s)}</text>`;

// What queues were given, when, and how fences tie them together; of frames `from` to `to`.
function queueEvents(from, to) {
  const lanes = new Map(), events = [], lists = new Map();
  for (let i = 0; i < N; i++) {
    const self = selfOf(i), type = objects.has(self) ? objects.get(self).type : "", inRange = frameOf[i] >= from && frameOf[i] <= to;
    const c = isList(self) || /CommandQueue/.test(type) || (inRange && (api.frame.test(method(call(i).text)) || /Fence/.test(type))) ? call(i) : null;
    if (!c) continue;
    const m = method(c.text);
    if (isList(self)) {
      if (m === "Reset") lists.set(self, []);
      else if (isDraw(m)) lists.set(self, [...lists.get(self) || [], i]);
      continue;
    }
    const event = {i, us: c.us, m, lane: /CommandQueue/.test(type) ? self : 0};
    const fence = /pFence=\w*#(\d+), Value=(\d+)/.exec(c.text), frame = api.frame.test(m);
    if (!inRange || !(frame || /^(ExecuteCommandLists|Signal|Wait|SetEventOnCompletion)$/.test(m))) continue;
    if (frame) event.lane = +(/CommandQueue#(\d+)/.exec(c.text) || [0, 0])[1];
    if (fence) event.fence = fence[1] + ":" + fence[2];
    if (m === "ExecuteCommandLists") {
      event.lists = [...c.text.slice(c.text.indexOf("(")).matchAll(/CommandList#(\d+)/g)].map(x => +x[1]);
      event.draws = event.lists.flatMap(l => lists.get(l) || []);
      event.ms = event.draws.reduce((sum, d) => sum + (inside.times.has(d) ? median(inside.times.get(d)) : 0), 0);
    }
    if (!lanes.has(event.lane)) lanes.set(event.lane, lanes.size);
    events.push(event);
  }
  return {lanes, events};
}

function queuesView(all) {
  const here = selected >= 0 ? frameOf[selected] : 0, from = all ? 0 : Math.max(0, here - 1), to = all ? Infinity : here + 1;
  const {lanes, events} = queueEvents(from, to), LANE = 46, W = 640, height = LANE * lanes.size + 24;
  const t0 = events.length ? events[0].us : 0, t1 = events.length ? Math.max(...events.map(e => e.us + 1000 * (e.ms || 0))) : 1;
  const x = us => 70 + (W - 80) * (us - t0) / Math.max(1, t1 - t0), y = lane => LANE * lanes.get(lane) + 12, signals = new Map();
  let marks = "", ties = "";
  for (const e of events) {
    const top = y(e.lane), at = x(e.us).toFixed(1);
    const title = `<title>call ${e.i}: ${e.m}${e.lists ? `, ${e.lists.length} lists, ${e.draws.length} draws${e.ms ? `, ${e.ms.toFixed(3)} ms on the GPU when played` : ""}` : ""}${e.fence ? `, fence #${e.fence.replace(":", " to ")}` : ""} at ${(e.us / 1e3).toFixed(2)} ms</title>`;
    if (e.lists) marks += `<rect class="execute" data-i="${e.i}" x="${at}" y="${top}" height="20" width="${Math.max(3, x(e.us + 1000 * e.ms) - x(e.us)).toFixed(1)}">${title}</rect>`;
    else if (e.m === "Signal") marks += `<path class="signal" data-i="${e.i}" d="M${at} ${top + 22}l5 9h-10z">${title}</path>`;
    else if (e.m === "Wait" || e.m === "SetEventOnCompletion") marks += `<path class="wait" data-i="${e.i}" d="M${at} ${top + 31}l5 -9h-10z">${title}</path>`;
    else marks += `<path class="frame" data-i="${e.i}" d="M${at} ${top - 8}v${LANE - 8}">${title}</path>`;
    if (e.m === "Signal" && e.fence) signals.set(e.fence, e);
    else if (e.fence && signals.has(e.fence)) {
      const s = signals.get(e.fence);
      ties += `<path class="tie" d="M${x(s.us).toFixed(1)} ${y(s.lane) + 27}L${at} ${top + 27}"/>`;
    }
  }
  const names = [...lanes].map(([id, k]) => svgText(0, LANE * k + 26, id ? `queue #${id}` : "CPU")).join("");
  const html = `<h2>queues over time</h2><p><a data-scope="${all ? "" : "all"}">${all ? "the frames around this one" : "the whole recording"}</a> · ` +
    `${(t0 / 1e3).toFixed(1)} to ${(t1 / 1e3).toFixed(1)} ms · what was submitted when, as it was recorded${inside.times.size ? "; as wide as its draws took when they were played" : ""}; ▲ signal, ▼ wait, | frame</p>` +
    (events.length ? `<svg class="queues" viewBox="0 0 ${W} ${height}">${names}${ties}${marks}</svg>` : "<p>nothing was submitted there</p>");
  return {html, ready(root) {
    root.querySelector("[data-scope]").addEventListener("click", e => openView(() => queuesView(e.target.dataset.scope === "all")));
  }};
}

// ---- memory over time

// Bytes of a texture, at least: by its format's name, without what the device adds.
function bytesOf(text) {
  const get = (k, or) => +(new RegExp(k + "=(\\d+)").exec(text) || [0, or])[1], format = (/Format=DXGI_FORMAT_(\w+)/.exec(text) || ["", ""])[1];
  if (/DIMENSION_BUFFER/.test(text)) return get("Width", 0);
  const bits = /^BC[14]/.test(format) ? 4 : /^BC/.test(format) ? 8 : [...format.matchAll(/[RGBADSXE](\d+)/g)].reduce((n, m) => n + +m[1], 0) || 32;
  const base = get("Width", 0) * get("Height", 1) * get("DepthOrArraySize", 1) * bits / 8 * (+(/SampleDesc=\{Count=(\d+)/.exec(text) || [0, 1])[1] || 1);
  return Math.ceil(get("MipLevels", 1) === 1 ? base : base * 4 / 3);
}

const bytesText = n => n >= 1 << 20 ? `${(n / (1 << 20)).toFixed(1)} MiB` : n >= 1024 ? `${(n / 1024).toFixed(1)} KiB` : `${n} bytes`;

function allocations() {
  const heaps = new Map(), own = [];
  for (const [id, o] of objects) {
    if (o.born < 0 || o.born >= N) continue;
    const text = call(o.born).text, m = method(text), end = o.died < 0 ? N : o.died;
    if (m.startsWith("CreateHeap")) heaps.set(id, {id, size: +(/SizeInBytes=(\d+)/.exec(text) || [0, 0])[1], from: o.born, to: end, placed: [], type: (/HEAP_TYPE_(\w+)/.exec(text) || [0, "?"])[1]});
    else if (m.startsWith("CreatePlacedResource")) {
      const heap = +(/pHeap=\w*#(\d+)/.exec(text) || [0, 0])[1];
      if (heaps.has(heap)) heaps.get(heap).placed.push({id, name: o.name, at: +(/HeapOffset=(\d+)/.exec(text) || [0, 0])[1], size: bytesOf(text), from: o.born, to: end});
    } else if (/^Create(CommittedResource|ImageResource)/.test(m))
      own.push({id, name: o.name, size: bytesOf(text), from: o.born, to: end, type: (/HEAP_TYPE_(\w+)/.exec(text) || [0, "DEFAULT"])[1]});
  }
  return {heaps: [...heaps.values()], own};
}

// Committed resources one above the other, each as long as it lives, in the lowest place that is free then.
function stacked(own) {
  const out = [];
  for (const r of [...own].sort((a, b) => a.from - b.from || b.size - a.size)) {
    let at = 0;
    for (const o of out.filter(o => o.from < r.to && r.from < o.to).sort((a, b) => a.at - b.at))
      if (at + r.size > o.at && o.at + o.size > at) at = o.at + o.size;
    out.push({...r, at});
  }
  return out;
}

function memoryMap(title, parts, size) {
  const W = 1000, H = 180, y = v => H - H * v / Math.max(1, size), x = i => 1000 * i / Math.max(1, N);
  return `<h2>${title}</h2><svg class="memory" viewBox="0 0 ${W} ${H}" preserveAspectRatio="none">` + parts.map((p, k) =>
    `<rect data-o="${p.id}" class="k${k % 6}" x="${x(p.from).toFixed(2)}" width="${Math.max(1, x(p.to) - x(p.from)).toFixed(2)}" y="${y(p.at + p.size).toFixed(2)}" height="${Math.max(1, y(p.at) - y(p.at + p.size)).toFixed(2)}">` +
    `<title>#${p.id} ${cell(p.name)}: ${bytesText(p.size)} at ${p.at}, calls ${p.from} to ${p.to}</title></rect>`).join("") + "</svg>";
}

function memoryView() {
  const {heaps, own} = allocations(), parts = stacked(own), most = parts.reduce((n, p) => Math.max(n, p.at + p.size), 0);
  const html = "<p>from the first call (left) to the last; sizes of textures are what their texels need, without what the device adds</p>" +
    (parts.length ? memoryMap(`committed resources: ${bytesText(most)} at most`, parts, most) : "") +
    heaps.map(h => memoryMap(`<a data-o="${h.id}">heap #${h.id}</a>, ${cell(h.type)}: ${bytesText(h.size)}`, h.placed, h.size)).join("") +
    table(["resource", "bytes", "heap", "calls"], [...own.map(r => [r, r.type]), ...heaps.flatMap(h => h.placed.map(r => [r, `#${h.id} at ${r.at}`]))]
      .sort((a, b) => b[0].size - a[0].size).slice(0, 400).map(([r, where]) => row(`<a data-o="${r.id}">#${r.id}</a> ${cell(r.name)}`, r.size, cell(where), `<a data-i="${r.from}">${r.from}</a>–${r.to === N ? "end" : r.to}`)));
  return {html: parts.length || heaps.length ? html : "<p>no resource was made</p>", ready() {}};
}

// ---- what a draw may lack

// Whether a shader of the draw binds something through root parameter `q`, as far as shaders say what they bind.
function isUsed(q, bindings) {
  const letter = b => /^constant/.test(b.kind) ? "b" : b.kind === "sampler" ? "s" : /UAV/.test(b.kind) ? "u" : "t";
  const spans = q.ranges || [{kind: q.kind, register: q.register, count: 1, space: q.space}];
  return bindings.some(b => spans.some(r => (LETTERS[r.kind] || "b") === letter(b) && b.space === r.space &&
    b.register >= r.register && (r.count === null || b.register < r.register + r.count)));
}

// What a draw is a draw or a dispatch of: ExecuteIndirect by what it executes, of which every command that is known is looked at.
function workOf(call, lines) {
  if (!/^ExecuteIndirect/.test(call.method)) return {draws: /^Draw/.test(call.method), computes: /^Dispatch/.test(call.method), indexed: call.method === "DrawIndexedInstanced", args: [call.args || {}]};
  const commands = lines.filter(l => l.role === "arguments"), of = c => c.arguments[c.arguments.length - 1] || {type: ""}, kind = commands.length ? of(commands[0]).type : "DRAW";
  return {draws: /^DRAW/.test(kind), computes: /^DISPATCH/.test(kind), indexed: kind === "DRAW_INDEXED", args: commands.map(of).map(a => a.values || {}), none: commands.length && commands[0].commands === 0,
    sets: new Set(commands.flatMap(c => c.arguments.map(a => `${a.type} ${a.slot ?? a.root_parameter ?? ""}`)))};
}

// Compares as Direct3D does: what `func` says of `a` against `b`; undefined: it depends.
const passes = (func, a, b) => ({NEVER: false, ALWAYS: true, LESS: a < b, EQUAL: a === b, LESS_EQUAL: a <= b, GREATER: a > b, NOT_EQUAL: a !== b, GREATER_EQUAL: a >= b})[func];

// Of the depth target: what it was cleared to, if nothing else wrote it since.
function clearedTo(resource, written) {
  const by = resource === undefined ? undefined : written.get(resource), text = by === null || by === undefined ? "" : call(by).text;
  if (!/ClearDepthStencilView\(/.test(text)) return null;
  const of = k => +(new RegExp(k + "=([-\\d.e]+)").exec(text.slice(text.indexOf("("))) || [0, NaN])[1];
  return {call: by, depth: /FLAG_DEPTH|DEPTH\|/.test(text) ? of("Depth") : NaN, stencil: /FLAG_STENCIL|STENCIL/.test((/ClearFlags=([^,]*)/.exec(text) || ["", ""])[1]) ? of("Stencil") : NaN};
}

// Positions that the vertex shader has nothing to make others of: it reads no constants, buffers or textures.
function positionsOf(lines) {
  const mesh = lines.find(l => l.role === "mesh"), vertex = lines.find(l => l.role === "shader" && l.stage === "vertex");
  if (!mesh || !vertex || lines.some(l => l.role === "binding" && l.stage === "vertex")) return null;
  const k = mesh.components, out = [];
  for (let i = 0; i + k <= mesh.positions.length; i += k) out.push(mesh.positions.slice(i, i + k));
  return out.length && out.every(p => p.every(v => typeof v === "number")) ? out : null;
}

// Vertices of the smallest primitive.
function leastOf(topology) {
  const patch = /(\d+)_CONTROL_POINT/.exec(topology), adjacent = /_ADJ$/.test(topology);
  return patch ? +patch[1] : /TRIANGLE/.test(topology) ? adjacent ? 6 : 3 : /LINE/.test(topology) ? adjacent ? 4 : 2 : 1;
}

function doubtsOfIndices(rows, work, say) {
  const gone = rows.filter(r => r.elements.some(e => !e.values)), named = gone.filter(r => r.vertex >= 0);
  if (gone.length === rows.length) say("no vertex is known: there is no buffer, or what the indices name lies behind its end, or the GPU wrote it");
  else if (named.length) say(`index ${named[0].vertex} names a vertex of which nothing is known: it lies behind the end of a buffer, or the GPU wrote it`);
  else if (gone.length) say("of some vertices what is in them is not known: their indices lie behind the end of a buffer, or the GPU wrote them");
}

function doubtsOfVertices(lines, topology, p, work, say) {
  const rows = lines.filter(l => l.role === "vertex"), wide = rows.flatMap(r => r.elements.slice(0, 1)).map(e => e.values).filter(v => v);
  const name = rows.length && rows[0].elements[0] ? rows[0].elements[0].semantic : "", positions = positionsOf(lines);
  if (rows.length > 2 && wide.length === rows.length && wide.every(v => v.join() === wide[0].join())) say("all vertices that are shown are in the same place");
  if (wide.some(v => v.some(x => typeof x === "string"))) say(`${cell(name)} of a vertex is no number (${cell(wide.flat().find(x => typeof x === "string"))}): what has such a corner is not drawn`);
  if (/POSITION/i.test(name) && wide.length && wide.every(v => v.length === 4 && v[3] === 0)) say("w of every vertex that is shown is 0");
  if (work.indexed && rows.length) doubtsOfIndices(rows, work, say);
  else if (rows.some(r => r.elements.some(e => !e.values))) say(rows.every(r => r.elements.every(e => !e.values)) ?
    "no vertex is known: there is no buffer, or what is drawn lies behind its end, or the GPU wrote it" : "of some vertices what is in them is not known: they lie behind the end of a buffer, or the GPU wrote them");
  for (const [k, e] of (rows.length ? rows[0].elements : []).entries())
    if (k && /COLOR|DIFFUSE/i.test(e.semantic) && rows.every(r => r.elements[k].values && r.elements[k].values.slice(0, 3).every(x => x === 0))) say(`${cell(e.semantic)} of every vertex that is shown is black`);
  const least = leastOf(topology);
  for (const k of ["VertexCountPerInstance", "IndexCountPerInstance"])
    if (work.args.length && work.args.every(a => a[k] > 0 && a[k] < least)) say(`${work.args[0][k]} vertices are not enough for one primitive of ${short(topology)}, which has ${least}`);
  if (!positions) return;
  const w = i => wide[i] && wide[i].length === 4 ? wide[i][3] : 1;
  if (positions.length <= wide.length && [[0, 1], [0, -1], [1, 1], [1, -1]].some(([axis, sign]) => positions.every((v, i) => sign * v[axis] > Math.abs(w(i))))) say("all vertices lie outside of what is seen, where the vertex shader leaves them as they are: it reads no constants");
  else if (positions.length <= wide.length && p.raster && p.raster.DepthClipEnable && positions[0].length > 2 && (positions.every(v => v[2] < 0) || positions.every((v, i) => v[2] > w(i)))) say("all vertices lie in front of or behind the depth that is seen, from 0 to w, where the vertex shader leaves them as they are: it reads no constants");
  const cull = p.raster ? short(p.raster.CullMode) : "NONE";
  if (!/TRIANGLELIST$/.test(topology) || positions.length < 3 || positions.some((v, i) => w(i) !== 1)) return;
  let shown = 0, hidden = 0, flat = 0;
  for (let i = 0; i + 2 < positions.length; i += 3) {
    const [a, b, c] = positions.slice(i, i + 3), turn = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]); // > 0: counterclockwise, y up
    const front = p.raster && p.raster.FrontCounterClockwise ? turn > 0 : turn < 0;
    if (turn === 0) flat++;
    else if (cull !== "NONE" && front === (cull === "FRONT")) hidden++;
    else shown++;
  }
  if (flat && !shown && !hidden) say("no triangle has an area: its corners are in one place or on one line, where the vertex shader leaves them as they are: it reads no constants");
  if (hidden && !shown) say(`every triangle faces ${cull === "FRONT" ? "front" : "back"}, and such are culled, where the vertex shader leaves them as they are: it reads no constants`);
}

// What the input assembler is given, by the sizes of what is bound.
function doubtsOfBuffers(last, groups, pipeline, work, say) {
  const layout = (function look(o) { return !o || typeof o !== "object" ? null : o.pInputElementDescs || Object.values(o).map(look).find(x => x) || null; })(pipeline && pipeline.call.args) || [];
  const views = new Map(), index = last("IASetIndexBuffer"), v = index && index.state.args.pView;
  for (const g of groups.filter(x => x.state.method === "IASetVertexBuffers")) (g.state.args.pViews || []).forEach((b, k) => views.set(g.state.args.StartSlot + k, [b, g]));
  const set = (type, slot) => work.sets && work.sets.has(`${type} ${slot}`);
  for (const slot of new Set(layout.map(e => e.InputSlot))) {
    const [b, g] = views.get(slot) || [], elements = layout.filter(e => e.InputSlot === slot);
    if (set("VERTEX_BUFFER_VIEW", slot)) continue;
    if (!b || !b.BufferLocation || !b.BufferLocation.base) { say(`no vertex buffer is set in slot ${slot}, from which ${cell(elements[0].SemanticName)} comes`, g); continue; }
    if (b.SizeInBytes === 0) say(`the vertex buffer in slot ${slot} has 0 bytes`, g);
    if (b.StrideInBytes === 0 && elements.every(e => !/INSTANCE/.test(e.InputSlotClass))) say(`the vertex buffer in slot ${slot} has a stride of 0: every vertex is the first`, g);
    const least = Math.max(...elements.map(e => (e.AlignedByteOffset === 4294967295 ? 0 : e.AlignedByteOffset) + 4));
    if (b.StrideInBytes && b.StrideInBytes < least) say(`a vertex in slot ${slot} has ${b.StrideInBytes} bytes, the pipeline reads up to byte ${least} of it at least`, g);
    for (const a of work.args)
      if (!work.indexed && b.StrideInBytes && elements.some(e => !/INSTANCE/.test(e.InputSlotClass)) && (a.StartVertexLocation + a.VertexCountPerInstance) * b.StrideInBytes > b.SizeInBytes + b.StrideInBytes - 1)
        say(`vertices ${a.StartVertexLocation} to ${a.StartVertexLocation + a.VertexCountPerInstance - 1} are drawn, the buffer in slot ${slot} has ${Math.floor(b.SizeInBytes / b.StrideInBytes)}: those behind its end are zeros`, g);
  }
  if (!work.indexed || set("INDEX_BUFFER_VIEW", "")) return;
  if (!v || !v.BufferLocation || !v.BufferLocation.base) return void say("no index buffer is set: every index is 0", index);
  const wide = short(v.Format);
  if (!/^R(16|32)_UINT$/.test(wide)) return void say(`indices are of format ${wide}, which is neither R16_UINT nor R32_UINT`, index);
  for (const a of work.args) {
    const end = a.StartIndexLocation + a.IndexCountPerInstance, there = Math.floor(v.SizeInBytes / (wide === "R16_UINT" ? 2 : 4));
    if (end > there) say(`indices ${a.StartIndexLocation} to ${end - 1} are drawn, the index buffer has ${there}: those behind its end are 0`, index);
  }
}

function doubtsOfArea(last, targets, written, lines, say) {
  const view = last("RSSetViewports"), scissor = last("RSSetScissorRects"), target = targets && targets.behind.find(l => l.role === "descriptor" && l.call && /RenderTarget|DepthStencil/.test(l.call.method));
  const id = target && (target.call.args.pResource || {}).object, made = lines.find(l => l.role === "resource" && l.object === id), d = made && made.call && made.call.args.pDesc;
  const rects = scissor ? scissor.state.args.pRects || [] : [], views = view ? view.state.args.pViewports || [] : [];
  if (!view) say("no viewport is set");
  for (const v of views) if (!(v.Width > 0 && v.Height > 0)) say(`a viewport of ${v.Width} by ${v.Height} has no pixels`, view);
  if (!scissor) say("no scissor rectangle is set: it is empty then, and nothing is drawn");
  for (const r of rects) if (r.right <= r.left || r.bottom <= r.top) say("a scissor rectangle is empty", scissor);
  const v = views[0], r = rects[0];
  if (d && v && v.Width > 0 && (v.TopLeftX >= d.Width || v.TopLeftY >= d.Height || v.TopLeftX + v.Width <= 0 || v.TopLeftY + v.Height <= 0)) say(`the viewport lies outside of the target, which has ${d.Width} by ${d.Height} pixels`, view);
  if (d && r && r.right > r.left && r.bottom > r.top && (r.left >= d.Width || r.top >= d.Height || r.right <= 0 || r.bottom <= 0)) say(`the scissor rectangle lies outside of the target, which has ${d.Width} by ${d.Height} pixels`, scissor);
  else if (v && r && v.Width > 0 && v.Height > 0 && r.right > r.left && r.bottom > r.top && (r.left >= v.TopLeftX + v.Width || r.top >= v.TopLeftY + v.Height || r.right <= v.TopLeftX || r.bottom <= v.TopLeftY)) say("the scissor rectangle lies outside of the viewport", scissor);
}

function doubtsOfOutput(p, n, last, targets, written, lines, say) {
  const rows = lines.filter(l => l.role === "vertex"), clear = rows.length && (rows[0].elements.find((e, k) =>
    /COLOR|DIFFUSE/i.test(e.semantic) && rows.every(r => r.elements[k].values && r.elements[k].values.length === 4 && r.elements[k].values[3] === 0)) || {}).semantic;
  if (lines.some(l => l.role === "shader" && l.stage === "pixel" && /^\s*(?:\d+:\s*)?discard|dx\.op\.discard/m.test(listingOf(l)))) say("the pixel shader discards pixels by a condition of its own");
  const factor = last("OMSetBlendFactor"), factors = factor ? factor.state.args.BlendFactor : [1, 1, 1, 1], none = c => c === "ZERO" || (c === "BLEND_FACTOR" && Array.isArray(factors) && factors.slice(0, 3).every(x => x === 0));
  for (let k = 0; p.blend && k < Math.max(1, Math.min(n, p.NumRenderTargets ?? n)) && n; k++) {
    const t = p.blend.RenderTarget[p.blend.IndependentBlendEnable ? k : 0], source = none(short(t.SrcBlend)), before = none(short(t.DestBlend));
    if (!t.RenderTargetWriteMask) say(`no channel of target ${k} is written: its mask is 0`);
    else if (!(t.RenderTargetWriteMask & 7)) say(`of target ${k} alpha alone is written: its mask is ${t.RenderTargetWriteMask}`);
    if (t.BlendEnable && short(t.SrcBlend) === "SRC_ALPHA" && /ADD|SUBTRACT/.test(short(t.BlendOp)) && clear) say(`blending takes what the shader writes to target ${k} by its alpha, and alpha of every ${clear} that is shown is 0`);
    if (t.BlendEnable && source && /ADD|SUBTRACT/.test(short(t.BlendOp))) say(`blending takes nothing of what the shader writes to target ${k}: its factor is ${short(t.SrcBlend)}${before ? ", and nothing of what was there: the result is 0" : ""}`, short(t.SrcBlend) === "BLEND_FACTOR" ? factor : null);
    if (t.LogicOpEnable && /NOOP/.test(t.LogicOp)) say(`the logic operation on target ${k} leaves it as it is`);
  }
  if (p.SampleMask === 0) say("the sample mask is 0: nothing is drawn");
  const depth = targets && targets.state.args.pDepthStencilDescriptor, view = targets && targets.behind.find(l => l.role === "descriptor" && l.call && /DepthStencilView/.test(l.call.method));
  const was = view ? clearedTo((view.call.args.pResource || {}).object, written) : null;
  if (!p.depth) return;
  const func = short(p.depth.DepthFunc);
  if (p.depth.DepthEnable && !depth && !last("BeginRenderPass")) say("the depth test is on, and no depth target is bound");
  if (p.depth.DepthEnable && func === "NEVER") say("the depth test never passes");
  else if (p.depth.DepthEnable && was && passes(func, 0, was.depth) === false && passes(func, 1, was.depth) === false && passes(func, .5, was.depth) === false)
    say(`the depth target was cleared to ${was.depth} last, by call ${was.call}: no depth is ${func} than that`.replace(/(EQUAL) than/, "$1 to"), targets);
  const bounds = last("OMSetDepthBounds"), b = bounds && bounds.state.args;
  if (p.depth.DepthBoundsTestEnable && b && (b.Min > b.Max || (was && (was.depth < b.Min || was.depth > b.Max))))
    say(`the depth bounds test never passes: the bounds are ${b.Min} to ${b.Max}${was ? `, and the depth target was cleared to ${was.depth} last, by call ${was.call}` : ""}`, bounds);
  if (!p.depth.StencilEnable) return;
  const ref = last("OMSetStencilRef"), value = ref ? ref.state.args.StencilRef : 0, mask = p.depth.StencilReadMask, of = f => short(f.StencilFunc);
  const faces = p.raster && short(p.raster.CullMode) === "BACK" ? [p.depth.FrontFace] : p.raster && short(p.raster.CullMode) === "FRONT" ? [p.depth.BackFace] : [p.depth.FrontFace, p.depth.BackFace];
  if (faces.every(f => of(f) === "NEVER")) say("the stencil test never passes");
  else if (was && !isNaN(was.stencil) && faces.every(f => passes(of(f), value & mask, was.stencil & mask) === false))
    say(`the stencil test never passes: the reference is ${value & mask}, and stencil was cleared to ${was.stencil & mask} last, by call ${was.call}; what passes is ${of(faces[0])}`, ref);
}

function doubtsOfBindings(lines, groups, last, draws, pipeline, written, work, made, say) {
  const prefix = draws ? "SetGraphicsRoot" : "SetComputeRoot", signature = last(prefix + "Signature"), bindings = lines.filter(l => l.role === "binding");
  if (!signature) return void say("no root signature is set");
  const heap = last("SetDescriptorHeaps"), heaps = heap ? heap.state.args.ppDescriptorHeaps || [] : /TYPE_BUNDLE/.test(made) ? null : [];
  const own = (function look(o) { return !o || typeof o !== "object" ? null : o.pRootSignature || Object.values(o).map(look).find(x => x) || null; })(pipeline && pipeline.call.args), set = signature.state.args.pRootSignature;
  if (own && set && own.object !== set.object) say(`the root signature that is set is #${set.object}, the pipeline was made with #${own.object}`, signature);
  for (const q of signature.behind.filter(l => l.role === "parameter")) {
    const g = groups.filter(x => x !== signature && x.state.method.startsWith(prefix) && x.state.args.RootParameterIndex === q.index).pop();
    if (!isUsed(q, bindings) || (work.sets && [...work.sets].some(t => !/VERTEX|INDEX/.test(t) && t.endsWith(" " + q.index)))) continue;
    if (!g) { say(`nothing is bound to root parameter ${q.index}, which a shader uses`); continue; }
    const at = g.state.args.BufferLocation, base = g.state.args.BaseDescriptor && g.state.args.BaseDescriptor.base;
    if (base && heaps && !heaps.some(h => h && h.object === base.object)) say(`the table of root parameter ${q.index} lies in heap #${base.object}, which is not set: ${heaps.length ? heaps.map(h => `#${h.object}`).join(" and ") + " is" : "none is"}`, heap || g);
    if (at && !at.base) say(`root parameter ${q.index}, which a shader uses, is no address of a buffer`, g);
    const table = g.behind.filter(l => l.role === "descriptor");
    if (table.some(l => !l.call)) say(`in the table of root parameter ${q.index} are descriptors where nothing was ever put`, g);
    for (const l of table.filter(x => x.call && x.call.args && !/Sampler/.test(x.call.method))) {
      const a = l.call.args, from = a.pResource || a.pDestBuffer || (a.pDesc && a.pDesc.BufferLocation && a.pDesc.BufferLocation.base), wanted = (q.ranges || []).map(r => r.kind);
      if (!from) say(`descriptor ${l.index} of root parameter ${q.index} names no resource: what is read there is 0`, g);
      else if (/ShaderResource/.test(l.call.method) && written.has(from.object) && !written.get(from.object) && !lines.some(r => r.role === "resource" && r.object === from.object && r.call && /UNORDERED/.test(r.call.args.pDesc && r.call.args.pDesc.Flags))) say(`resource #${from.object}, which descriptor ${l.index} of root parameter ${q.index} names, was written by no call that is known`, g);
      const kind = /ConstantBuffer/.test(l.call.method) ? "CBV" : /Unordered/.test(l.call.method) ? "UAV" : "SRV";
      if (wanted.length === 1 && wanted[0] !== kind) say(`descriptor ${l.index} of root parameter ${q.index} is of a ${kind}, the table is one of ${wanted[0]}s`, g);
    }
  }
}

const CALLS_LOOKED_AT = 20000;

// The state that a texture is in at call `i`, as far as that is plain: by the last barrier of the same list, or, where no call in front
// had one, as it was made; "": not known.
function stateOfTexture(id, made, i) {
  const self = selfOf(i), re = new RegExp(`#${id}, Subresource=4294967295, StateBefore=\\w+, StateAfter=([\\w|]+)`, "g"), mention = mentions(id);
  for (let k = i - 1, n = 0; k >= 0; k--, n++) {
    if (n > CALLS_LOOKED_AT) return "";
    if (!/Barrier\(|\.Reset\(/.test(lines[k]) && k !== made.call) continue;
    if (k === made.call) return made.args.InitialResourceState || "";
    if (/Barrier\(/.test(lines[k]) && mention.test(lines[k])) {
      const found = selfOf(k) === self ? [...lines[k].matchAll(re)].pop() : null;
      return found ? found[1] : "";
    }
  }
  return "";
}

// Textures that the draw works on, in a state in which it may not.
function doubtsOfStates(i, groups, own, targets, say) {
  const made = id => (own.find(l => l.role === "resource" && l.object === id) || {}).call;
  const look = (call, what, good, g) => {
    const id = call && call.args && (call.args.pResource || {}).object, m = id && made(id);
    if (!m || !m.args.pDesc || /BUFFER/.test(m.args.pDesc.Dimension) || /SIMULTANEOUS/.test(m.args.pDesc.Flags)) return;
    const state = stateOfTexture(id, m, i).replace(/D3D12_RESOURCE_STATE_/g, "");
    if (state && !good.test(state)) say(`resource #${id} is ${what} and in state ${state}`, g);
  };
  for (const d of targets ? targets.behind.filter(l => l.role === "descriptor" && l.call) : [])
    if (/RenderTarget/.test(d.call.method)) look(d.call, "a render target", /RENDER_TARGET/, targets);
    else if (/DepthStencil/.test(d.call.method)) look(d.call, "the depth target", /DEPTH/, targets);
  for (const g of groups.filter(x => /RootDescriptorTable$/.test(x.state.method)))
    for (const d of g.behind.filter(l => l.role === "descriptor" && l.call && /ShaderResource/.test(l.call.method)))
      look(d.call, "read by a shader", /SHADER_RESOURCE|COMMON|GENERIC_READ|ALL_SHADER|DEPTH_READ|^PRESENT$/, g);
}

function isNeverExecuted(i) {
  const self = selfOf(i), list = mentions(self);
  for (let k = i + 1; k < N; k++) {
    if (k > i + CALLS_LOOKED_AT) return false;
    if (/\.ExecuteCommandLists\(/.test(lines[k]) && list.test(lines[k])) return false;
    if (/\.Reset\(/.test(lines[k]) && selfOf(k) === self) return true;
  }
  return true;
}

// A clear of the same target behind the draw, on the same list.
function clearedAfter(i, targets) {
  const view = targets && targets.behind.find(l => l.role === "descriptor"), self = selfOf(i);
  if (!view) return null;
  for (let k = i + 1; k < Math.min(N, i + CALLS_LOOKED_AT); k++) {
    if (selfOf(k) !== self) continue;
    const text = call(k).text, m = method(text);
    if (m === "Reset" || m === "Close") return null;
    if (m === "ClearRenderTargetView" && text.includes(`#${view.heap}[${view.index}]`) && /NumRects=0/.test(text)) return k;
  }
  return null;
}

// Sentences, each of what keeps pixels from being drawn, or makes them what nobody meant: by the state alone, and true whatever was drawn.
function doubtsOf(i, lines, groups, call, pipeline) {
  if (!/^(Draw|Dispatch|ExecuteIndirect)/.test(call.method)) return [];
  const out = [], last = m => groups.filter(g => g.state.method === m).pop(), p = pipeline ? partsOf(pipeline.call.args) : {}, work = workOf(call, lines);
  const list = objects.get(selfOf(i)), made = list && list.born >= 0 && list.born < N ? window.call(list.born).text : "", of = role => lines.filter(l => l.role === role);
  const say = (text, g) => out.push(text + (g ? ` (${callLink(g.state.call)})` : "")), written = new Map(of("resource").map(l => [l.object, l.written_by]));
  const COUNTS = ["VertexCountPerInstance", "IndexCountPerInstance", "InstanceCount", "ThreadGroupCountX", "ThreadGroupCountY", "ThreadGroupCountZ"];
  if (work.none) say("no command is executed: their number is 0");
  for (const k of COUNTS) if (work.args.length && work.args.every(a => a[k] === 0)) say(`${k} is 0: nothing is done`);
  if (!pipeline) say("no pipeline state is set");
  const predicate = last("SetPredication");
  if (predicate && predicate.state.args.pBuffer) say(`it is done only where the predicate says so: resource #${predicate.state.args.pBuffer.object} at byte ${predicate.state.args.AlignedBufferOffset}`, predicate);
  if (!/TYPE_BUNDLE/.test(made) && isNeverExecuted(i)) say("its list is executed by no call behind it");
  if (/TYPE_BUNDLE/.test(made) && !of("caller").length) return [...out, "no list executes this bundle: what a caller sets is not known"];
  if (work.draws) {
    const targets = last("OMSetRenderTargets"), topology = last("IASetPrimitiveTopology");
    const n = targets ? targets.state.args.NumRenderTargetDescriptors : 0, depth = targets && targets.state.args.pDepthStencilDescriptor;
    if (!n && !depth && !last("BeginRenderPass")) say("no render target and no depth target is bound", targets);
    for (const [k, d] of (targets ? targets.behind.filter(l => l.role === "descriptor") : []).entries())
      if (!d.call) say(`target ${k} is a descriptor where nothing was ever put`, targets);
      else if (!(d.call.args.pResource || {}).object) say(`target ${k} is a view of no resource: what is drawn is nowhere`, targets);
    doubtsOfStates(i, groups, lines, targets, say);
    doubtsOfArea(last, targets, written, lines, say);
    if (!topology) say("no primitive topology is set");
    else if (p.PrimitiveTopologyType) {
      const kind = short(p.PrimitiveTopologyType), t = short(topology.state.args.PrimitiveTopology);
      if (kind !== "UNDEFINED" && !t.includes(kind === "PATCH" ? "PATCH" : kind)) say(`the pipeline is made for ${kind}, what is set is ${t}`, topology);
    }
    if (pipeline && n && of("shader").length && !of("shader").some(s => s.stage === "pixel")) say("the pipeline has no pixel shader: nothing is written to its targets");
    doubtsOfOutput(p, n, last, targets, written, lines, say);
    const formats = targets ? targets.behind.filter(l => l.role === "descriptor").map(d => d.call && d.call.args && d.call.args.pDesc && d.call.args.pDesc.Format) : [];
    (p.RTVFormats || []).slice(0, Math.min(n, p.NumRenderTargets || 0)).forEach((f, k) => {
      if (formats[k] && !/UNKNOWN/.test(formats[k]) && formats[k] !== f) say(`target ${k} is seen as ${short(formats[k])}, the pipeline writes ${short(f)}`, targets);
    });
    if (n > (p.NumRenderTargets ?? n)) say(`${n} targets are bound, the pipeline writes ${p.NumRenderTargets}`, targets);
    doubtsOfBuffers(last, groups, pipeline, work, say);
    doubtsOfVertices(lines, topology ? topology.state.args.PrimitiveTopology : "", p, work, say);
    const after = clearedAfter(i, targets);
    if (after !== null) say(`what it draws is cleared again behind it, by ${callLink(after)}`);
  }
  doubtsOfBindings(lines, groups, last, work.draws, pipeline, written, work, made, say);
  for (const c of of("constants")) {
    const v = c.variables.flatMap(x => x.values);
    if (v.length && v.every(x => x === 0)) say(`the ${cell(c.stage)} shader's ${cell(c.buffer || "constants")} (b${c.register}) hold zeros alone`);
    if (c.from === "root constants" && v.some(x => x === null)) say(`of the ${cell(c.stage)} shader's ${cell(c.buffer || "constants")} (b${c.register}), which are root constants, some were never set`);
    if (v.some(x => typeof x === "string")) say(`in the ${cell(c.stage)} shader's ${cell(c.buffer || "constants")} (b${c.register}) is what is no number`);
  }
  return out;
}

const views = {queues: () => queuesView(false), memory: memoryView};
if (inside.pixel.at) views["pixel " + inside.pixel.at] = pixelView;

// ---- all of it

// HTML for call `i`, and what is to be done when it is in the page; null: it is no draw, or nothing is known of it.
function insideOf(i) {
  const changes = inside.pixel.changes.filter(c => c.call === i), ms = inside.times.get(i);
  const seen = section("pixel", `Pixel ${cell(inside.pixel.at)}`, changes.length ? "" : "it does not change it", changes.length ? changesTable(changes) : "", true) +
    (ms ? `<p id="gpu-time">${median(ms).toFixed(3)} ms on the GPU when it was played${ms.length > 1 ? `: the median of ${ms.length}, ${Math.min(...ms).toFixed(3)} to ${Math.max(...ms).toFixed(3)}` : ""}</p>` : "");
  if (!inside.draws.has(i)) return seen ? {html: seen, ready() {}} : null;
  const lines = inside.draws.get(i).split(" ").map(k => JSON.parse(inside.lines[k])), of = role => lines.filter(l => l.role === role);
  const compute = workOf(lines[0].call, lines).computes, groups = groupsOf(lines);
  const written = new Map(of("resource").map(l => [l.object, l.written_by]));
  const topology = groups.find(g => g.state.method === "IASetPrimitiveTopology"), t = topology ? topology.state.args.PrimitiveTopology : "";
  const mesh = of("mesh")[0], pipelines = groups.flatMap(g => g.behind.filter(l => l.role === "object" && /PipelineState/.test(l.call.method)).map(l => [g, l]));
  // SetPipelineState, or else the Reset, whichever came last
  pipelines.sort((a, b) => a[0].state.call - b[0].state.call);
  const pipeline = pipelines.length ? pipelines[pipelines.length - 1][1] : null, shaders = of("shader"), vertices = of("vertex");
  const drawn = mesh && mesh.positions.some(v => v !== null);
  const doubts = doubtsOf(i, lines, groups, lines[0].call, pipeline);
  const html = seen +
    section("doubts", "What it lacks", String(doubts.length), doubts.map(d => `<p>${d}</p>`).join(""), true) +
    section("targets", "Targets", "", targetsSection(groups, written), true) +
    section("bindings", "Root signature and what is bound", "", bindingsSection(groups, compute, written), true) +
    section("constants", "Constants", "", of("constants").map(constantsOf).join(""), true) +
    section("mesh", "Mesh", mesh ? `${mesh.count} vertices, ${cell(short(t))}, ${cell(mesh.semantic)}${mesh.index || ""} before the vertex shader` : "",
      drawn ? '<canvas class="mesh" title="drag: turn"></canvas>' : "", true) +
    section("vertices", "Vertices", vertices.length ? `the first ${vertices.length}` : "", verticesTable(vertices), !drawn) +
    section("pipeline", "Pipeline", pipeline ? `PipelineState#${((pipeline.call.result || {}).ppPipelineState || {}).object ?? "?"}` : "", pipeline ? pipelineSection(pipeline.call) : "") +
    shaders.map(s => shaderSection(s, of("binding").filter(b => b.stage === s.stage))).join("") +
    section("resources", "Resources it reads and writes", String(of("resource").length),
      table(["resource", "what", "written last by", "made by"], of("resource").map(resourceRow))) +
    of("damaged").filter(l => l.why).map(l => `<p class="bad">${cell(l.why)}</p>`).join("");
  return {html, ready(root) {
    const canvas = root.querySelector("canvas.mesh");
    if (canvas) drawMesh(canvas, mesh, t);
    pickPixels(root, i);
  }};
}
