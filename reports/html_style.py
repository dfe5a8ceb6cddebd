"""Looks and behaviour of the pages: the one style sheet and the one script."""

from typing import Final

STYLE: Final = """
:root { color-scheme: light dark; --page: #fff; --text: #1c2024; --faint: #5d666f; --line: #d5dae0;
  --head: #f1f3f5; --more: #1f6fb2; --less: #c05a00; --warn: #fff3d6; }
@media (prefers-color-scheme: dark) { :root { --page: #14171a; --text: #e4e7ea; --faint: #9aa4ae;
  --line: #353c43; --head: #20252a; --more: #6cb2ee; --less: #f0a050; --warn: #3a2f10; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem 1.5rem; background: var(--page); color: var(--text);
  font: 14px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; display: inline; }
header p { color: var(--faint); margin: .2rem 0 1rem; overflow-wrap: anywhere; }
a { color: var(--more); margin-right: .8rem; white-space: nowrap; display: inline-block; }
details { border-top: 1px solid var(--line); padding: .7rem 0; }
summary { cursor: pointer; }
p { max-width: 60rem; overflow-wrap: anywhere; }
p.warning { background: var(--warn); padding: .5rem .8rem; border-left: 4px solid var(--less); }
.table { overflow: auto; max-height: 75vh; margin: .6rem 0; }
table { width: max-content; border-collapse: collapse;
  font-variant-numeric: tabular-nums; }
th, td { border: 1px solid var(--line); padding: .15rem .5rem; text-align: left;
  vertical-align: top; max-width: 38rem; overflow-wrap: anywhere; }
th { background: var(--head); position: sticky; top: 0; }
th button { all: unset; cursor: pointer; font-weight: 600; }
th button:focus-visible { outline: 2px solid var(--more); }
th[aria-sort=ascending] button::after { content: " \\25B2"; }
th[aria-sort=descending] button::after { content: " \\25BC"; }
.n { text-align: right; white-space: nowrap; }
figure { margin: .6rem 0; overflow: auto; }
figcaption { font-weight: 600; margin-bottom: .3rem; }
svg text { fill: var(--text); font-size: 12px; }
rect.more { fill: var(--more); }
rect.less { fill: var(--less); }
input { margin-top: .6rem; padding: .2rem .4rem; font: inherit; min-width: 18rem; }
@media print { nav, input { display: none; } .table { max-height: none; } }
"""

SCRIPT: Final = """
"use strict";
function sortBy(table, index, head) {
  const down = head.getAttribute("aria-sort") !== "descending" && head.classList.contains("n") ||
    head.getAttribute("aria-sort") === "ascending";
  const key = row => { const cell = row.cells[index];
    return head.classList.contains("n") ? ("v" in cell.dataset ? +cell.dataset.v : null)
      : (cell.textContent || null); };
  const rows = [...table.tBodies[0].rows].map(row => [key(row), row]);
  rows.sort(([a], [b]) => a === b ? 0 : a === null ? 1 : b === null ? -1 :
    (a < b ? -1 : 1) * (down ? -1 : 1));
  table.tBodies[0].append(...rows.map(pair => pair[1]));
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
}
for (const table of document.querySelectorAll("table")) {
  [...table.tHead.rows[0].cells].forEach((head, index) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    button.addEventListener("click", () => sortBy(table, index, head));
    head.append(button);
  });
  if (table.tBodies[0].rows.length < 8) continue;
  const box = document.createElement("input");
  box.type = "search";
  box.placeholder = "Show rows with\\u2026";
  box.setAttribute("aria-label", "Show rows with this text");
  box.addEventListener("input", () => {
    const wanted = box.value.toLowerCase();
    for (const row of table.tBodies[0].rows)
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
  table.parentNode.before(box);
}
for (const link of document.querySelectorAll("nav a"))
  link.addEventListener("click", () => { document.querySelector(link.hash).open = true; });
"""
