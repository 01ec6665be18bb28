/* SPDX-License-Identifier: MIT */
// What a draw lacks. A sentence is either certain, from the state, the bytes that are known and what the shaders make of them: say(text,
// group); or it only may be what is wrong: may(text, group). Where nothing is known nothing is said.

// Whether a shader of the draw binds something in these registers, as far as shaders say what they bind.
function boundIn(spans, bindings) {
  const letter = b => /^constant/.test(b.kind) ? "b" : b.kind === "sampler" ? "s" : /UAV/.test(b.kind) ? "u" : "t";
  return bindings.filter(b => spans.some(r => (LETTERS[r.kind] || "b") === letter(b) && b.space === r.space &&
    (b.count === 0 || b.register + (b.count ?? 1) > r.register) && (r.count === null || b.register < r.register + r.count)));
}
const isUsed = (q, bindings) => boundIn(q.ranges || [{kind: q.kind, register: q.register, count: 1, space: q.space}], bindings).length > 0;

// What a draw is a draw or a dispatch of: ExecuteIndirect by what it executes, of which every command that is known is looked at.
function workOf(call, lines) {
  if (!/^ExecuteIndirect/.test(call.method)) return {draws: /^Draw/.test(call.method), computes: /^Dispatch/.test(call.method), indexed: call.method === "DrawIndexedInstanced", args: [call.args || {}]};
  const commands = lines.filter(l => l.role === "arguments"), of = c => c.arguments[c.arguments.length - 1] || {type: ""}, kind = commands.length ? of(commands[0]).type : "DRAW";
  return {draws: /^DRAW/.test(kind), computes: /^DISPATCH/.test(kind), indexed: kind === "DRAW_INDEXED", args: commands.map(of).map(a => a.values || {}), none: commands.length && commands[0].commands === 0,
    sets: new Set(commands.flatMap(c => c.arguments.map(a => `${a.type} ${a.slot ?? a.root_parameter ?? ""}`)))};
}

// Compares as Direct3D does: what `func` says of `a` against `b`; undefined: it depends.
const passes = (func, a, b) => ({NEVER: false, ALWAYS: true, LESS: a < b, EQUAL: a === b, LESS_EQUAL: a <= b, GREATER: a > b, NOT_EQUAL: a !== b, GREATER_EQUAL: a >= b})[func];
const resourceOf = d => d && d.call && d.call.args && d.call.args.pResource ? d.call.args.pResource.object : 0;

// What a target was cleared to, all of it, if nothing else wrote it since.
function clearedTo(view, written) {
  const by = written.get(resourceOf(view)), text = by === null || by === undefined ? "" : call(by).text, args = text.slice(text.indexOf("("));
  if (!/\.Clear(DepthStencil|RenderTarget)View\(/.test(text) || !/NumRects=0,/.test(args) || !args.includes(`#${view.heap}[${view.index}]`)) return null;
  const of = k => +(new RegExp(k + "=([-\\d.e+]+)").exec(args) || [0, NaN])[1], flags = (/ClearFlags=([^,]*)/.exec(args) || ["", ""])[1];
  const colour = /ColorRGBA=\[([^\]]*)\]/.exec(args);
  return {call: by, depth: /DEPTH/.test(flags) ? of("Depth") : NaN, stencil: /STENCIL/.test(flags.replace(/DEPTH_STENCIL/g, "")) ? of("Stencil") : NaN, colour: colour ? colour[1].split(",").map(Number) : null};
}

// ---- vertices

// Vertices of the smallest primitive.
function leastOf(topology) {
  const patch = /(\d+)_CONTROL_POINT/.exec(topology), adjacent = /_ADJ$/.test(topology);
  return patch ? +patch[1] : /TRIANGLE/.test(topology) ? adjacent ? 6 : 3 : /LINE/.test(topology) ? adjacent ? 4 : 2 : 1;
}

// Triangles of what comes out of the vertex shader, [x, y, z, w] each; null: not all of that is known, or it is no triangles.
function trianglesOf(lines, topology) {
  const mesh = lines.find(l => l.role === "mesh" && l.after);
  if (!mesh || !mesh.all || !/TRIANGLE(LIST|STRIP)$/.test(topology)) return null;
  const p = [], out = [];
  for (let i = 0; i < mesh.positions.length; i += 4) p.push(mesh.positions.slice(i, i + 4));
  if (p.some(v => v.includes(null))) return null;
  for (let i = 0; i + 2 < p.length; i += /LIST/.test(topology) ? 3 : 1)
    out.push(/STRIP/.test(topology) && i % 2 ? [p[i], p[i + 2], p[i + 1]] : [p[i], p[i + 1], p[i + 2]]);
  return out;
}

const MARGIN = 1e-4; // of what is computed here and on the GPU
const REASONS = {
  nan: () => "has a corner whose position is no number",
  w: () => "lies behind the eye: w is 0 or less",
  outside: () => "lies outside of what is seen, from -w to w",
  depth: () => "lies in front of or behind the depth that is seen, from 0 to w",
  flat: () => "is without an area: its corners are in one place or on one line",
  culled: p => `faces ${short(p.raster.CullMode) === "FRONT" ? "front" : "back"}, and such are culled`,
  small: () => "lies between the centres of pixels",
  cut: () => "lies outside of the scissor rectangle"};

// Why a triangle is not seen: a key of REASONS; "": it is, or may be.
function hidden(t, p, view, scissor) {
  if (t.some(v => v.some(x => typeof x === "string" && x === "NaN"))) return "nan";
  if (t.some(v => v.some(x => typeof x === "string"))) return "nan";
  if (t.every(v => v[3] <= 0)) return "w";
  for (const [axis, sign] of [[0, 1], [0, -1], [1, 1], [1, -1]])
    if (t.every(v => sign * v[axis] > v[3] + MARGIN * Math.abs(v[3]))) return "outside";
  if (p.raster && p.raster.DepthClipEnable && (t.every(v => v[2] < -MARGIN * Math.abs(v[3])) || t.every(v => v[2] > v[3] + MARGIN * Math.abs(v[3])))) return "depth";
  const same = (a, b) => a[0] * b[3] === b[0] * a[3] && a[1] * b[3] === b[1] * a[3];
  if (same(t[0], t[1]) || same(t[1], t[2]) || same(t[0], t[2])) return "flat";
  if (t.some(v => v[3] <= 0)) return "";
  const s = t.map(v => [v[0] / v[3], v[1] / v[3]]), turn = (s[1][0] - s[0][0]) * (s[2][1] - s[0][1]) - (s[1][1] - s[0][1]) * (s[2][0] - s[0][0]); // > 0: counterclockwise, y up
  const size = Math.max(...s.map((v, i) => Math.hypot(v[0] - s[(i + 1) % 3][0], v[1] - s[(i + 1) % 3][1])));
  if (Math.abs(turn) <= 1e-6 * size * size * MARGIN) return "flat";
  const cull = p.raster ? short(p.raster.CullMode) : "NONE", front = p.raster && p.raster.FrontCounterClockwise ? turn > 0 : turn < 0;
  if (cull !== "NONE" && !(view && view.flipped) && Math.abs(turn) > 1e-5 * size * size && front === (cull === "FRONT")) return "culled";
  if (!view || !(view.Width > 0 && view.Height > 0)) return "";
  const x = s.map(v => view.TopLeftX + (v[0] + 1) / 2 * view.Width), y = s.map(v => view.TopLeftY + (view.flipped ? 1 + v[1] : 1 - v[1]) / 2 * view.Height), spare = 1 / 64;
  const low = [Math.min(...x) - spare, Math.min(...y) - spare], high = [Math.max(...x) + spare, Math.max(...y) + spare];
  if (scissor && scissor.right > scissor.left && (low[0] >= scissor.right || low[1] >= scissor.bottom || high[0] <= scissor.left || high[1] <= scissor.top)) return "cut";
  const solid = p.raster && short(p.raster.FillMode) === "SOLID" && !/ON/.test(short(p.raster.ConservativeRaster)) && (!p.SampleDesc || p.SampleDesc.Count === 1);
  return solid && low.some((v, k) => Math.ceil(v - .5) > Math.floor(high[k] - .5)) ? "small" : "";
}

function doubtsOfTriangles(lines, topology, p, view, scissor, say) {
  const triangles = trianglesOf(lines, topology), count = {};
  for (const t of triangles || []) {
    const why = hidden(t, p, view, scissor);
    if (!why) return;
    count[why] = (count[why] || 0) + 1;
  }
  const reasons = Object.keys(count);
  if (reasons.length === 1) say(`behind the vertex shader every triangle ${REASONS[reasons[0]](p)}`);
  else if (reasons.length) say(`behind the vertex shader no triangle is seen: of ${triangles.length} ${reasons.map(r => `${count[r] === 1 ? "one" : `each of ${count[r]}`} ${REASONS[r](p)}`).join("; ")}`);
}

function doubtsOfVertices(lines, topology, p, work, say, may) {
  const rows = lines.filter(l => l.role === "vertex"), least = leastOf(topology);
  const vertex = lines.find(l => l.role === "shader" && l.stage === "vertex"), read = e => vertex && vertex.in.some(x => x.used && x.index === e.index && x.semantic.toUpperCase() === e.semantic.toUpperCase());
  const lacking = why => rows.flatMap(r => r.elements.filter(e => e.why === why && read(e)).map(e => [r, e]));
  const say1 = (why, text) => { const l = lacking(why); if (l.length) say(text(l[0][0], `${cell(l[0][1].semantic)} of ${l.length > 1 && new Set(l.map(x => x[0].row)).size === rows.length ? "every vertex that is shown" : `vertex ${l[0][0].vertex}`}`)); };
  say1("never", (r, what) => `${what} lies in a buffer where nobody ever wrote anything`);
  say1("end", (r, what) => `${work.indexed ? `index ${r.vertex} names a vertex behind the end of a buffer: ` : ""}${what} lies behind the end of its buffer: zeros are read`);
  const gpu = lacking("GPU");
  if (gpu.length && new Set(gpu.map(x => x[0].row)).size === rows.length) may(`${cell(gpu[0][1].semantic)} of every vertex that is shown is what the GPU wrote, by call ${gpu[0][1].by}: it is not in the recording`);
  for (const k of ["VertexCountPerInstance", "IndexCountPerInstance"])
    if (topology && work.args.length && work.args.every(a => a[k] > 0 && a[k] < least)) say(`${work.args[0][k]} vertices are not enough for one primitive of ${short(topology)}, which has ${least}`);
  if (rows.some(r => r.vertex === -2) && work.args.length === 1 && work.args[0].IndexCountPerInstance === rows.length) {
    let run = 0, most = 0;
    for (const r of rows) most = Math.max(most, run = r.vertex === -2 ? 0 : run + 1);
    if (most < least) say(`the indices that cut strips leave ${most} vertices one behind the other, and one primitive of ${short(topology)} has ${least}`);
  }
  for (const l of lines.filter(x => x.role === "processed"))
    for (const e of l.elements)
      if (!/^SV_Position/i.test(e.semantic) && e.values.some(x => x === "NaN")) return void may(`${cell(e.semantic)} of vertex ${l.row} is no number behind the vertex shader`);
}

// ---- buffers

// The elements of the input layout, with the byte in a vertex where they end, at least.
function layoutOf(pipeline) {
  const list = (function look(o) { return !o || typeof o !== "object" ? null : o.pInputElementDescs || Object.values(o).map(look).find(x => x) || null; })(pipeline && pipeline.call.args) || [];
  const bytes = f => /^(BC|R1_)/.test(f) ? 4 : Math.max(1, [...f.split("_")[0].matchAll(/[RGBAX](\d+)/g)].reduce((n, m) => n + +m[1], 0) / 8);
  const behind = new Map();
  return list.map(e => {
    const size = bytes(short(e.Format)), step = Math.min(4, size), last = behind.get(e.InputSlot) || 0;
    const end = size + (e.AlignedByteOffset === 4294967295 ? Math.ceil(last / step) * step : e.AlignedByteOffset);
    behind.set(e.InputSlot, end);
    return {...e, end};
  });
}

// What the input assembler is given, by the sizes of what is bound, as far as the vertex shader reads it.
function doubtsOfBuffers(lines, last, groups, pipeline, work, say, may) {
  const vertex = lines.find(l => l.role === "shader" && l.stage === "vertex"), views = new Map(), index = last("IASetIndexBuffer"), v = index && index.state.args.pView;
  const layout = layoutOf(pipeline).filter(e => vertex && vertex.in.some(x => x.used && x.index === e.SemanticIndex && x.semantic.toUpperCase() === e.SemanticName.toUpperCase()));
  for (const g of groups.filter(x => x.state.method === "IASetVertexBuffers")) (g.state.args.pViews || []).forEach((b, k) => views.set(g.state.args.StartSlot + k, [b, g]));
  const set = (type, slot) => work.sets && work.sets.has(`${type} ${slot}`);
  for (const slot of new Set(layout.map(e => e.InputSlot))) {
    const [b, g] = views.get(slot) || [], elements = layout.filter(e => e.InputSlot === slot), each = elements.filter(e => !/INSTANCE/.test(e.InputSlotClass));
    if (set("VERTEX_BUFFER_VIEW", slot)) continue;
    if (!b || !b.BufferLocation || !b.BufferLocation.base) { say(`no vertex buffer is set in slot ${slot}, from which ${cell(elements[0].SemanticName)} comes`, g); continue; }
    if (b.SizeInBytes === 0) { say(`the vertex buffer in slot ${slot} has 0 bytes`, g); continue; }
    if (b.StrideInBytes === 0 && each.length) may(`the vertex buffer in slot ${slot} has a stride of 0: every vertex is the first`, g);
    const far = elements.reduce((a, e) => a.end > e.end ? a : e);
    if (b.StrideInBytes && b.StrideInBytes < far.end) may(`a vertex in slot ${slot} has ${b.StrideInBytes} bytes, ${cell(far.SemanticName)} ends at byte ${far.end} of it`, g);
    for (const a of work.args)
      if (!work.indexed && b.StrideInBytes && each.length && (a.StartVertexLocation + a.VertexCountPerInstance - 1) * b.StrideInBytes + Math.max(...each.map(e => e.end)) > b.SizeInBytes)
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

// ---- where it lands

// A viewport whose height is negative begins at its bottom: the same rectangle, upside down, where the device draws it.
const upright = v => v && v.Height < 0 ? {...v, TopLeftY: v.TopLeftY + v.Height, Height: -v.Height, flipped: true} : v;

// The viewport and the scissor rectangle that primitives go to; `several`: a shader chooses others.
function areaOf(last, lines) {
  const view = last("RSSetViewports"), scissor = last("RSSetScissorRects");
  const several = lines.some(l => l.role === "shader" && l.stage !== "pixel" && l.out && l.out.some(e => /^SV_ViewportArrayIndex/i.test(e.semantic)));
  return {view, scissor, several, v: upright(view && (view.state.args.pViewports || [])[0]), r: scissor && (scissor.state.args.pRects || [])[0]};
}

function doubtsOfArea(area, targets, lines, say, may) {
  const {view, scissor, several, v, r} = area, target = targets && targets.behind.find(l => l.role === "descriptor" && l.call && /RenderTarget|DepthStencil/.test(l.call.method));
  const made = lines.find(l => l.role === "resource" && l.object === resourceOf(target)), d = made && made.call && made.call.args.pDesc;
  const mip = target && target.call.args.pDesc ? Math.max(0, ...Object.values(target.call.args.pDesc).map(x => x && x.MipSlice || 0)) : 0;
  const width = d && Math.max(1, d.Width >> mip), height = d && Math.max(1, d.Height >> mip), sees = r && r.right > r.left && r.bottom > r.top;
  if (!v) say("no viewport is set");
  else if (!(v.Width > 0 && v.Height > 0) && !several) say(`a viewport of ${v.Width} by ${v.Height} has no pixels`, view);
  else if (v.flipped && !several) may(`a viewport of height ${-v.Height} draws upside down where the device has InvertedViewportHeightFlipsYSupported, and nothing where it has not`, view);
  if (!r) say("no scissor rectangle is set: it is empty then, and nothing is drawn");
  else if (!sees && !several) say("a scissor rectangle is empty", scissor);
  if (several) return;
  if (d && v && v.Width > 0 && (v.TopLeftX >= width || v.TopLeftY >= height || v.TopLeftX + v.Width <= 0 || v.TopLeftY + v.Height <= 0)) say(`the viewport lies outside of the target, which has ${width} by ${height} pixels`, view);
  if (d && sees && (r.left >= width || r.top >= height || r.right <= 0 || r.bottom <= 0)) say(`the scissor rectangle lies outside of the target, which has ${width} by ${height} pixels`, scissor);
  else if (v && sees && v.Width > 0 && v.Height > 0 && (r.left >= v.TopLeftX + v.Width || r.top >= v.TopLeftY + v.Height || r.right <= v.TopLeftX || r.bottom <= v.TopLeftY)) say("the scissor rectangle lies outside of the viewport", scissor);
}

// ---- what is done besides

const isStreamed = p => !!(p.streams && p.streams.NumEntries);

// Whether a query counts what the draw at call `i` does, on its list.
function isCounted(i) {
  for (let k = i - 1, ended = 0, n = 0; k >= 0 && n < CALLS_LOOKED_AT; k--, n++) {
    if (selfOf(k) !== selfOf(i)) continue;
    if (/\.Reset\(/.test(lines[k])) return false;
    if (/\.EndQuery\(/.test(lines[k]) && !/TIMESTAMP/.test(lines[k])) ended++;
    else if (/\.BeginQuery\(/.test(lines[k]) && !ended--) return true;
  }
  return false;
}

// Whether a right draw may leave targets alone, or be bound to none: what is written by shaders, streamed out or counted is all that is meant.
function isMeantForOthers(i, p, lines) {
  return isStreamed(p) || lines.some(l => l.role === "binding" && /UAV/.test(l.kind)) || lines.some(l => l.role === "shader" && /^\s*(?:\d+:?\s+)*dcl_u(?:av|nordered)/m.test(listingOf(l))) || isCounted(i);
}

function isWritingDepth(p) {
  const d = p.depth, ops = d ? [d.FrontFace, d.BackFace].filter(f => f).flatMap(f => [f.StencilFailOp, f.StencilDepthFailOp, f.StencilPassOp]) : [];
  return !!d && !!((d.DepthEnable && /ALL/.test(d.DepthWriteMask)) || (d.StencilEnable && d.StencilWriteMask && ops.some(o => short(o) !== "KEEP")));
}

// ---- what pixels become

// What a blend factor is for the first three components, as far as it is known: 0, 1, or undefined.
function factorOf(name, colour, alpha, before, constant) {
  const all = v => Array.isArray(v) && v.slice(0, 3).every(x => typeof x === "number") ? v.slice(0, 3).every(x => x === 0) ? 0 : v.slice(0, 3).every(x => x === 1) ? 1 : undefined : undefined;
  const one = v => v === 0 || v === 1 ? v : undefined, not = v => v === undefined ? undefined : 1 - v;
  const plain = {ZERO: 0, ONE: 1, SRC_COLOR: all(colour), SRC_ALPHA: one(alpha), DEST_COLOR: before ? all(before) : undefined, DEST_ALPHA: before ? one(before[3]) : undefined, BLEND_FACTOR: all(constant)};
  return name in plain ? plain[name] : /^INV_/.test(name) ? not(plain[name.slice(4)]) : undefined;
}

const LETTERS_OF = mask => [...MASKS].filter((c, i) => mask >> i & 1).join("");

// Whether blending leaves alpha as it is.
function keepsAlpha(t, alpha, constant) {
  const of = f => factorOf(short(f), undefined, alpha, undefined, constant && [constant[3], constant[3], constant[3]]);
  return !(t.RenderTargetWriteMask & 8) || (/^(ADD|REV_SUBTRACT)$/.test(short(t.BlendOpAlpha)) && (alpha === 0 || of(t.SrcBlendAlpha) === 0) && of(t.DestBlendAlpha) === 1);
}

// `besides`: something else is done than targets are written. Black, or alpha alone, can be what is meant.
function doubtsOfTarget(k, p, t, pixel, shader, view, written, constant, factor, besides, say, may) {
  const px = pixel && pixel.targets.find(x => x.target === k), mask = t.RenderTargetWriteMask & 15, cleared = view ? clearedTo(view, written) : null, before = cleared && cleared.colour;
  const other = shader && shader.out.some(e => /^SV_Target/i.test(e.semantic));
  if (!mask) return void (besides ? may : say)(`no channel of target ${k} is written: its mask is 0`);
  if (shader && !shader.out.some(e => /^SV_Target/i.test(e.semantic) && e.index === k)) return void (besides || other ? may : say)(`the pixel shader writes nothing to target ${k}`);
  if (!(mask & 7)) return void may(`of target ${k} alpha alone is written: its mask is ${mask}`);
  if (t.LogicOpEnable) return /NOOP/.test(t.LogicOp) ? void say(`the logic operation on target ${k} leaves it as it is`) : undefined;
  const colour = px && px.values, alpha = px ? px.values[3] : undefined, op = short(t.BlendOp), channels = [0, 1, 2].filter(c => mask >> c & 1);
  const black = v => typeof v === "number" && v <= 0 || v === "NaN" || v === "-Infinity", said = colour && `(${colour.map(number).join(" ")})`;
  const dark = before && channels.every(c => before[c] === 0), by = cleared ? `, by call ${cleared.call}` : "";
  if (!t.BlendEnable) {
    if (colour && channels.every(c => black(colour[c]))) may(channels.length < 3 ? `of target ${k} only ${LETTERS_OF(mask)} is written, and the pixel shader writes ${said} to every pixel` : `the pixel shader writes black to every pixel of target ${k}: ${said}`);
    return;
  }
  const source = factorOf(short(t.SrcBlend), colour, alpha, before, constant), dest = factorOf(short(t.DestBlend), colour, alpha, before, constant), name = `its factor is ${short(t.SrcBlend)}`;
  const at = short(t.SrcBlend) === "BLEND_FACTOR" ? factor : null;
  const leaves = keepsAlpha(t, alpha, constant), tell = leaves ? say : may, but = leaves ? "" : "; alpha alone is written";
  if (/^(MIN|MAX)$/.test(op)) { if (op === "MIN" && dark) (mask & 8 ? may : say)(`blending takes the least of what the shader writes to target ${k} and of what is there, which was cleared to 0${by}`); return; }
  const nothing = source === 0 || (colour && channels.every(c => colour[c] === 0));
  if (/DEST_/.test(short(t.SrcBlend)) && nothing && before && (dark || dest === 0)) return void (dark ? tell : may)(`blending multiplies what the shader writes to target ${k} with what is there, and that was cleared to ${before.map(number).join(" ")} last${by}`);
  const keeps = dest === 1 || dest === 0 || !/SRC/.test(short(t.DestBlend));
  if (nothing && keeps && dest === 0) may(`blending takes nothing of what the shader writes to target ${k}: ${name}, and nothing of what was there: the result is 0`, at);
  else if (nothing && keeps) tell((source === 0 && !/^ZERO|FACTOR/.test(short(t.SrcBlend)) ? `blending takes nothing of what the shader writes to target ${k}: ${name}, and alpha is ${number(alpha ?? null)} in every pixel` : source === 0 ? `blending takes nothing of what the shader writes to target ${k}: ${name}` : `the pixel shader writes black to every pixel of target ${k}: ${said}, and blending adds that`) + but, at);
  else if (op === "REV_SUBTRACT" && dark) tell(`blending subtracts what the shader writes to target ${k} from what is there, and that was cleared to 0${by}`);
  else if (dark && source === 0) tell(`blending leaves nothing in target ${k}: ${name}, and it was cleared to 0${by}`, at);
}

function doubtsOfOutput(i, p, n, last, targets, written, lines, say, may) {
  const shader = lines.find(l => l.role === "shader" && l.stage === "pixel"), pixel = lines.find(l => l.role === "pixel"), views = targets ? targets.behind.filter(l => l.role === "descriptor") : [];
  const factor = last("OMSetBlendFactor"), constant = factor ? factor.state.args.BlendFactor : [1, 1, 1, 1];
  const besides = isMeantForOthers(i, p, lines) || isWritingDepth(p);
  if (pixel && pixel.discards === "always") (isMeantForOthers(i, p, lines) ? may : say)("the pixel shader discards every pixel");
  else if (shader && /^\s*(?:\d+:?\s+)*discard/m.test(listingOf(shader)) && !(pixel && pixel.discards === "never")) may("the pixel shader discards pixels by a condition of its own");
  for (let k = 0; p.blend && shader && k < Math.min(n, p.NumRenderTargets ?? n); k++)
    doubtsOfTarget(k, p, p.blend.RenderTarget[p.blend.IndependentBlendEnable ? k : 0], pixel, shader, views[k], written, constant, factor, besides, say, may);
  const first = pixel && pixel.targets.find(x => x.target === 0);
  if (p.blend && p.blend.AlphaToCoverageEnable && first && first.values[3] === 0) say("alpha covers no sample: alpha to coverage is on, and the pixel shader writes alpha 0 to every pixel");
  if (p.SampleMask === 0) say("the sample mask is 0: nothing is drawn");
  else if (p.SampleMask !== undefined && p.SampleDesc && !(p.SampleMask & (2 ** p.SampleDesc.Count - 1))) may(`the sample mask is 0x${p.SampleMask.toString(16)}, and has none of the ${p.SampleDesc.Count} samples of the target`);
  if (shader && p.NumRenderTargets > n && shader.out.some(e => /^SV_Target/i.test(e.semantic) && e.index >= n)) say(`the pixel shader writes ${p.NumRenderTargets} targets, ${n || "none"} of which ${n === 1 ? "is" : "are"} bound`, targets);
}

// Depths of all that is drawn, behind the viewport: [least, most]; null: not known.
function depthsOf(lines, topology, p, v) {
  const triangles = trianglesOf(lines, topology), shader = lines.find(l => l.role === "shader" && l.stage === "pixel");
  if (!triangles || !triangles.length || !v || (shader && (/SV_Depth/i.test(shader.out.map(e => e.semantic).join()))) || triangles.some(t => t.some(x => x.some(y => typeof y === "string") || x[3] <= 0))) return null;
  let [least, most] = [1, 0];
  for (const x of triangles.flat()) { least = Math.min(least, x[2] / x[3]); most = Math.max(most, x[2] / x[3]); }
  const within = z => v.MinDepth + Math.min(1, Math.max(0, z)) * (v.MaxDepth - v.MinDepth), bias = p.raster && p.raster.DepthBias;
  if (!p.raster || p.raster.SlopeScaledDepthBias || (bias && p.raster.DepthBiasClamp)) return null;
  const f = short(p.DSVFormat || ""), unit = /D24/.test(f) ? 2 ** -24 : /D16/.test(f) ? 2 ** -16 : 2 ** (Math.floor(Math.log2(Math.max(1e-30, within(most)))) - 23);
  const low = Math.min(v.MinDepth, v.MaxDepth), high = Math.max(v.MinDepth, v.MaxDepth), moved = z => Math.min(high, Math.max(low, within(z) + (bias || 0) * unit));
  return [Math.min(moved(least), moved(most)), Math.max(moved(least), moved(most)), bias];
}

function doubtsOfDepth(p, last, targets, written, lines, topology, area, say) {
  const depth = targets && targets.state.args.pDepthStencilDescriptor, view = targets && targets.behind.find(l => l.role === "descriptor" && l.call && /DepthStencilView/.test(l.call.method));
  const was = view ? clearedTo(view, written) : null, v = area.v, tests = p.depth && p.depth.DepthEnable;
  if (!p.depth) return;
  const func = short(p.depth.DepthFunc), none = (...z) => was && z.every(x => passes(func, x, was.depth) === false);
  if (tests && !depth && !last("BeginRenderPass") && p.DSVFormat && short(p.DSVFormat) !== "UNKNOWN") say("the depth test is on, and no depth target is bound");
  if (tests && depth && func === "NEVER") say("the depth test never passes");
  else if (tests && was && !isNaN(was.depth) && v && !area.several) {
    const z = depthsOf(lines, topology, p, v), cleared = `the depth target was cleared to ${number(was.depth)} last, by call ${was.call}`, far = 1e-4;
    const text = `: no depth is ${func} than that`.replace(/(EQUAL) than/, "$1 to");
    if (none(v.MinDepth, v.MaxDepth) && (func !== "EQUAL" || was.depth < Math.min(v.MinDepth, v.MaxDepth) || was.depth > Math.max(v.MinDepth, v.MaxDepth))) say(cleared + (v.MinDepth === 0 && v.MaxDepth === 1 ? "" : `, and the viewport's depth is ${v.MinDepth} to ${v.MaxDepth}`) + text, targets);
    else if (z && ((/LESS/.test(func) && z[0] > was.depth + far) || (/GREATER/.test(func) && z[1] < was.depth - far) || (func === "EQUAL" && (was.depth < z[0] - far || was.depth > z[1] + far)) || (z[2] && none(z[0], z[1]) && /LESS$|GREATER$/.test(func))))
      say(`${cleared}, and what is drawn has depths of ${number(z[0])} to ${number(z[1])}${z[2] ? `, with a bias of ${z[2]}` : ""}${text}`, targets);
  }
  const bounds = last("OMSetDepthBounds"), b = bounds && bounds.state.args;
  if (p.depth.DepthBoundsTestEnable && b && (b.Min > b.Max || (was && (was.depth < b.Min || was.depth > b.Max))))
    say(`the depth bounds test never passes: the bounds are ${b.Min} to ${b.Max}${was ? `, and the depth target was cleared to ${was.depth} last, by call ${was.call}` : ""}`, bounds);
  if (!p.depth.StencilEnable || !depth) return;
  const ref = last("OMSetStencilRef"), value = ref ? ref.state.args.StencilRef : 0, mask = p.depth.StencilReadMask, of = f => short(f.StencilFunc);
  const faces = p.raster && short(p.raster.CullMode) === "BACK" ? [p.depth.FrontFace] : p.raster && short(p.raster.CullMode) === "FRONT" ? [p.depth.BackFace] : [p.depth.FrontFace, p.depth.BackFace];
  const masked = x => mask === 255 ? String(x) : `${x} (${x & mask} by the mask 0x${mask.toString(16)})`;
  if (faces.every(f => of(f) === "NEVER")) say("the stencil test never passes");
  else if (was && !isNaN(was.stencil) && faces.every(f => passes(of(f), value & mask, was.stencil & mask) === false))
    say(`the stencil test never passes: the reference is ${masked(value)}, and stencil was cleared to ${masked(was.stencil)} last, by call ${was.call}; what passes is ${of(faces[0])}`, ref);
}

// ---- what is bound

// The registers of a shader that descriptor `index` of a table fills.
function registersOf(q, index, base) {
  return (q.ranges || []).filter(r => index - base >= r.first && (r.count === null || index - base < r.first + r.count)).map(r => ({kind: r.kind, register: r.register + index - base - r.first, count: 1, space: r.space}));
}

const DIMENSIONS = ["", "BUFFER", "TEXTURE1D", "TEXTURE1DARRAY", "TEXTURE2D", "TEXTURE2DARRAY", "TEXTURE2DMS", "TEXTURE2DMSARRAY", "TEXTURE3D", "TEXTURECUBE", "TEXTURECUBEARRAY", "BUFFER"];

// A root signature by what it is made of: its container's checksum.
const contentOf = id => objects.has(id) && objects.get(id).born >= 0 && objects.get(id).born < N ? (/pBlobWithRootSignature=(\d+ bytes \w+)/.exec(call(objects.get(id).born).text) || ["", ""])[1] : "";

// The subresources of a texture that a view of it shows, as [number, words]; null: not known.
function partsOfView(view, d) {
  const all = d.MipLevels || 1 + Math.floor(Math.log2(Math.max(d.Width, d.Height, /TEXTURE3D/.test(d.Dimension) ? d.DepthOrArraySize : 1))), layers = /TEXTURE3D/.test(d.Dimension) ? 1 : d.DepthOrArraySize;
  const v = view ? Object.values(view).find(x => x && typeof x === "object" && "MipLevels" in x) : {MipLevels: all, ArraySize: layers};
  if (!v || v.PlaneSlice) return null;
  const mip = v.MostDetailedMip || 0, slice = v.FirstArraySlice ?? v.First2DArrayFace ?? 0, out = [];
  const slices = v.ArraySize ?? (v.NumCubes ? 6 * v.NumCubes : /CUBE/.test(view ? view.ViewDimension : "") ? 6 : 1);
  for (let s = slice; s < Math.min(layers, slice + slices); s++)
    for (let m = mip; m < Math.min(all, mip + v.MipLevels); m++)
      out.push([s * all + m, `mip ${m}${layers > 1 ? ` of slice ${s}` : ""}`]);
  return out.length <= 1024 ? out : null;
}

function doubtsOfDescriptor(l, q, base, bindings, lines, written, executed, g, say, may) {
  const a = l.call.args, from = a.pResource || a.pDestBuffer || (a.pDesc && a.pDesc.BufferLocation && a.pDesc.BufferLocation.base), filled = registersOf(q, l.index, base), used = boundIn(filled, bindings);
  if (!used.length) return;
  const kind = /ConstantBuffer/.test(l.call.method) ? "CBV" : /Unordered/.test(l.call.method) ? "UAV" : "SRV", what = `descriptor ${l.index} of root parameter ${q.index}`;
  if (filled.every(r => r.kind !== kind)) return void say(`${what} is of a ${kind}, the table is one of ${filled[0].kind}s there`, g);
  if (!from) return void say(`${what} names no resource: what is read there is 0`, g);
  const made = lines.find(r => r.role === "resource" && r.object === from.object), d = made && made.call && made.call.args.pDesc, buffer = d && /BUFFER/.test(d.Dimension);
  const seen = a.pDesc && a.pDesc.ViewDimension ? short(a.pDesc.ViewDimension) : "", wanted = DIMENSIONS[(used.find(b => b.dimension) || {}).dimension] || "";
  if (kind === "SRV" && seen && wanted && seen !== wanted && !/RAYTRACING/.test(seen)) say(`${what} is of a ${seen}, the shader reads a ${wanted} there`, g);
  if (kind === "SRV" && written.has(from.object) && written.get(from.object) === null && d && (buffer ? executed : !/UNORDERED/.test(d.Flags)))
    say(`resource #${from.object}, which ${what} names, was written by no call that is known`, g);
  const parts = kind === "SRV" && made && made.written && d && !/UNORDERED/.test(d.Flags) ? partsOfView(a.pDesc, d) : null, lacks = (parts || []).filter(([n]) => !made.written.includes(n)).map(x => x[1]);
  const list = lacks.slice(0, 4).join(", ") + (lacks.length > 4 ? `, and ${lacks.length - 4} more` : "");
  if (lacks.length && lacks.length === parts.length) say(`of resource #${from.object} ${what} shows ${list}, which no known call wrote`, g);
  else if (lacks.length) may(`of what ${what} shows of resource #${from.object} no known call wrote ${list}`, g);
}

function doubtsOfBindings(lines, groups, last, draws, pipeline, written, work, made, executed, say, may) {
  const prefix = draws ? "SetGraphicsRoot" : "SetComputeRoot", signature = last(prefix + "Signature"), bindings = lines.filter(l => l.role === "binding");
  if (!signature) return void say("no root signature is set");
  const heap = last("SetDescriptorHeaps"), heaps = heap ? heap.state.args.ppDescriptorHeaps || [] : /TYPE_BUNDLE/.test(made) ? null : [];
  const own = (function look(o) { return !o || typeof o !== "object" ? null : o.pRootSignature || Object.values(o).map(look).find(x => x) || null; })(pipeline && pipeline.call.args), set = signature.state.args.pRootSignature;
  if (own && set && own.object !== set.object && contentOf(own.object) !== contentOf(set.object)) say(`the root signature that is set is #${set.object}, the pipeline was made with #${own.object}`, signature);
  for (const q of signature.behind.filter(l => l.role === "parameter")) {
    const g = groups.filter(x => x !== signature && x.state.method.startsWith(prefix) && x.state.args.RootParameterIndex === q.index).pop();
    if (!isUsed(q, bindings) || (work.sets && [...work.sets].some(t => !/VERTEX|INDEX/.test(t) && t.endsWith(" " + q.index)))) continue;
    if (!g) { say(`nothing is bound to root parameter ${q.index}, which a shader uses`); continue; }
    const at = g.state.args.BufferLocation, table = g.state.args.BaseDescriptor, base = table && table.base;
    if (base && heaps && !heaps.some(h => h && h.object === base.object)) say(`the table of root parameter ${q.index} lies in heap #${base.object}, which is not set: ${heaps.length ? heaps.map(h => `#${h.object}`).join(" and ") + " is" : "none is"}`, heap || g);
    if (at && !at.base) say(`root parameter ${q.index}, which a shader uses, is no address of a buffer`, g);
    if (at && at.base && q.kind === "SRV" && executed && written.get(at.base.object) === null) say(`resource #${at.base.object}, which root parameter ${q.index} names, was written by no call that is known`, g);
    const descriptors = g.behind.filter(l => l.role === "descriptor"), empty = descriptors.filter(l => !l.call && table && boundIn(registersOf(q, l.index, table.index), bindings).length);
    if (empty.length) say(`in the table of root parameter ${q.index} are descriptors where nothing was ever put`, g);
    for (const l of descriptors.filter(x => table && x.call && x.call.args && !/Sampler/.test(x.call.method))) doubtsOfDescriptor(l, q, table.index, bindings, lines, written, executed, g, say, may);
  }
  for (const c of lines.filter(l => l.role === "constants" && l.buffer)) {
    const v = c.variables.flatMap(x => x.values), what = `the ${cell(c.stage)} shader's ${cell(c.buffer)} (b${c.register})`;
    if (v.length && v.every(x => x === 0)) may(`${what} holds zeros alone`);
    if (c.from === "root constants" && v.some(x => x === null)) may(`of ${what}, which are root constants, some were never set`);
    else if (/never wrote/.test(c.from) && executed) say(`${what} is ${cell(c.from)}`);
    if (v.some(x => typeof x === "string")) say(`in ${what} is what is no number`);
  }
}

// ---- in front of it, and behind it

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

// The first call behind `i` that executes its list, or -1: none does; null: that is too far.
function executedBy(i) {
  const self = selfOf(i), list = mentions(self);
  for (let k = i + 1; k < N; k++) {
    if (k > i + CALLS_LOOKED_AT) return null;
    if (/\.ExecuteCommandLists\(/.test(lines[k]) && list.test(lines[k])) return k;
    if (/\.Reset\(/.test(lines[k]) && selfOf(k) === self) return -1;
  }
  return -1;
}

const WRITES = /\.(ClearRenderTargetView|CopyTextureRegion|CopyResource|ResolveSubresource|DiscardResource|ResourceBarrier|Barrier|ExecuteBundle|BeginRenderPass|ExecuteIndirect)\(/;

// The calls that a list has when call `k` executes it, and that may touch a target.
function callsOn(list, k, from) {
  const out = [];
  for (let c = k - 1, n = 0; c > from && c >= 0; c--, n++) {
    if (selfOf(c) !== list || n > CALLS_LOOKED_AT) continue;
    if (/\.Reset\(/.test(lines[c])) break;
    if (WRITES.test(lines[c])) out.push(c);
  }
  return out.reverse();
}

function callsBetween(list, from, to) {
  const out = [];
  for (let c = from + 1; c < to; c++) if (selfOf(c) === list) out.push(c);
  return out;
}

// What is done to the target behind the draw, in the order of execution, as long as nobody can have read it: the call that writes over all of it, or null.
function overwrittenBy(i, view, execution) {
  const id = resourceOf(view), mention = id && mentions(id);
  if (!id || execution === null) return null;
  let end = execution;
  if (end < 0) for (end = i + 1; end < N && end < i + CALLS_LOOKED_AT && !(selfOf(end) === selfOf(i) && /\.Reset\(/.test(lines[end]));) end++;
  const order = callsOn(selfOf(i), end, i);
  const listsOf = k => [...lines[k].slice(lines[k].indexOf("(")).matchAll(/CommandList#(\d+)/g)].map(x => +x[1]), mine = execution < 0 ? [] : listsOf(execution);
  for (const l of mine.slice(mine.indexOf(selfOf(i)) + 1)) order.push(...callsOn(l, execution, -1));
  for (let k = execution + 1; execution >= 0 && k < N && k < execution + CALLS_LOOKED_AT && frameOf[k] === frameOf[execution]; k++) {
    if (!/\.ExecuteCommandLists\(/.test(lines[k])) continue;
    const later = listsOf(k);
    if (later.includes(selfOf(i)) && callsBetween(selfOf(i), i, k).every(c => !/\.Reset\(/.test(lines[c]))) return null; // it draws once more
    for (const l of later) order.push(...callsOn(l, k, -1));
  }
  for (const k of order) {
    const text = lines[k], m = method(call(k).text), args = text.slice(text.indexOf("("));
    if (m === "ClearRenderTargetView" && args.includes(`#${view.heap}[${view.index}]`) && /NumRects=0,/.test(args)) return k;
    if (/^(ExecuteBundle|BeginRenderPass|ExecuteIndirect)$/.test(m)) return null;
    if (!mention.test(args)) continue;
    if (/Barrier$/.test(m)) {
      const after = new RegExp(`#${id},[^}]*StateAfter=([\\w| ]+)`).exec(args);
      if (!after || !/^D3D12_RESOURCE_STATE_(COPY_DEST|RESOLVE_DEST|RENDER_TARGET)$/.test(after[1].trim())) return null;
    } else if (m === "DiscardResource") return k;
    else if (new RegExp(`(pDst|pDstResource|pDest\\w*)=\\{?(pResource=)?Resource#${id}\\b`).test(args) && !(new RegExp(`pSrc\\w*=\\{?(pResource=)?Resource#${id}\\b`).test(args)) && (m !== "CopyTextureRegion" || /DstX=0, DstY=0, DstZ=0/.test(args) && /pSrcBox=NULL/.test(args))) return k;
    else return null;
  }
  return null;
}

function isNeverResolved(i, view, lines_) {
  const made = lines_.find(l => l.role === "resource" && l.object === resourceOf(view)), d = made && made.call && made.call.args.pDesc;
  if (!d || !d.SampleDesc || d.SampleDesc.Count < 2 || N - i > CALLS_LOOKED_AT) return false;
  const mention = mentions(made.object);
  for (let k = 0; k < N; k++) if (/\.(Resolve\w*|Copy\w*|CreateShaderResourceView|BeginRenderPass)\(/.test(lines[k]) && mention.test(lines[k])) return false;
  return true;
}

// Views whose format is not what the pipeline was made for.
function doubtsOfFormats(p, n, targets, lines, say) {
  const views = targets ? targets.behind.filter(l => l.role === "descriptor" && l.call) : [];
  const format = d => {
    const own = d.call.args && d.call.args.pDesc && d.call.args.pDesc.Format, made = lines.find(l => l.role === "resource" && l.object === resourceOf(d));
    return own && !/UNKNOWN/.test(own) ? own : made && made.call && made.call.args.pDesc ? made.call.args.pDesc.Format : "";
  };
  const differs = (a, b) => a && b && a !== b && !/UNKNOWN|TYPELESS/.test(a + b);
  (p.RTVFormats || []).slice(0, Math.min(n, p.NumRenderTargets || 0)).forEach((f, k) => {
    const d = views.filter(x => /RenderTarget/.test(x.call.method))[k];
    if (d && differs(format(d), f)) say(`target ${k} is seen as ${short(format(d))}, the pipeline writes ${short(f)}`, targets);
  });
  const depth = views.find(x => /DepthStencil/.test(x.call.method));
  if (depth && p.depth && p.depth.DepthEnable && differs(format(depth), p.DSVFormat)) say(`the depth target is seen as ${short(format(depth))}, the pipeline is made for ${short(p.DSVFormat)}`, targets);
  if (n > (p.NumRenderTargets ?? n)) say(`${n} targets are bound, the pipeline writes ${p.NumRenderTargets}`, targets);
}

function doubtsOfDraw(i, lines, groups, pipeline, p, work, last, written, execution, say, may) {
  const targets = last("OMSetRenderTargets"), topology = last("IASetPrimitiveTopology"), t = topology ? topology.state.args.PrimitiveTopology : "", area = areaOf(last, lines);
  const n = targets ? targets.state.args.NumRenderTargetDescriptors : 0, depth = targets && targets.state.args.pDepthStencilDescriptor, of = role => lines.filter(l => l.role === role);
  const meant = isMeantForOthers(i, p, lines), streamed = isStreamed(p), pixels = !streamed || (p.streams.RasterizedStream !== 4294967295 && (of("shader").some(s => s.stage === "pixel") || (p.depth && p.depth.DepthEnable)));
  if (!n && !depth && !last("BeginRenderPass") && !meant) say("no render target and no depth target is bound", targets);
  for (const [k, d] of (targets ? targets.behind.filter(l => l.role === "descriptor") : []).entries())
    if (!d.call) say(`target ${k} is a descriptor where nothing was ever put`, targets);
    else if (!resourceOf(d)) say(`target ${k} is a view of no resource: what is drawn is nowhere`, targets);
  doubtsOfStates(i, groups, lines, targets, say);
  if (pixels) doubtsOfArea(area, targets, lines, streamed ? may : say, may);
  if (!topology) say("no primitive topology is set");
  else if (p.PrimitiveTopologyType) {
    const kind = short(p.PrimitiveTopologyType);
    if (kind !== "UNDEFINED" && !short(t).includes(kind === "PATCH" ? "PATCH" : kind)) say(`the pipeline is made for ${kind}, what is set is ${short(t)}`, topology);
  }
  if (pipeline && n && of("shader").length && !of("shader").some(s => s.stage === "pixel")) (meant || isWritingDepth(p) ? may : say)("the pipeline has no pixel shader: nothing is written to its targets");
  if (pixels) {
    doubtsOfOutput(i, p, n, last, targets, written, lines, say, may);
    doubtsOfDepth(p, last, targets, written, lines, t, area, streamed ? may : say);
    doubtsOfFormats(p, n, targets, lines, say);
    doubtsOfTriangles(lines, t, p, area.several ? null : area.v, area.several ? null : area.r, streamed ? may : say);
  }
  doubtsOfBuffers(lines, last, groups, pipeline, work, say, may);
  doubtsOfVertices(lines, t, p, work, say, may);
  const view = n && targets ? targets.behind.find(l => l.role === "descriptor" && l.call && /RenderTarget/.test(l.call.method)) : null, over = view ? overwrittenBy(i, view, execution) : null;
  if (over !== null) say(`what it draws is ${/\.Clear/.test(call(over).text) ? "cleared again" : "overwritten"} behind it, by ${callLink(over)}`);
  if (view && isNeverResolved(i, view, lines)) may("its target has several samples, and no call resolves it, copies it or makes a view to read it");
}

// Sentences of what keeps pixels from being drawn, or makes them what nobody meant: {certain, may}.
function doubtsOf(i, lines, groups, call, pipeline) {
  const certain = [], maybe = [], result = {certain, maybe};
  if (!/^(Draw|Dispatch|ExecuteIndirect)/.test(call.method)) return result;
  const last = m => groups.filter(g => g.state.method === m).pop(), p = pipeline ? partsOf(pipeline.call.args) : {}, work = workOf(call, lines);
  const list = objects.get(selfOf(i)), made = list && list.born >= 0 && list.born < N ? window.call(list.born).text : "", of = role => lines.filter(l => l.role === role), bundle = /TYPE_BUNDLE/.test(made);
  const to = out => (text, g) => out.push(text + (g ? ` (${callLink(g.state.call)})` : "")), say = to(certain), may = to(maybe), written = new Map(of("resource").map(l => [l.object, l.written_by]));
  const COUNTS = ["VertexCountPerInstance", "IndexCountPerInstance", "InstanceCount", "ThreadGroupCountX", "ThreadGroupCountY", "ThreadGroupCountZ"];
  if (work.none) say("no command is executed: their number is 0");
  for (const k of COUNTS) if (work.args.length && work.args.every(a => a[k] === 0)) say(`${k} is 0: nothing is done`);
  if (!pipeline) say("no pipeline state is set");
  const predicate = last("SetPredication"), held = of("predicate")[0], where = predicate && predicate.state.args.pBuffer && `resource #${predicate.state.args.pBuffer.object} at byte ${predicate.state.args.AlignedBufferOffset}`;
  if (where && held && held.skips === true) say(`it is skipped: the predicate is in ${where}, and what is there says so`, predicate);
  else if (where && !(held && held.skips === false)) may(`it is done only where the predicate says so: ${where}`, predicate);
  const execution = bundle ? null : executedBy(i);
  if (execution === -1) say("its list is executed by no call behind it");
  if (bundle && !of("caller").length) return say("no list executes this bundle: what a caller sets is not known"), result;
  if (work.draws) doubtsOfDraw(i, lines, groups, pipeline, p, work, last, written, execution, say, may);
  doubtsOfBindings(lines, groups, last, work.draws, pipeline, written, work, made, execution !== -1, say, may);
  return result;
}
