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
  const m = /^(?:(in front of )?call (\d+): (\w+)|at the end): resource (\d+): (.*)$/.exec(l);
  if (m) inside.pixel.changes.push({before: !!m[1], call: m[2] ? +m[2] : null, method: m[3], resource: +m[4], values: m[5].split(" -> ")});
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
      else if (v && typeof v === "object" && "RasterizedStream" in v) found.streams = v;
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
      more += ("FirstArraySlice" in part ? `, slice${part.ArraySize === 1 ? ` ${part.FirstArraySlice}` : `s ${part.FirstArraySlice}${part.ArraySize === 4294967295 ? "…" : "–" + (part.FirstArraySlice + part.ArraySize - 1)}`}` : "") + ("MipLevels" in part ? `, mips ${part.MostDetailedMip || 0}${part.MipLevels === 4294967295 ? "…" : "–" + ((part.MostDetailedMip || 0) + part.MipLevels - 1)}` : `, mip ${part.MipSlice}`);
  if (d && d.Shader4ComponentMapping !== undefined && d.Shader4ComponentMapping !== 5768) more += `, read as ${[0, 3, 6, 9].map(b => ["R", "G", "B", "A", "0", "1"][d.Shader4ComponentMapping >> b & 7] || "?").join("")}`;
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
    rows.push(row("", "static sampler", `s${s.register}, space ${s.space}`, cell(s.stages), cell(`${s.filter}, ${s.address.join(" ")}${s.address.includes("BORDER") ? `, border ${s.border}` : ""}`),
      cell(`lod ${number(s.lod[0])} to ${s.lod[1] > 1e38 ? "…" : number(s.lod[1])}${s.lod[2] ? `, bias ${number(s.lod[2])}` : ""}${/^COMPARISON/.test(s.filter) ? `, passes ${s.comparison}` : ""}`), ""));
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
  return table(["row", "vertex", ...lines[0].elements.map(e => cell(named(e)))], lines.map(l => row(l.row, l.vertex === undefined ? "" : l.vertex === -2 ? "cut" : l.vertex < 0 ? "?" : l.vertex,
    ...l.elements.map(e => e.values ? (/COLOR|DIFFUSE/i.test(e.semantic) ? swatch(e.values) : "") + e.values.map(number).join(" ") : e.why === "GPU" ? `? of ${callLink(e.by)}` : e.why === "never" ? "never written" : e.why === "end" ? "behind the end" : "?"))));
}

const pixelTable = l => l ? `<p>discards: ${l.discards}</p>` + table(["target", "channels", "values"], l.targets.map(t => row(t.target, maskText(t.written), swatch(t.values) + t.values.map(number).join(" ")))) : "";

// ---- shaders

const signatureTable = (title, list) => list && list.length ? `<h3>${title}</h3>` + table(["semantic", "register", "mask"],
  list.map(e => row(cell(e.semantic + (e.index || "")), e.register, [..."xyzw"].map((c, i) => e.mask >> i & 1 ? c : "·").join("")))) : "";

const listingOf = l => inside.shaders.has(l.hash) ? JSON.parse(inside.shaders.get(l.hash)) : "";

// The listing, with what each instruction wrote behind it: of one that was done again what it wrote last.
function tracedListing(text, trace) {
  const wrote = new Map();
  for (const [word, name, ...values] of trace ? trace.writes : []) {
    const of = wrote.get(word) || new Map(), before = of.get(name);
    of.set(name, [values, before ? before[1] + 1 : 1]);
    wrote.set(word, of);
  }
  return text.split("\n").map(line => {
    const of = wrote.get(+(/^\s*(\d+):/.exec(line) || [0, -1])[1]);
    return cell(line) + (of ? `  <span class="value">${[...of].map(([name, [values, times]]) => `${name} = ${values.map(v => v === null ? "?" : number(v)).join(" ")}${times > 1 ? ` (the last of ${times} times)` : ""}`).join("; ")}</span>` : "");
  }).join("\n");
}

function shaderSection(l, bindings, trace, unrun) {
  const text = listingOf(l), notes = [l.groups ? `groups of ${l.groups.map(cell).join(" × ")} threads` : "", l.unnamed ? `no names: ${cell(l.unnamed)}` : "", unrun ? `not run: ${cell(unrun.why)}` : ""].filter(x => x);
  return section("shader-" + l.stage, `${cell(l.stage)} shader`, `model ${cell(l.model)}, ${l.bytes} bytes, ${cell(l.hash)}`,
    notes.map(x => `<p>${x}</p>`).join("") + signatureTable("In", l.in) + signatureTable("Out", l.out) + (l.patch ? signatureTable("Of the patch", l.patch) : "") +
    (bindings.length ? "<h3>Binds</h3>" + table(["name", "what", "register", "space", "count"], bindings.map(b => row(cell(b.name), cell(b.kind), b.register, b.space, b.count))) : "") +
    (text ? `<h3>Instructions${trace ? `, and what they write ${trace.row === undefined ? "that is the same for all pixels" : `of row ${trace.row}`}` : ""}</h3><pre class="listing">${tracedListing(text, trace)}</pre>` : ""));
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
const timeOf = i => inside.times.has(i) ? median(inside.times.get(i)) : 0;
const colour = text => { // of numbers from 0 to 1
  const v = text.split(" ").map(Number);
  return v.length < 3 || v.some(x => !(x >= 0 && x <= 1)) ? "" : swatch(v);
};
const changesTable = list => table(["call", "resource", "was", "became"], list.map(c => row(
  c.call === null ? "at the end" : `${c.before ? "in front of " : ""}<a data-i="${c.call}">${c.call}</a> ${cell(c.method)}`, `<a data-o="${c.resource}">#${c.resource}</a>`,
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
  const mesh = of("mesh").find(m => !m.after), after = of("processed"), pipelines = groups.flatMap(g => g.behind.filter(l => l.role === "object" && /PipelineState/.test(l.call.method)).map(l => [g, l]));
  // SetPipelineState, or else the Reset, whichever came last
  pipelines.sort((a, b) => a[0].state.call - b[0].state.call);
  const pipeline = pipelines.length ? pipelines[pipelines.length - 1][1] : null, shaders = of("shader"), vertices = of("vertex");
  const drawn = mesh && mesh.positions.some(v => v !== null);
  const doubts = doubtsOf(i, lines, groups, lines[0].call, pipeline);
  const html = seen +
    section("doubts", "What it lacks", String(doubts.certain.length), doubts.certain.map(d => `<p>${d}</p>`).join(""), true) +
    section("maybe", "What may be wrong with it", String(doubts.maybe.length), doubts.maybe.map(d => `<p>${d}</p>`).join(""), true) +
    section("targets", "Targets", "", targetsSection(groups, written), true) +
    section("bindings", "Root signature and what is bound", "", bindingsSection(groups, compute, written), true) +
    section("constants", "Constants", "", of("constants").map(constantsOf).join(""), true) +
    section("mesh", "Mesh", mesh ? `${mesh.count} vertices, ${cell(short(t))}, ${cell(mesh.semantic)}${mesh.index || ""} before the vertex shader` : "",
      drawn ? '<canvas class="mesh" title="drag: turn"></canvas>' : "", true) +
    section("vertices", "Vertices", vertices.length ? `the first ${vertices.length}` : "", verticesTable(vertices), !drawn) +
    section("after", "Behind the vertex shader", after.length ? `the first ${after.length}, by what is known of what it reads` : "", verticesTable(after), true) +
    section("written", "Behind the pixel shader", "what is the same for all pixels", pixelTable(of("pixel")[0]), false) +
    section("pipeline", "Pipeline", pipeline ? `PipelineState#${((pipeline.call.result || {}).ppPipelineState || {}).object ?? "?"}` : "", pipeline ? pipelineSection(pipeline.call) : "") +
    shaders.map(s => shaderSection(s, of("binding").filter(b => b.stage === s.stage), of("trace").find(x => x.stage === s.stage), of("not_run").find(x => x.stage === s.stage))).join("") +
    section("resources", "Resources it reads and writes", String(of("resource").length),
      table(["resource", "what", "written last by", "made by"], of("resource").map(resourceRow))) +
    of("damaged").filter(l => l.why).map(l => `<p class="bad">${cell(l.why)}</p>`).join("");
  return {html, ready(root) {
    const canvas = root.querySelector("canvas.mesh");
    if (canvas) drawMesh(canvas, mesh, t);
    pickPixels(root, i);
  }};
}
