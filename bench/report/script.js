"use strict";
// Folds, sorts and filters the lists of trials. The address holds the view (#filter=pcd&sort=-seconds&open=ID), so that a link
// into the report shows what its sender saw. Without this script every trial is open and nothing is missing.
document.documentElement.classList.add("js");

const view = { filter: "", sort: "", open: [] };

function readView() {
  const asked = new URLSearchParams(location.hash.slice(1));
  if (!["filter", "sort", "open"].some((name) => asked.has(name))) return false; // a plain anchor leaves the view as it is
  view.filter = asked.get("filter") || "";
  view.sort = asked.get("sort") || "";
  view.open = (asked.get("open") || "").split(",").filter(Boolean);
  return true;
}

function writeView() {
  const parts = [];
  if (view.filter) parts.push("filter=" + encodeURIComponent(view.filter));
  if (view.sort) parts.push("sort=" + encodeURIComponent(view.sort));
  if (view.open.length) parts.push("open=" + view.open.join(","));
  history.replaceState(null, "", "#" + parts.join("&"));
}

function isOpen(body) {
  return view.open.some((start) => body.dataset.id.startsWith(start));
}

function textOf(body, place) {
  const cell = body.rows[0].cells[place];
  return (cell.dataset.value ?? cell.textContent).toLowerCase();
}

// Quotes hold words together: label="pcd σ=1".
function wordsOf(text) {
  return (text.toLowerCase().match(/(?:[^\s"]|"[^"]*"?)+/g) || []).map((word) => word.replaceAll('"', "")).filter(Boolean);
}

// A word holds where it occurs in the line; key=value where that column says exactly this.
function fits(body, words, keys) {
  return words.every((word) => {
    const place = keys.indexOf(word.split("=")[0]);
    if (word.includes("=") && place >= 0) return textOf(body, place) === word.slice(word.indexOf("=") + 1);
    return body.rows[0].textContent.toLowerCase().includes(word);
  });
}

// What a trial lacks is neither low nor high: it comes last both ways.
function compare(a, b, direction) {
  if (a === "" || b === "") return (a === "") - (b === "");
  const difference = typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
  return direction * difference;
}

function valueOf(body, place) {
  const cell = body.rows[0].cells[place];
  if (cell.dataset.value === undefined) return cell.textContent;
  return cell.dataset.value === "" ? "" : Number(cell.dataset.value);
}

function sortTable(table, keys) {
  const descending = view.sort.startsWith("-");
  const place = keys.indexOf(descending ? view.sort.slice(1) : view.sort);
  [...table.tHead.rows[0].cells].forEach((head, i) => {
    if (i === place) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });
  const ordered = place < 0 ? table.original : table.original
    .map((body) => [body, valueOf(body, place)])
    .sort((a, b) => compare(a[1], b[1], descending ? -1 : 1))
    .map(([body]) => body);
  if (ordered.some((body, i) => body !== table.tBodies[i])) table.append(...ordered);
}

function showTable(table) {
  const keys = [...table.tHead.rows[0].cells].map((head) => head.dataset.key);
  const words = wordsOf(view.filter);
  sortTable(table, keys);
  let shown = 0;
  for (const body of table.tBodies) {
    body.hidden = !fits(body, words, keys);
    shown += !body.hidden;
    body.classList.toggle("open", isOpen(body));
    body.querySelector("button").setAttribute("aria-expanded", String(isOpen(body)));
  }
  const total = table.tBodies.length;
  const section = table.closest("section");
  section.querySelector("output").textContent = `${shown === total ? "" : `${shown} of `}${total} ${total === 1 ? "trial" : "trials"}`;
  const field = section.querySelector(".filter");
  if (field.value !== view.filter) field.value = view.filter;
}

function show() {
  document.querySelectorAll("table.trials").forEach(showTable);
}

function changed() {
  writeView();
  show();
}

function follow() {
  if (!readView()) return;
  show();
  const first = view.open.length && document.querySelector("tbody.open:not([hidden])");
  if (first) first.scrollIntoView({ block: "center" });
}

function sortBy(key) {
  view.sort = view.sort === key ? "-" + key : key;
  changed();
}

function fold(body) {
  view.open = isOpen(body) ? view.open.filter((start) => !body.dataset.id.startsWith(start)) : [...view.open, body.dataset.id];
  changed();
}

document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll("table.trials")) {
    table.original = [...table.tBodies];
    table.tHead.addEventListener("click", (event) => event.target.matches("button") && sortBy(event.target.parentElement.dataset.key));
    for (const body of table.tBodies) body.querySelector("button").addEventListener("click", () => fold(body));
  }
  document.querySelectorAll(".filter").forEach((field) => field.addEventListener("input", () => {
    view.filter = field.value;
    changed();
  }));
  show();
  follow();
});
window.addEventListener("hashchange", follow);
