"use strict";
// Pages work without this. It follows changes, and shows the next page in place of the old one.
(() => {
  // Replaces what matches by what the server has there now. Scripts in it do not run.
  const load = async (address, what) => {
    const answer = await fetch(address);
    if (answer.status >= 500) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const [old, now] = [document, page].map((of) => of.querySelector(what));
    if (!old || !now) return;
    const open = [...old.querySelectorAll("details")].map((one) => one.open);
    now.querySelectorAll("details").forEach((one, place) => { one.open = open[place] ?? one.open; });
    old.replaceWith(document.adoptNode(now));
  };
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
      await load(location.href, "main");
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

  const search = document.querySelector(".search input");
  if (search) {
    const find = latest(async () => {
      const address = search.value ? "/?q=" + encodeURIComponent(search.value) : "/";
      history.replaceState(null, "", address);
      const focus = search.selectionStart;
      const answer = await fetch(address);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const what of ["#count", ".bundles tbody"]) {
        const [old, now] = [document, page].map((of) => of.querySelector(what));
        if (old && now) old.replaceWith(document.adoptNode(now));
      }
      search.setSelectionRange(focus, focus);
    });
    document.addEventListener("input", (event) => { if (event.target.matches(".search input")) find(); });
  }

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
