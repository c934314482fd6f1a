"use strict";
// Collapses, sorts and filters the lists of trials. The address stores the view (#filter=pcd&sort=-seconds&open=ID), so a
// link into the report restores it. Without JavaScript every trial is expanded and nothing is missing.
document.documentElement.classList.add("js");

const view = { filter: "", sort: "", open: [] };

function readView() {
  const fields = new URLSearchParams(location.hash.slice(1));
  if (!["filter", "sort", "open"].some((name) => fields.has(name))) return false; // a plain anchor keeps the view
  view.filter = fields.get("filter") || "";
  view.sort = fields.get("sort") || "";
  view.open = (fields.get("open") || "").split(",").filter(Boolean);
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

function readText(body, place) {
  const cell = body.rows[0].cells[place];
  return (cell.dataset.value ?? cell.textContent).toLowerCase();
}

// Quotes keep words together: label="pcd σ=1".
function splitWords(text) {
  return (text.toLowerCase().match(/(?:[^\s"]|"[^"]*"?)+/g) || []).map((word) => word.replaceAll('"', "")).filter(Boolean);
}

// A word matches if it occurs in the line; key=value matches a column exactly.
function matches(body, words, keys) {
  return words.every((word) => {
    const place = keys.indexOf(word.split("=")[0]);
    if (word.includes("=") && place >= 0) return readText(body, place) === word.slice(word.indexOf("=") + 1);
    return body.rows[0].textContent.toLowerCase().includes(word);
  });
}

// Missing values come last in both directions.
function compare(a, b, direction) {
  if (a === "" || b === "") return (a === "") - (b === "");
  const difference = typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
  return direction * difference;
}

function readValue(body, place) {
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
    .map((body) => [body, readValue(body, place)])
    .sort((a, b) => compare(a[1], b[1], descending ? -1 : 1))
    .map(([body]) => body);
  if (ordered.some((body, i) => body !== table.tBodies[i])) table.append(...ordered);
}

function showTable(table) {
  const keys = [...table.tHead.rows[0].cells].map((head) => head.dataset.key);
  const words = splitWords(view.filter);
  sortTable(table, keys);
  let shown = 0;
  for (const body of table.tBodies) {
    body.hidden = !matches(body, words, keys);
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

function update() {
  writeView();
  show();
}

function followAddress() {
  if (!readView()) return;
  show();
  const first = view.open.length && document.querySelector("tbody.open:not([hidden])");
  if (first) first.scrollIntoView({ block: "center" });
}

function sortBy(key) {
  view.sort = view.sort === key ? "-" + key : key;
  update();
}

function toggle(body) {
  view.open = isOpen(body) ? view.open.filter((start) => !body.dataset.id.startsWith(start)) : [...view.open, body.dataset.id];
  update();
}

document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll("table.trials")) {
    table.original = [...table.tBodies];
    table.tHead.addEventListener("click", (event) => event.target.matches("button") && sortBy(event.target.parentElement.dataset.key));
    for (const body of table.tBodies) body.querySelector("button").addEventListener("click", () => toggle(body));
  }
  document.querySelectorAll(".filter").forEach((field) => field.addEventListener("input", () => {
    view.filter = field.value;
    update();
  }));
  show();
  followAddress();
});
window.addEventListener("hashchange", followAddress);
