"use strict";
// Traffic over time: the value at the pointer, zoom in time, members switched off. Without it the page is whole, too.
// It has no less-than sign and listens at the document, so that it may stand in a page, and sections may be replaced.
(() => {
  const CHARTS = "svg[data-time]", MAPS = "svg[data-loads]", NEAR = 6;
  const known = new WeakMap();
  const clamp = (value, least, most) => Math.max(least, Math.min(most, value));
  const make = (svg, tag, name) => {
    const made = document.createElementNS(svg.namespaceURI, tag);
    made.setAttribute("class", name);
    svg.append(made);
    return made;
  };
  const number = (element, name) => Number(element.getAttribute(name));

  // The steps of a lane, from the outline that is drawn.
  const steps = (outline) => {
    const all = [];
    let at = 0, y = 0;
    for (const part of outline.match(/[MVH][^MVHZ]*/g) ?? []) {
      const value = parseFloat(part.slice(1));
      if (part[0] === "M") at = value;
      else if (part[0] === "V") y = value;
      else { all.push({ from: at, to: value, y }); at = value; }
    }
    return all;
  };

  const chart = (svg) => {
    if (known.has(svg)) return known.get(svg);
    const [from, to] = svg.dataset.time.split(" ").map(Number);
    const [left, right] = svg.dataset.span.split(" ").map(Number);
    const ms = (x) => from + (x - left) / (right - left) * (to - from);
    const lanes = [...svg.querySelectorAll("g[data-kbps]")].map((lane) => {
      const path = lane.querySelector("path"), values = lane.dataset.kbps.split(" ").map(Number);
      const timed = (step, place) => ({ from: ms(step.from), to: ms(step.to), y: step.y, bps: values[place] * 1000 });
      const base = number(lane.querySelector(".base"), "y1");
      return { lane, path, base, name: lane.querySelector(".dev"), steps: steps(path.getAttribute("d")).map(timed) };
    });
    const shades = [...svg.querySelectorAll("rect.warm, rect.stall")].map((shade) => {
      const x = number(shade, "x");
      return { shade, from: ms(x), to: ms(x + number(shade, "width")) };
    });
    const events = [...svg.querySelectorAll("g.event")].map((event) => {
      const x = number(event.querySelector("line"), "x1");
      return { event, x, at: ms(x) };
    });
    const ticks = [...svg.querySelectorAll(":scope > text")];
    const made = { svg, from, to, left, right, lanes, shades, events, ticks, drawn: [], window: [from, to], at: from };
    known.set(svg, made);
    return made;
  };
  const place = (of, ms) => of.left + clamp((ms - of.window[0]) / (of.window[1] - of.window[0]), 0, 1) * (of.right - of.left);
  const time = (of, x) => of.window[0] + clamp((x - of.left) / (of.right - of.left), 0, 1) * (of.window[1] - of.window[0]);

  const draw = (of) => {
    const [from, to] = of.window, whole = from === of.from && to === of.to;
    const x = (ms) => Number(place(of, ms).toFixed(1));
    for (const lane of of.lanes) {
      const seen = lane.steps.filter((step) => step.to > from && to > step.from);
      const outline = seen.map((step) => `V${step.y}H${x(step.to)}`).join("");
      lane.path.setAttribute("d", seen.length ? `M${x(seen[0].from)} ${lane.base}${outline}V${lane.base}Z` : "");
    }
    for (const one of of.shades) {
      one.shade.setAttribute("x", x(one.from));
      one.shade.setAttribute("width", Math.max(0, place(of, one.to) - place(of, one.from)).toFixed(1));
    }
    for (const one of of.events) {
      one.event.style.display = one.at >= from && to >= one.at ? "" : "none";
      one.event.setAttribute("transform", `translate(${(place(of, one.at) - one.x).toFixed(1)})`);
    }
    of.drawn.splice(0).forEach((tick) => tick.remove());
    of.ticks.forEach((tick) => { tick.style.display = whole ? "" : "none"; });
    if (whole || !of.ticks.length) return;
    const span = (to - from) / 1000, rough = span / 5, ten = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((times) => times * ten).find((size) => size >= rough);
    for (let tick = Math.ceil(from / 1000 / step); to / 1000 >= tick * step; tick += 1) {
      const text = of.ticks[0].cloneNode();
      text.style.display = "";
      text.setAttribute("x", x(tick * step * 1000));
      text.textContent = Number((tick * step).toPrecision(6)) + (of.drawn.length ? "" : " s");
      of.svg.append(text);
      of.drawn.push(text);
    }
  };
  // All panels of a run have the same time.
  const zoom = (svg, window) => {
    for (const other of svg.closest(".traffic").querySelectorAll(CHARTS)) {
      const of = chart(other);
      const [from, to] = window ?? [of.from, of.to];
      of.window = [clamp(from, of.from, of.to), clamp(to, of.from, of.to)];
      draw(of);
    }
  };

  const shown = (bps) => {
    const unit = [[1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"]].find(([size]) => bps >= size) ?? [1, "bit/s"];
    return `${(bps / unit[0]).toFixed(bps >= 1e6 ? 1 : 0)} ${unit[1]}`;
  };
  let readout = null, line = null;
  const hide = () => { readout?.remove(); line?.remove(); readout = line = null; };
  const tell = (text) => {
    if (!readout) {
      readout = document.createElement("div");
      readout.className = "readout";
      readout.setAttribute("role", "status");
      document.body.append(readout);
    }
    readout.textContent = text;
  };
  // Beside and above a place of a picture.
  const put = (svg, x, y) => {
    const box = svg.getBoundingClientRect(), size = box.width / svg.viewBox.baseVal.width;
    readout.style.left = `${clamp(box.left + x * size + 12, 4, Math.max(4, innerWidth - readout.offsetWidth - 4))}px`;
    readout.style.top = `${clamp(box.top + y * size - readout.offsetHeight - 4, 4, innerHeight)}px`;
  };
  const show = (of, ms) => {
    of.at = clamp(ms, ...of.window);
    if (line?.ownerSVGElement !== of.svg) { line?.remove(); line = make(of.svg, "line", "at"); }
    const x = place(of, of.at), bottom = Math.max(0, ...of.lanes.map((lane) => lane.base));
    for (const [name, value] of [["x1", x], ["x2", x], ["y1", 0], ["y2", bottom]]) line.setAttribute(name, value);
    const values = of.lanes.filter((lane) => !lane.lane.classList.contains("off")).map((lane) => {
      const step = lane.steps.find((one) => of.at >= one.from && one.to > of.at) ?? lane.steps.at(-1);
      return `${lane.name.textContent}  ${step ? shown(step.bps) : "–"}`;
    });
    tell([`${(of.at / 1000).toFixed(2)} s`, ...values].join("\n"));
    put(of.svg, x, 0);
  };

  const x = (svg, event) => {
    const box = svg.getBoundingClientRect();
    return (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
  };
  let drag = null;
  const ended = () => { drag?.area?.remove(); drag = null; };
  document.addEventListener("pointerdown", (event) => {
    const svg = event.target.closest?.(CHARTS);
    if (svg && event.button === 0 && !event.target.closest(".dev")) drag = { svg, from: x(svg, event), area: null };
  });
  // A heat map: the load of the member and moment below the pointer, and where that is by keys.
  const maps = new WeakMap();
  const heat = (svg) => {
    if (maps.has(svg)) return maps.get(svg);
    const rows = svg.dataset.loads.split("\n").map((row) => {
      const [y, runs, ...name] = row.split("|");
      const loads = runs.split(" ").flatMap((run) => {
        const [load, count] = run.split("x").map(Number);
        return Array(count || 1).fill(load);
      });
      return { name: name.join("|"), y: Number(y), loads };
    });
    const [[left, right], [from, to]] = [svg.dataset.span, svg.dataset.ends].map((two) => two.split(" ").map(Number));
    const made = { svg, rows, left, right, from, to, height: Number(svg.dataset.row), row: 0, column: 0 };
    maps.set(svg, made);
    return made;
  };
  const point = (of) => {
    const row = of.rows[of.row], load = row.loads[of.column], width = (of.right - of.left) / row.loads.length;
    const seconds = (of.from + (of.column + 0.5) / row.loads.length * (of.to - of.from)) / 1000;
    if (line?.ownerSVGElement !== of.svg) { line?.remove(); line = make(of.svg, "rect", "cell"); }
    const sizes = [["x", of.left + of.column * width], ["y", row.y], ["width", width], ["height", of.height]];
    for (const [name, value] of sizes) line.setAttribute(name, value);
    tell(`${seconds.toFixed(2)} s\n${row.name}  ${(load / 10).toFixed(1)} % of its link`);
    put(of.svg, of.left + (of.column + 0.5) * width, row.y);
  };
  const pointed = (svg, event) => {
    const of = heat(svg), box = svg.getBoundingClientRect();
    const y = (event.clientY - box.top) / box.height * svg.viewBox.baseVal.height;
    const row = of.rows.findIndex((one) => y >= one.y && one.y + of.height > y);
    const part = (x(svg, event) - of.left) / (of.right - of.left);
    if (row === -1 || 0 > part || part >= 1) return hide();
    [of.row, of.column] = [row, Math.floor(part * of.rows[row].loads.length)];
    point(of);
  };

  document.addEventListener("pointermove", (event) => {
    const map = drag ? null : event.target.closest?.(MAPS);
    if (map) return pointed(map, event);
    const svg = drag?.svg ?? event.target.closest?.(CHARTS);
    if (!svg) return hide();
    const of = chart(svg), at = clamp(x(svg, event), of.left, of.right);
    show(of, time(of, at));
    if (!drag || NEAR > Math.abs(at - drag.from)) return;
    drag.area ??= make(svg, "rect", "area");
    const from = clamp(drag.from, of.left, of.right);
    const sizes = [["x", Math.min(from, at)], ["y", 0], ["width", Math.abs(at - from)], ["height", number(line, "y2")]];
    for (const [name, value] of sizes) drag.area.setAttribute(name, value);
  });
  document.addEventListener("pointerup", (event) => {
    if (drag?.area) {
      const of = chart(drag.svg);
      const ends = [drag.from, x(drag.svg, event)].map((at) => time(of, at)).sort((one, other) => one - other);
      if (ends[1] - ends[0] >= 1) zoom(drag.svg, ends);
    }
    ended();
  });
  document.addEventListener("pointercancel", ended);
  document.addEventListener("dblclick", (event) => {
    const svg = event.target.closest?.(CHARTS);
    if (svg && !event.target.closest(".dev")) zoom(svg, null);
  });

  // A member's name switches it off and on, in both directions of its host.
  const toggle = (name) => {
    let cell = name.closest(".traffic > div");
    while (cell && !cell.matches(".who")) cell = cell.previousElementSibling;
    for (cell = cell?.nextElementSibling; cell && !cell.matches(".who"); cell = cell.nextElementSibling) {
      for (const other of cell.querySelectorAll("g[data-kbps] .dev")) {
        if (other.textContent !== name.textContent) continue;
        const off = other.closest("g").classList.toggle("off");
        other.setAttribute("aria-pressed", String(!off));
      }
    }
  };
  document.addEventListener("click", (event) => {
    const name = event.target.closest?.("g[data-kbps] .dev");
    if (name) toggle(name);
  });
  const walk = (event) => {
    const of = heat(event.target), row = of.rows[of.row];
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    if (event.key === "Escape") return hide();
    if (!steps[event.key]) return;
    event.preventDefault();
    of.row = clamp(of.row + steps[event.key][0], 0, of.rows.length - 1);
    of.column = clamp(of.column + steps[event.key][1], 0, row.loads.length - 1);
    point(of);
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches?.("g[data-kbps] .dev")) {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      return toggle(event.target);
    }
    if (event.target.matches?.(MAPS)) return walk(event);
    if (!event.target.matches?.(CHARTS)) return;
    const of = chart(event.target), span = of.window[1] - of.window[0];
    const around = (size) => zoom(of.svg, [of.at - size / 2, of.at + size / 2]);
    const keys = {
      ArrowLeft: () => show(of, of.at - span / 60), ArrowRight: () => show(of, of.at + span / 60),
      Home: () => show(of, of.window[0]), End: () => show(of, of.window[1]),
      "+": () => around(Math.max(span / 2, 2)), "-": () => around(span * 2),
      0: () => zoom(of.svg, null), Escape: () => { zoom(of.svg, null); hide(); },
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
    if (event.key !== "Escape") show(of, of.at);
  });
  document.addEventListener("focusout", (event) => { if (event.target.matches?.(`${CHARTS}, ${MAPS}`)) hide(); });

  // What can be reached by keyboard, and a line that says what there is.
  const prepare = () => {
    const explain = (svg, text) => {
      const traffic = svg.closest(".traffic");
      if (traffic.nextElementSibling?.matches(".keys")) return;
      const keys = document.createElement("p");
      keys.className = "quiet keys";
      keys.textContent = text;
      traffic.after(keys);
    };
    for (const svg of document.querySelectorAll(`${CHARTS}:not([tabindex])`)) {
      svg.setAttribute("tabindex", "0");
      svg.setAttribute("role", "group");
      for (const name of svg.querySelectorAll("g[data-kbps] .dev")) {
        for (const [key, value] of [["tabindex", "0"], ["role", "button"], ["aria-pressed", "true"]]) name.setAttribute(key, value);
      }
      explain(svg, "Pointer or ← →: values. Drag, or + and −: zoom; double click or 0: everything. A member’s name switches it off.");
    }
    for (const svg of document.querySelectorAll(`${MAPS}:not([tabindex])`)) {
      svg.setAttribute("tabindex", "0");
      svg.setAttribute("role", "group");
      explain(svg, "Pointer or arrow keys: the load of one link at one moment.");
    }
  };
  prepare();
  new MutationObserver(prepare).observe(document.body, { childList: true });
})();
