import { COPY_SCRIPT, scriptOf, sourceOf } from "../pages/copy-button.ts";

/** After the shared rules: a wide page with a table of contents beside it, or above it on a phone. */
export const DOCS_STYLES = `
html{scroll-behavior:smooth}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
.top,main{max-width:78rem}
.docs{display:grid;grid-template-columns:minmax(0,1fr);gap:2.5rem;padding-bottom:4rem}
@media (min-width:60rem){.docs{grid-template-columns:17rem minmax(0,1fr)}
nav{position:sticky;top:0;max-height:100vh;overflow-y:auto;padding:1rem 1rem 2rem 6px}}
nav h2{font-size:.8rem;letter-spacing:.06em;text-transform:uppercase;color:var(--muted);margin:1.25rem 0 .25rem}
nav ul{list-style:none;margin:0;padding:0}
nav a{display:flex;gap:.5rem;align-items:baseline;padding:.2rem .4rem;border-radius:6px;color:var(--text);text-decoration:none;font-size:.875rem}
nav a:hover{background:var(--card)}
nav label{font-size:.875rem}
nav summary{cursor:pointer;font-weight:600;font-size:.875rem;padding:.5rem 0;margin-top:.5rem}
@media (max-width:59.99rem){nav ul{columns:11rem 3;column-gap:.75rem}nav a{font-size:.8125rem;overflow-wrap:anywhere}nav li{break-inside:avoid}}
article{min-width:0}
section>h2{font-size:1.35rem;margin:2.5rem 0 .25rem}
h3{font-size:.95rem;margin:1.25rem 0 .4rem}
.method{font:600 .7rem/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;text-transform:uppercase;color:var(--accent);flex:none;
min-width:3.7em;display:inline-block}
.method.post{color:var(--good)}.method.delete{color:var(--bad)}
.operation{background:var(--card);border:1px solid var(--line);border-radius:12px;margin:.6rem 0;padding:0 1.1rem}
.operation[open]{padding-bottom:1.1rem}
.operation summary{cursor:pointer;padding:.75rem 0;display:flex;flex-wrap:wrap;gap:.15rem .6rem;align-items:baseline;list-style:none}
.operation summary::-webkit-details-marker{display:none}
.operation:target{border-color:var(--accent)}
.path{background:none;padding:0;font-weight:600}
.about{color:var(--muted)}
table{width:100%;border-collapse:collapse;font-size:.9375rem}
th,td{text-align:left;vertical-align:top;padding:.5rem .75rem .5rem 0;border-top:1px solid var(--line);font-weight:400}
th{width:15rem}
td p{margin:.15rem 0 0}
.type{color:var(--muted);font-size:.875rem}
.limits{color:var(--muted);font-size:.875rem}
.mark{color:var(--muted);font-size:.75rem;font-style:italic}
.status{color:var(--good)}
.depth-1 th{padding-left:1.25rem}.depth-2 th{padding-left:2.5rem}.depth-3 th{padding-left:3.75rem}
@media (max-width:40rem){tr,th,td{display:block;width:auto;padding-right:0}td{border:0;padding-top:0}th{padding-bottom:.1rem}
.depth-1 td{padding-left:1.25rem}.depth-2 td{padding-left:2.5rem}.depth-3 td{padding-left:3.75rem}}
[hidden]{display:none!important}
`;

const SCRIPT = `
"use strict";
const search = document.getElementById("search");
const nothing = document.getElementById("nothing");
const operations = [...document.querySelectorAll(".operation")];
const links = [...document.querySelectorAll("nav li")];
search.parentElement.hidden = false;
// Beside the page the list is not in the way. Above it, it would be.
const contents = document.getElementById("contents");
const wide = matchMedia("(min-width:60rem)");
const unfold = () => (contents.open = wide.matches);
wide.addEventListener("change", unfold);
unfold();
function filter() {
  const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const shown = new Set();
  for (const operation of operations) {
    const isShown = words.every((word) => operation.dataset.words.includes(word));
    operation.hidden = !isShown;
    if (isShown) shown.add(operation.id);
  }
  for (const link of links) link.hidden = !shown.has(link.dataset.for);
  for (const group of document.querySelectorAll(".group")) {
    group.hidden = words.length > 0 && ![...group.querySelectorAll("li, .operation")].some((part) => !part.hidden);
  }
  nothing.hidden = shown.size > 0;
}
search.addEventListener("input", filter);
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target === search) return;
  event.preventDefault();
  search.focus();
});
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!(target instanceof HTMLDetailsElement)) return;
  target.hidden = false;
  target.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", openTarget);
document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#"]');
  if (link !== null && link.hash === location.hash) openTarget();
});
${COPY_SCRIPT}openTarget();
`;

/** Search over all words, copying, and opening what the address points at. The page is whole without it. */
export const DOCS_SCRIPT = scriptOf(SCRIPT);

export const DOCS_SCRIPT_SOURCE = sourceOf(SCRIPT);
