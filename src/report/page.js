/* SPDX-License-Identifier: MIT */
// What every page can do: switch between light and dark, sort and filter its tables, zoom its time lines.
"use strict";
(() => {
  // ---- light and dark
  const root = document.documentElement, button = document.getElementById("theme");
  button.hidden = false;
  button.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch (e) { /* not kept */ }
  });

  // ---- tables: numbers by their size, whatever their unit; what is no number after them, by letters
  const UNITS = {ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9, min: 6e10, KiB: 1024, MiB: 1048576, GiB: 1073741824};
  const NUMBER = /^(?:CPU |#|×)?\s*([-+]?(?:0x[0-9a-f]+|[\d,]*\.?\d+(?:e[-+]?\d+)?))\s*(ns|us|µs|ms|s|min|KiB|MiB|GiB)?(?![\w.])/i;
  function keyOf(row, column) {
    const cell = row.cells[column], text = cell ? cell.textContent.trim() : "", m = NUMBER.exec(text);
    if (!m) return [/^(|-|\?|·|n\/a)$/.test(text) ? 2 : 1, 0, text];
    return [0, Number(m[1].replace(/,/g, "")) * (UNITS[m[2]] || 1), text];
  }
  function sortBy(table, th) {
    const body = table.tBodies[0], column = th.cellIndex, first = th.classList.contains("l") ? "ascending" : "descending";
    const now = th.getAttribute("aria-sort"), other = first === "ascending" ? "descending" : "ascending";
    const way = now === "none" ? first : now === first ? other : first, sign = way === "ascending" ? 1 : -1;
    for (const h of th.parentNode.cells) h.setAttribute("aria-sort", "none");
    th.setAttribute("aria-sort", way);
    [...body.rows].map(row => [keyOf(row, column), row]).sort(([a], [b]) =>
      a[0] !== b[0] ? a[0] - b[0] : sign * (a[0] ? a[2].localeCompare(b[2]) : a[1] - b[1])).forEach(([, row]) => body.append(row));
  }
  function sortable(table) {
    if (!table.tHead || table.tBodies[0].rows.length < 2) return;
    for (const th of table.tHead.rows[0].cells) {
      if (!th.textContent.trim()) continue;
      th.setAttribute("aria-sort", "none");
      th.tabIndex = 0;
      th.addEventListener("click", () => sortBy(table, th));
      th.addEventListener("keydown", e => { if (e.key === "Enter") sortBy(table, th); });
    }
    if (table.tBodies[0].rows.length < 25) return;
    const filter = document.createElement("input");
    filter.className = "filter";
    filter.placeholder = `filter ${table.tBodies[0].rows.length} rows`;
    filter.addEventListener("input", () => {
      const words = filter.value.toLowerCase();
      for (const row of table.tBodies[0].rows) row.hidden = !row.textContent.toLowerCase().includes(words);
    });
    table.parentNode.before(filter);
  }
  window.sortable = sortable; // for tables that a page makes later
  document.querySelectorAll("table").forEach(sortable);

  // ---- time lines: what is seen is [from, to), parts of the whole between 0 and 1
  const ALL = 100000; // units of the drawing over the whole time
  function tickOf(span) {
    let t = Math.pow(10, Math.floor(Math.log10(span / 6)));
    return t * 5 <= span / 5 ? t * 5 : t * 2 <= span / 5 ? t * 2 : t;
  }
  function timeText(ns, step) {
    const [unit, size] = step >= 1e8 ? ["s", 1e9] : step >= 1e5 ? ["ms", 1e6] : step >= 100 ? ["us", 1e3] : ["ns", 1];
    const digits = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
    return `${(ns / size).toFixed(Math.min(3, digits))} ${unit}`;
  }
  for (const line of document.querySelectorAll(".timeline")) {
    const plot = line.querySelector(".plot"), svg = plot.querySelector("svg"), axis = plot.querySelector(".axis");
    const base = Number(line.dataset.base), whole = Number(line.dataset.span), height = svg.viewBox.baseVal.height;
    const now = document.createElement("span"), hint = document.createElement("div");
    let from = 0, to = 1;
    now.className = "now";
    now.hidden = true;
    plot.append(now);
    hint.className = "hint";
    hint.textContent = "wheel: zoom · drag: move · double click: all of it";
    line.append(hint);
    const at = part => (part - from) / (to - from);
    function draw() {
      svg.setAttribute("viewBox", `${from * ALL} 0 ${(to - from) * ALL} ${height}`);
      plot.classList.toggle("zoomed", to - from < 1);
      for (const e of plot.querySelectorAll("[data-t]")) {
        const a = at(e.dataset.t / ALL), b = e.dataset.u ? at(e.dataset.u / ALL) : a;
        e.hidden = b < 0 || a > 1;
        e.style.left = 100 * Math.max(a, 0) + "%";
        if (e.dataset.u) e.style.width = 100 * (Math.min(b, 1) - Math.max(a, 0)) + "%";
      }
      const step = tickOf((to - from) * whole);
      let html = "";
      for (let t = Math.ceil((base + from * whole) / step - 1e-9) * step; t <= base + to * whole + step * 1e-6; t += step)
        html += `<span style="left:${100 * at((t - base) / whole)}%">${timeText(t, step)}</span>`;
      axis.innerHTML = html;
    }
    function zoom(middle, factor) {
      const width = Math.min(1, Math.max((to - from) * factor, 1e-5)), place = at(middle);
      from = Math.min(Math.max(0, middle - place * width), 1 - width);
      to = from + width;
      draw();
    }
    const partOf = e => {
      const box = svg.getBoundingClientRect();
      return from + (to - from) * Math.min(1, Math.max(0, (e.clientX - box.left) / box.width));
    };
    plot.addEventListener("wheel", e => {
      if (e.deltaY > 0 && to - from >= 1) return; // nothing left to zoom out of: the page scrolls
      e.preventDefault();
      zoom(partOf(e), Math.pow(1.0016, e.deltaY * (e.deltaMode ? 30 : 1)));
    }, {passive: false});
    plot.addEventListener("dblclick", () => {
      [from, to] = [0, 1];
      draw();
    });
    plot.addEventListener("pointermove", e => {
      const part = partOf(e);
      if (e.buttons & 1 && to - from < 1) {
        const width = to - from;
        from = Math.min(Math.max(0, from - e.movementX / svg.clientWidth * width), 1 - width);
        to = from + width;
        draw();
      }
      now.hidden = false;
      now.className = at(part) > .7 ? "now left" : "now";
      now.style.left = 100 * at(part) + "%";
      now.textContent = timeText(base + part * whole, (to - from) * whole / 400);
    });
    plot.addEventListener("pointerleave", () => { now.hidden = true; });
    draw();
  }
})();
