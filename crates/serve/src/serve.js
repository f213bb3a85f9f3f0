"use strict";
// Pages work without this. It follows changes, and shows the next page in place of the old one.
(() => {
  // Replaces what matches by what the server has there now, or all of it where only one of the two has such a part.
  // Its script runs if this page had no chart until now.
  const load = async (address, ...parts) => {
    const answer = await fetch(address);
    if (answer.status >= 500) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const both = (part) => [document, page].map((of) => of.querySelector(part));
    const found = parts.map(both);
    for (const [old, now] of found.every(([old, now]) => old && now) ? found : [both("main")]) {
      const open = [...old.querySelectorAll("details")].map((one) => one.open);
      now.querySelectorAll("details").forEach((one, place) => { one.open = open[place] ?? one.open; });
      old.replaceWith(document.adoptNode(now));
    }
    const script = page.querySelector("body > script");
    if (!script || document.querySelector("body > script")) return;
    const made = document.createElement("script");
    made.textContent = script.textContent;
    document.body.append(made);
  };
  const LIST = ["#count", ".bundles tbody"];
  // The latest wish is carried out, one at a time.
  const latest = (wish) => {
    let runs = false, again = null;
    return async (...args) => {
      again = args;
      if (runs) return;
      runs = true;
      try { while (again) { const now = again; again = null; await wish(...now); } } catch { /* the next one may work */ }
      runs = false;
    };
  };

  const live = document.querySelector("#live");
  if (live) {
    const refresh = latest(async () => {
      const chosen = [...document.querySelectorAll(".pick input:checked")];
      await load(location.href, ...(document.querySelector(".search") ? LIST : ["main"]));
      for (const one of chosen) {
        const now = [...document.querySelectorAll(".pick input")].find((other) => other.name === one.name && other.value === one.value);
        if (now) now.checked = true;
      }
      live.textContent = "live · changed " + new Date().toLocaleTimeString();
    });
    const stream = new EventSource("/events");
    stream.onopen = () => { live.textContent = "live"; };
    stream.onerror = () => { live.textContent = "not connected"; };
    stream.addEventListener("changed", (event) => {
      const names = JSON.parse(event.data);
      const own = live.dataset.live;
      if (own.endsWith(".partial") && names.includes(own.slice(0, -".partial".length))) {
        location.href = "/bundles/" + encodeURIComponent(own.slice(0, -".partial".length));
      } else if (!own || !names.length || names.includes(own)) {
        refresh();
      }
    });
  }

  const find = latest(async (text) => {
    const address = text ? "/?q=" + encodeURIComponent(text) : "/";
    history.replaceState(null, "", address);
    await load(address, ...LIST);
  });
  document.addEventListener("input", (event) => { if (event.target.matches(".search input")) find(event.target.value); });

  const form = document.querySelector("[data-replaces]");
  if (form) {
    const predict = latest(async () => {
      const address = form.getAttribute("action") + "?" + new URLSearchParams(new FormData(form));
      history.replaceState(null, "", address);
      await load(address, form.dataset.replaces);
    });
    form.addEventListener("input", (event) => {
      const shown = form.querySelector(`output[for="${event.target.id}"]`);
      if (shown) shown.value = event.target.value;
      predict();
    });
  }
})();
