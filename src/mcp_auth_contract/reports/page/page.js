"use strict";
(() => {
  const form = document.querySelector("form.filters");
  const clauses = [...document.querySelectorAll(".clause")];
  const said = document.getElementById("filtered");
  const has = (clause, name, value) => !value || (clause.dataset[name] || "").split("|").includes(value);
  const filter = () => {
    const wanted = Object.fromEntries(new FormData(form));
    const words = wanted.text.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const clause of clauses) {
      const told = words.length ? clause.textContent.toLowerCase() : "";
      const fits = ["outcome", "level", "impact", "family"].every((name) => has(clause, name, wanted[name]))
        && words.every((word) => told.includes(word));
      clause.hidden = !fits;
      shown += fits;
    }
    said.textContent = `${shown} of ${clauses.length} checks shown`;
  };
  if (form) {
    form.hidden = false;
    form.addEventListener("input", filter);
    form.addEventListener("reset", () => setTimeout(filter));
    form.addEventListener("submit", (event) => event.preventDefault());
    filter();
  }
  const target = () => {
    const found = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (found && found.tagName === "DETAILS") { found.hidden = false; found.open = true; found.scrollIntoView(); }
  };
  addEventListener("hashchange", target);
  target();
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details.loud:not([open])")];
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of opened) one.open = false; });
})();
