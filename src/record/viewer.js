/* SPDX-License-Identifier: MIT */
// The page of a recording. What the page shows stands in blocks in front of this: a line a call (frame, microseconds, object, then thread and text),
// a line an object (number, type, made by, released by, name), a line a picture (file, base64).
const $ = id => document.getElementById(id);
const raw = id => $(id) ? $(id).textContent.replace(/\n$/, "") : "";
const unescaped = s => s.replace(/\\u003c/g, "<");
const escaped = s => s.replace(/[&<>]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;"}[c]));

const lines = raw("calls").split("\n"), N = lines[0] ? lines.length : 0;
const objects = new Map(), pictures = new Map();
for (const l of raw("objects").split("\n")) {
  const p = l.split("\t");
  if (l) objects.set(+p[0], {type: p[1], born: +p[2], died: +p[3], name: unescaped(p[4] || "")});
}
for (const l of raw("pictures").split("\n")) {
  const k = l.indexOf("\t");
  if (k > 0) pictures.set(l.slice(0, k), l.slice(k + 1));
}

// ---- calls

function call(i) {
  const l = lines[i], a = l.indexOf("\t"), b = l.indexOf("\t", a + 1), c = l.indexOf("\t", b + 1), s = l.indexOf(" ", c);
  return {frame: +l.slice(0, a), us: +l.slice(a + 1, b), self: +l.slice(b + 1, c), thread: +l.slice(c + 1, s),
          text: unescaped(l.slice(s + 1))};
}
function selfOf(i) {
  const l = lines[i], b = l.indexOf("\t", l.indexOf("\t") + 1);
  return parseInt(l.slice(b + 1, b + 12), 10);
}
const method = text => (/^(?:[^(]*?\.)?(\w+)\(/.exec(text) || ["", ""])[1];
const api = JSON.parse(raw("api")); // how methods and types of this API are told apart: expressions
for (const k of ["draw", "state", "write", "list", "frame", "begin", "end"]) api[k] = new RegExp(api[k]);
document.title = api.name + " recording";
$("name").textContent = api.name;
const isDraw = m => api.draw.test(m);
const setsState = m => api.state.test(m);
const isList = id => objects.has(id) && api.list.test(objects.get(id).type);

const frameOf = new Uint32Array(N), frames = []; // of each call; [frame, its first call]
for (let i = 0; i < N; i++) {
  frameOf[i] = parseInt(lines[i], 10);
  if (!i || frameOf[i] !== frameOf[i - 1]) frames.push([frameOf[i], i]);
}

// What is recorded into one list, up to its Close, is a group that can be folded away, with what stands between.
const groups = []; // {first, end, list, open}
const grouped = new Uint8Array(N);
const within = new Int32Array(N).fill(-1), depth = new Uint32Array(N); // the call that began the innermost part, by the program's own words, that a call is in
for (let i = 0, now = null, parts = new Map(); i < N; i++) {
  const self = selfOf(i), m = method(call(i).text), open = parts.get(self) || [];
  if (now && frameOf[i] !== frameOf[now.first]) now = null;
  if (api.end.test(m)) open.pop();
  if (open.length) {
    within[i] = open[open.length - 1];
    depth[i] = open.length;
  }
  if (api.begin.test(m)) {
    open.push(i);
    parts.set(self, open);
  }
  if (m === "Close") parts.delete(self);
  if (!isList(self)) continue;
  if (!now || now.list !== self) groups.push(now = {first: i, end: i, list: self, open: true});
  now.end = i + 1;
  if (m === "Close") now = null;
}
const saysOf = i => { const m = /\) ("(?:[^"\\]|\\.)*")$/.exec(call(i).text); return m ? JSON.parse(m[1]) : ""; };
function placeOf(i) { // the words of all that it is in, the outermost first
  const out = [];
  for (let k = within[i]; k >= 0; k = within[k]) out.push(k);
  return out.reverse();
}
for (const g of groups)
  if (g.end - g.first > 1) grouped.fill(1, g.first, g.end);

// ---- what is listed: rows are calls (a number >= 0) or groups (-1 - index)

let found = null; // calls that were searched for; null: all
let order = "call"; // what they are sorted by: numbers, or names of methods
let rows = new Int32Array(0), selected = -1;

function layOut() {
  if (found || order !== "call") {
    rows = found ? Int32Array.from(found) : Int32Array.from({length: N}, (_, i) => i);
    if (order === "call") return;
    const keys = new Map([...rows].map(i => [i, order === "method" ? method(call(i).text) : call(i)[order]]));
    rows.sort((a, b) => keys.get(a) < keys.get(b) ? -1 : keys.get(a) > keys.get(b) ? 1 : a - b);
    return;
  }
  const out = new Int32Array(N + groups.length);
  let n = 0, i = 0;
  groups.forEach((g, k) => {
    while (i < g.first) out[n++] = i++;
    if (g.end - g.first > 1) out[n++] = -1 - k;
    if (g.open || g.end - g.first === 1)
      while (i < g.end) out[n++] = i++;
    i = g.end;
  });
  while (i < N) out[n++] = i++;
  rows = out.slice(0, n);
}

function rowOf(i) { // by halving, where rows stand in the order of calls
  if (order !== "call") return rows.indexOf(i);
  const key = r => r >= 0 ? r : groups[-1 - r].first - 0.5;
  let lo = 0, hi = rows.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (key(rows[mid]) < i) lo = mid + 1; else hi = mid;
  }
  return lo;
}

const MAX_HEIGHT = 3e7; // of an element, in browsers
function virtualList(element, height, count, paint) {
  const pad = element.firstElementChild;
  function draw() {
    const total = count() * height, shown = Math.min(total, MAX_HEIGHT), scale = shown > element.clientHeight ?
      (total - element.clientHeight) / (shown - element.clientHeight) : 1;
    const top = element.scrollTop * scale, first = Math.max(0, Math.floor(top / height) - 2);
    let html = "";
    for (let k = first; k < Math.min(count(), first + Math.ceil(element.clientHeight / height) + 5); k++)
      html += paint(k, k * height - top + element.scrollTop);
    pad.style.height = shown + "px";
    pad.innerHTML = html;
  }
  element.addEventListener("scroll", draw);
  addEventListener("resize", draw);
  return {draw, to(k) {
    const total = count() * height, shown = Math.min(total, MAX_HEIGHT), scale = shown / Math.max(1, total);
    const top = k * height * scale;
    if (top < element.scrollTop || top > element.scrollTop + element.clientHeight - 2 * height)
      element.scrollTop = Math.max(0, top - element.clientHeight / 2);
    draw();
  }};
}

const callList = virtualList($("list"), 20, () => rows.length, (k, top) => {
  const r = rows[k];
  if (r < 0) {
    const g = groups[-1 - r], o = objects.get(g.list);
    return `<div class="row group" style="top:${top}px" data-g="${-1 - r}">` +
      `${g.open ? "▾" : "▸"} ${escaped(o.type)}#${g.list} ${escaped(o.name)} · ${g.end - g.first} calls</div>`;
  }
  const c = call(r), m = method(c.text), indent = !found && order === "call" && grouped[r] ? "    " + "  ".repeat(Math.min(20, depth[r])) : "", says = /\) "/.test(c.text) ? saysOf(r) : "";
  const text = escaped(c.text.slice(0, 400)).replace(m + "(", `<span class="${isDraw(m) ? "d" : "m"}">${m}</span>(`);
  return `<div class="row${r === selected ? " sel" : ""}" style="top:${top}px" data-i="${r}">` +
    `<span class="n">${String(r).padStart(7)} @${c.thread} </span>${indent}${says ? `<b>${escaped(says)}</b> ` : ""}${text}</div>`;
});

const picture = name => pictures.has(name) ? `<img src="data:image/png;base64,${pictures.get(name)}">` : "";
const framePicture = f => `frame-${String(f).padStart(6, "0")}.png`;
const thumbnails = frames.some(f => pictures.has(framePicture(f[0])));
const frameList = virtualList($("frames"), thumbnails ? 92 : 20, () => frames.length, (k, top) => {
  const [f, first] = frames[k], sel = selected >= 0 && frameOf[selected] === f;
  return `<div class="row${sel ? " sel" : ""}" style="top:${top}px" data-i="${first}">frame ${f}` +
    `${thumbnails ? picture(framePicture(f)) : ""}</div>`;
});

// ---- the side: a call, an object, all objects

const linked = s => escaped(s).replace(/(?:\b[A-Z]\w*)?#(\d+)/g,
  (m, id) => m.startsWith("event") ? m : `<a data-o="${id}">${m}</a>`);

// A call's text, a line a value.
function laidOut(text) {
  let out = "", depth = 0, quoted = false;
  const newLine = () => "\n" + "  ".repeat(depth);
  for (const c of text) {
    if (c === '"') quoted = !quoted;
    if (!quoted && "{[(".includes(c)) { depth++; out += c + newLine(); }
    else if (!quoted && "}])".includes(c)) { depth = Math.max(0, depth - 1); out += newLine() + c; }
    else if (!quoted && c === ",") out += c + newLine();
    else if (c !== " " || !/\n\s*$/.test(out)) out += c;
  }
  return out.replace(/([{[(])\s*([}\])])/g, "$1$2");
}

// What was set on the list when call `i` was recorded into it: the last of each kind since its Reset.
function stateAt(i) {
  const self = selfOf(i), set = new Map(), born = objects.has(self) ? objects.get(self).born : -1;
  let begun = false;
  for (let k = i - 1; k >= 0; k--) {
    if (selfOf(k) !== self) continue;
    const text = call(k).text, m = method(text);
    if (m === "Reset" || m === "ClearState") {
      begun = true;
      set.set("Reset", [k, text]);
      break;
    }
    if (!setsState(m)) continue;
    const slot = /\((?:RootParameterIndex|StartSlot)=(\d+)/.exec(text);
    const key = slot ? m.replace(/(Root)(32Bit.*|.*View|Descriptor.*)$/, "$1") + slot[1] : m;
    if (!set.has(key)) set.set(key, [k, text]);
  }
  if (!begun && born >= 0 && /InitialState=\w*#/.test(call(born).text)) set.set("Reset", [born, call(born).text]); // it was made open
  return [...set.values()].sort((a, b) => a[0] - b[0]);
}

const reference = (i, text) => `<div class="s"><a data-i="${i}">${i}</a> ${text}</div>`;

// What is done between a call that begins a part and the one that ends it.
function partSummary(i) {
  const self = selfOf(i), draws = [];
  let k = i + 1;
  for (; k < N && !(selfOf(k) === self && (within[k] === within[i] && depth[k] === depth[i])); k++)
    if (selfOf(k) === self && isDraw(method(call(k).text))) draws.push(k);
  const ms = typeof timeOf === "function" ? draws.reduce((n, d) => n + timeOf(d), 0) : 0; // the API's own script may know
  return `<p class="place">${draws.length} draws and the like${draws.length ? `, from <a data-i="${draws[0]}">${draws[0]}</a> to <a data-i="${draws[draws.length - 1]}">${draws[draws.length - 1]}</a>` : ""}` +
    `${ms ? `, ${ms.toFixed(3)} ms on the GPU` : ""}${k < N && api.end.test(method(call(k).text)) ? `; it ends with call <a data-i="${k}">${k}</a>` : "; it is not ended"}</p>`;
}

function showCall(i) {
  const c = call(i), m = method(c.text), last = api.frame.test(m) || !i || frameOf[i - 1] !== c.frame;
  const after = picture(`draw-${String(i).padStart(8, "0")}.png`), whole = last ? picture(framePicture(c.frame)) : "";
  let html = `<h2>call ${i} · frame ${c.frame} · thread ${c.thread} · ${(c.us / 1e3).toFixed(1)} ms</h2>` +
    (within[i] >= 0 ? `<p class="place">${placeOf(i).map(k => `<a data-i="${k}">${escaped(saysOf(k) || "call " + k)}</a>`).join(" › ")}</p>` : "") +
    `<pre>${linked(laidOut(c.text))}</pre>`;
  if (api.begin.test(m)) html += partSummary(i);
  if (after) html += `<h2>the render target after it</h2>${after.replace("<img", '<img class="target"')}`;
  if (whole) html += `<h2>the frame</h2>${whole}`;
  const inside = typeof insideOf === "function" ? insideOf(i) : null; // the API's own script may know more
  if (inside) html += `<h2>what it works on</h2>${inside.html}`;
  if (isDraw(m) || api.write.test(m))
    html += "<h2>state at this call</h2>" +
      stateAt(i).map(([k, t]) => reference(k, linked(t.replace(/^[^.]*\./, "")))).join("");
  selected = i;
  show(html);
  if (inside) inside.ready($("side"));
}

function hex(base64) {
  const s = atob(base64);
  let out = "";
  for (let at = 0; at < s.length; at += 8) {
    let bytes = "", text = "";
    for (const c of s.slice(at, at + 8)) {
      bytes += c.charCodeAt(0).toString(16).padStart(2, "0") + " ";
      text += c > "\x1f" && c < "\x7f" ? c : ".";
    }
    out += at.toString(16).padStart(6, "0") + "  " + bytes.padEnd(25) + text + "\n";
  }
  return out;
}

// What it holds: a picture for each mip and slice, of which channels can be looked at apart; or its first bytes.
function contents(id) {
  const o = objects.get(id), made = o && o.born >= 0 && o.born < N ? call(o.born).text : "", mips = +(/MipLevels=(\d+)/.exec(made) || [0, 1])[1] || 1;
  let html = "", shown = 0;
  for (let k = 0; k < 32; k++) {
    const p = picture(`res-${id}-${k}.png`), bytes = pictures.get(`res-${id}-${k}.bin`);
    if (p) {
      html += `<figure data-sub="${k}"${shown++ ? " hidden" : ""}>${p}<figcaption>subresource ${k}: mip ${k % mips}` +
        `${k >= mips || /DepthOrArraySize=([2-9]|1\d)/.test(made) ? `, slice ${Math.floor(k / mips)}` : ""}</figcaption></figure>`;
    } else if (bytes) html += `<h2>first bytes after the last played frame</h2><pre>${escaped(hex(bytes))}</pre>`;
  }
  if (!shown) return html;
  const subs = [...html.matchAll(/data-sub="(\d+)"/g)].map(m => +m[1]);
  return "<h2>after the last played frame</h2>" + '<div class="channels">' +
    ["RGB", "R", "G", "B", "A"].map((c, i) => `<button data-channel="${c}"${i ? "" : ' class="on"'}>${c}</button>`).join("") +
    (subs.length > 1 ? `<select data-subs title="mip and slice">${subs.map(k => `<option value="${k}">mip ${k % mips}${subs.length > mips || mips === 1 ? `, slice ${Math.floor(k / mips)}` : ""}`).join("")}</select>` : "") +
    "</div>" + html;
}

const mentions = id => new RegExp("#" + id + "(?!\\d)");

function showObject(id) {
  const o = objects.get(id), re = mentions(id), life = [], MOST = 400;
  let html = `<h2>object ${id}</h2>`;
  if (o) html += `<pre>${escaped(o.type)} ${escaped(o.name)}\nmade by call <a data-i="${o.born}">${o.born}</a>` +
    (o.died < 0 ? "\nnever released for good" : `\nreleased by call <a data-i="${o.died}">${o.died}</a>`) + "</pre>";
  html += contents(id);
  for (let i = 0; i < N && life.length <= MOST; i++)
    if (re.test(lines[i])) life.push(i);
  html += `<h2>${life.length > MOST ? `the first ${MOST}` : life.length} calls of its life` +
    ` (<a data-q="#${id}">list them</a>)</h2>`;
  show(html + tableOf(["call", "what"], life.slice(0, MOST).map(i =>
    [`<a data-i="${i}">${i}</a>`, escaped(call(i).text.slice(0, 160))])));
  address("object=" + id);
}

function tableOf(head, rows) {
  return `<div class="scroll"><table><thead><tr>${head.map(h => `<th class=l>${h}`).join("")}</thead><tbody>` +
    rows.map(r => `<tr>${r.map(c => `<td class=l>${c}`).join("")}`).join("") + "</tbody></table></div>";
}

const opened = new Map(); // sections that somebody opened or closed: so they stay
function show(html) {
  $("side").innerHTML = html;
  $("side").dataset.channel = "RGB";
  for (const d of $("side").querySelectorAll("details[id]")) {
    if (opened.has(d.id)) d.open = opened.get(d.id);
    d.querySelector("summary").addEventListener("click", () => {
      opened.set(d.id, !d.open);
      if (!d.open) address(`call=${selected}&part=${d.id}`);
    });
  }
  $("side").querySelectorAll("table").forEach(sortable);
  $("side").scrollTop = 0;
}

function showObjects() {
  const made = i => i < 0 ? "-" : `<a data-i="${i}">${i}</a>`;
  show(`<h2>${objects.size} objects</h2>` + tableOf(["object", "type", "name", "made by", "released by"],
    [...objects].map(([id, o]) => [`<a data-o="${id}">#${id}</a>`, escaped(o.type), escaped(o.name), made(o.born), made(o.died)])));
}

// ---- what the user does

// The page's address opens what is seen: #call=75, #call=75&part=constants, #object=7, #view=queues.
const address = what => history.replaceState(null, "", "#" + what);
const plain = s => { try { return decodeURIComponent(s); } catch { return s; } };
function route() {
  const [, what, value, part] = /^#(call|object|view)=([^&]+)(?:&part=([\w-]+))?$/.exec(location.hash) || [];
  const view = what === "view" && typeof views === "object" ? plain(value) : "";
  if (what === "object" && objects.has(+value)) showObject(+value);
  else if (view && views[view]) openView(views[view], view);
  else if (N) go(what === "call" && /^\d+$/.test(value) && +value < N ? +value : 0);
  const d = part && document.getElementById(part);
  if (!d) return;
  d.open = true;
  d.scrollIntoView();
  address(`call=${selected}&part=${part}`);
}
addEventListener("hashchange", route);

function go(i) {
  const g = groups.find(g => g.first <= i && i < g.end);
  if (found && !found.includes(i)) search("");
  if (g && !g.open) {
    g.open = true;
    layOut();
  }
  showCall(i);
  callList.to(rowOf(i));
  frameList.to(frames.findIndex(f => f[0] === frameOf[i]));
  address("call=" + i);
}

function search(q) {
  const id = /^#(\d+)$/.exec(q), re = id && mentions(id[1]), low = q.toLowerCase();
  if ($("q").value.trim() !== q) $("q").value = q;
  found = q ? [] : null;
  for (let i = 0; q && i < N; i++)
    if (q === "draw" ? isDraw(method(call(i).text)) : re ? re.test(lines[i]) : lines[i].toLowerCase().includes(low))
      found.push(i);
  $("count").textContent = (found ? found.length : N).toLocaleString() + " calls";
  layOut();
  $("list").scrollTop = 0;
  callList.draw();
}

function step(by) {
  let k = rowOf(selected);
  do k += by; while (k >= 0 && k < rows.length && rows[k] < 0);
  if (k >= 0 && k < rows.length) go(rows[k]);
}

$("side").addEventListener("change", e => {
  if (e.target.matches("[data-subs]"))
    for (const f of $("side").querySelectorAll("figure")) f.hidden = f.dataset.sub !== e.target.value;
});
let timer;
$("q").addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(() => search($("q").value.trim()), 150);
});
$("index").addEventListener("click", showObjects);
function openView(view, name) {
  const v = view();
  show(v.html);
  v.ready($("side"));
  if (name) address("view=" + encodeURIComponent(name));
}
if (typeof views === "object") // of the API's own script: name to what makes it
  for (const [name, view] of Object.entries(views)) {
    const b = document.createElement("button");
    b.textContent = name;
    b.addEventListener("click", () => openView(view, name));
    $("index").after(b);
  }
$("order").addEventListener("change", () => {
  order = $("order").value;
  layOut();
  $("list").scrollTop = 0;
  callList.draw();
});
$("fold").addEventListener("click", () => {
  const open = !groups.some(g => g.open);
  for (const g of groups) g.open = open;
  $("fold").textContent = open ? "fold" : "unfold";
  layOut();
  callList.draw();
});
document.addEventListener("click", e => {
  const a = e.target.closest("[data-i],[data-o],[data-g],[data-q],[data-channel]");
  if (!a) return;
  if (a.dataset.channel) {
    for (const b of a.parentNode.querySelectorAll("[data-channel]")) b.classList.toggle("on", b === a);
    $("side").dataset.channel = a.dataset.channel;
    return;
  }
  if (a.dataset.o) showObject(+a.dataset.o);
  else if (a.dataset.q) search(a.dataset.q);
  else if (a.dataset.i) go(+a.dataset.i);
  else {
    groups[a.dataset.g].open = !groups[a.dataset.g].open;
    layOut();
    callList.draw();
  }
});
// What is asked for next: the next or last call (by a row), draw, or frame.
function nextDraw(by) {
  for (let i = selected + by; i >= 0 && i < N; i += by)
    if (isDraw(method(call(i).text))) return go(i);
}
function nextFrame(by) {
  const k = frames.findIndex(f => f[0] === frameOf[selected]) + by;
  if (frames[k]) go(frames[k][1]);
}

function copyAddress() {
  const done = () => {
    $("copy").textContent = "copied";
    setTimeout(() => $("copy").textContent = "copy address", 1200);
  };
  const byHand = () => prompt("the address of what is shown", location.href); // pages of files may not always write to the clipboard
  if (navigator.clipboard) navigator.clipboard.writeText(location.href).then(done, byHand);
  else byHand();
}
$("copy").addEventListener("click", copyAddress);

const keys = {j: ["the next call", () => step(1)], k: ["the one before", () => step(-1)], n: ["the next draw", () => nextDraw(1)],
  p: ["the draw before", () => nextDraw(-1)], "]": ["the next frame", () => nextFrame(1)], "[": ["the frame before", () => nextFrame(-1)],
  o: ["all objects", showObjects], f: ["fold or unfold lists", () => $("fold").click()], c: ["copy the address of what is shown", copyAddress],
  "/": ["search", () => $("q").focus()], Escape: ["all calls again", () => search("")], "?": ["these keys", showKeys]};
keys.ArrowDown = keys.j;
keys.ArrowUp = keys.k;
function showKeys() {
  show("<h2>keys</h2>" + tableOf(["key", "what"], Object.entries(keys).map(([k, [what]]) => [`<kbd>${escaped(k)}</kbd>`, what])));
}
$("keys").addEventListener("click", showKeys);
document.addEventListener("keydown", e => {
  if (e.key === "Escape") $("q").blur();
  else if (e.target === $("q") || e.target.tagName === "SELECT") return;
  if (e.ctrlKey || e.metaKey || e.altKey || !Object.hasOwn(keys, e.key)) return;
  keys[e.key][1]();
  e.preventDefault();
});

try {
  $("about").textContent = (JSON.parse(unescaped(raw("meta"))).command || []).join(" ").split("/").pop();
} catch (e) { /* a recording without a description */ }
search("");
route();
frameList.draw();
document.documentElement.dataset.openMs = Math.round(performance.now());
document.title = "ready: " + N + " calls";
