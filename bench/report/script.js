"use strict";
// Lists of trials: unpacks them, sorts, filters and shows them page by page, and unpacks a trial's details when it is
// opened. The address stores the view (#filter=pcd&sort=-seconds&open=ID), so a link into the report restores it.
// Also the colour scheme, and loading the page again while a sweep runs.
const PAGE = 50, METRICS = 4; // trials on a page, and columns of metrics
const root = document.documentElement;
root.classList.add("js");

const view = { filter: "", sort: "", open: [] };
const lists = [];

// A page in a file may have no storage; the page then works without it.
function recall(store, key) {
  try { return window[store].getItem(key) || ""; } catch { return ""; }
}

function remember(store, key, value) {
  try { window[store].setItem(key, value); } catch { /* nothing is remembered */ }
}

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

function create(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

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

function isOpen(id) {
  return view.open.some((start) => id.startsWith(start));
}

// Quotes keep words together: label="pcd σ=1".
function splitWords(text) {
  return (text.toLowerCase().match(/(?:[^\s"]|"[^"]*"?)+/g) || []).map((word) => word.replaceAll('"', "")).filter(Boolean);
}

// Missing values come last in both directions.
function compare(a, b, direction) {
  const missing = (value) => value === null || value === "";
  if (missing(a) || missing(b)) return missing(a) - missing(b);
  return direction * (typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true }));
}

class TrialList {
  constructor(box, data) {
    this.box = box;
    this.ids = data.ids;
    this.columns = [{ key: "id", header: "id", texts: data.ids, values: null }, ...data.columns];
    this.places = new Map((data.details || data.ids.map((_, trial) => trial)).map((trial, place) => [trial, place]));
    this.size = data.piece;
    this.pieces = [...box.querySelectorAll("script.piece")];
    this.unpacked = new Map();
    this.lines = null;
    this.order = this.ids.map((_, trial) => trial);
    this.shown = this.order;
    this.page = 0;
    this.table = box.querySelector("table.trials");
    this.pager = box.querySelector(".pager");
    this.buildHead();
    box.querySelector(".previous").addEventListener("click", () => this.turn(-1));
    box.querySelector(".next").addEventListener("click", () => this.turn(1));
  }

  buildHead() {
    const cells = this.columns.map((column) => {
      const button = create("button", { type: "button" }, column.header);
      button.addEventListener("click", () => sortBy(column.key));
      const style = "column-" + column.key + (column.values ? " number" : "");
      return create("th", { scope: "col", "data-key": column.key, class: style }, button);
    });
    this.table.append(create("thead", {}, create("tr", {}, ...cells)));
  }

  // The line in lower case, for words that may stand anywhere in it.
  line(trial) {
    this.lines ||= this.ids.map((_, i) => this.columns.map((column) => column.texts[i]).join("\n").toLowerCase());
    return this.lines[trial];
  }

  // What a word of the search means: a test of a trial.
  compile(word) {
    const [, key, sign, wanted] = word.match(/^([^=<>]+)([=<>])(.*)$/s) || [];
    const column = this.columns.find((each) => each.key === key);
    if (!column) return (trial) => this.line(trial).includes(word);
    const { texts, values } = column;
    if (sign === "=") return (trial) => String(values ? values[trial] ?? "" : texts[trial]).toLowerCase() === wanted || (values !== null && wanted !== "" && values[trial] === Number(wanted));
    const limit = Number(wanted), direction = sign === ">" ? 1 : -1;
    if (!values || wanted === "" || Number.isNaN(limit)) return () => false;
    return (trial) => values[trial] !== null && direction * (values[trial] - limit) > 0;
  }

  arrange() {
    const tests = splitWords(view.filter).map((word) => this.compile(word));
    this.shown = this.order.filter((trial) => tests.every((test) => test(trial)));
    const descending = view.sort.startsWith("-");
    const key = descending ? view.sort.slice(1) : view.sort;
    const column = this.columns.find((each) => each.key === key);
    for (const head of this.table.tHead.rows[0].cells) {
      if (head.dataset.key === key) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    if (column) {
      const values = column.values || column.texts;
      this.shown.sort((a, b) => compare(values[a], values[b], descending ? -1 : 1) || a - b);
    }
    this.chooseMetrics();
  }

  // The columns of metrics that most of the listed trials have; those of the search and the order always.
  chooseMetrics() {
    const asked = view.filter + " " + view.sort;
    const metrics = this.columns.filter((column) => column.metric);
    const counts = new Map(metrics.map((column) =>
      [column, asked.includes(column.key) ? Infinity : this.shown.reduce((sum, trial) => sum + (column.values[trial] !== null), 0)]));
    const chosen = [...metrics].sort((a, b) => counts.get(b) - counts.get(a) || 0).slice(0, METRICS);
    this.hidden = this.columns.map((column) => Boolean(column.metric) && !chosen.includes(column));
  }

  show() {
    this.arrange();
    this.draw();
  }

  // Turn to the page of the first open trial.
  findOpen() {
    const place = this.shown.findIndex((trial) => isOpen(this.ids[trial]));
    if (place >= 0) this.page = Math.floor(place / PAGE);
    return place >= 0;
  }

  turn(pages) {
    this.page += pages;
    this.draw();
    this.box.scrollIntoView({ block: "start" });
  }

  draw() {
    const { box, shown, table } = this;
    this.page = Math.max(0, Math.min(this.page, Math.ceil(shown.length / PAGE) - 1));
    const first = this.page * PAGE, part = shown.slice(first, first + PAGE);
    const focused = document.activeElement?.closest?.("tbody[data-id]")?.dataset.id;
    const kept = new Map([...table.tBodies].map((body) => [body.dataset.id, body]));
    const bodies = part.map((trial) => kept.get(this.ids[trial]) || this.buildBody(trial));
    [...table.tBodies].forEach((body) => bodies.includes(body) || body.remove());
    if (bodies.some((body, i) => body !== table.tBodies[i])) table.append(...bodies);
    bodies.forEach((body, i) => this.fold(body, part[i]));
    for (const row of [table.tHead.rows[0], ...bodies.map((body) => body.rows[0])]) {
      [...row.cells].forEach((cell, i) => { cell.hidden = this.hidden[i]; });
    }
    if (focused) document.querySelector(`tbody[data-id="${focused}"] button`)?.focus();
    const all = this.ids.length, count = (n) => n.toLocaleString("en");
    box.querySelector("output").textContent =
      `${shown.length === all ? "" : `${count(shown.length)} of `}${count(all)} ${all === 1 ? "trial" : "trials"}`;
    const field = box.querySelector(".filter");
    if (field.value !== view.filter) field.value = view.filter;
    this.pager.hidden = shown.length <= PAGE;
    this.pager.querySelector(".range").textContent = `${count(first + 1)} to ${count(first + part.length)} of ${count(shown.length)}`;
    this.pager.querySelector(".previous").disabled = first === 0;
    this.pager.querySelector(".next").disabled = first + PAGE >= shown.length;
  }

  buildBody(trial) {
    const id = this.ids[trial];
    const button = create("button", { type: "button", "aria-expanded": "false", title: id }, id.slice(0, 8));
    button.addEventListener("click", () => toggle(id));
    const outcome = this.columns.find((column) => column.key === "outcome").texts[trial];
    const cells = this.columns.slice(1).map((column) =>
      create("td", { class: `${column.key} column-${column.key}${column.values ? " number" : ""}` }, column.texts[trial]));
    return create("tbody", { id: "trial-" + id, "data-id": id, class: "outcome-" + outcome },
      create("tr", {}, create("th", { scope: "row" }, button), ...cells));
  }

  fold(body, trial) {
    const id = this.ids[trial], open = isOpen(id);
    body.classList.toggle("open", open);
    const button = body.querySelector("button");
    button.setAttribute("aria-expanded", String(open));
    if (!open) {
      body.querySelector(".detail")?.remove();
      button.removeAttribute("aria-controls");
    } else if (!body.querySelector(".detail")) {
      const box = create("div", { class: "detail-box" }, "…");
      body.append(create("tr", { class: "detail", id: "detail-" + id }, create("td", { colspan: this.columns.length }, box)));
      button.setAttribute("aria-controls", "detail-" + id);
      this.readDetail(trial).then((html) => {
        if (html === null) box.replaceChildren("Its details are not on this page: ", create("code", {}, "vera show " + id.slice(0, 8)));
        else box.innerHTML = html; // rendered and escaped with the page; the policy runs no script in it
      });
    }
  }

  async readDetail(trial) {
    const place = this.places.get(trial);
    if (place === undefined) return null;
    const piece = Math.floor(place / this.size);
    if (!this.unpacked.has(piece)) this.unpacked.set(piece, unpack(this.pieces[piece].textContent));
    return (await this.unpacked.get(piece))[place % this.size];
  }
}

function show() {
  lists.forEach((list) => list.show());
}

function update() {
  writeView();
  show();
}

// Show what the address asks for, and scroll to the open trial, else to the list that a link named.
function followAddress(named) {
  if (!readView()) return;
  lists.forEach((list) => list.arrange());
  const found = view.open.length ? lists.filter((list) => list.findOpen()) : [];
  show();
  const target = found.length ? found[0].table.querySelector("tbody.open") : named;
  if (target) target.scrollIntoView({ block: found.length ? "center" : "start" });
}

function sortBy(key) {
  view.sort = view.sort === key ? "-" + key : key;
  lists.forEach((list) => { list.page = 0; });
  update();
}

function toggle(id) {
  view.open = isOpen(id) ? view.open.filter((start) => !id.startsWith(start)) : [...view.open, id];
  update();
}

// The button turns from the reader's own scheme to light, dark and back.
function applyTheme(theme) {
  if (theme) root.dataset.theme = theme;
  else delete root.dataset.theme;
  const button = document.querySelector("#theme");
  if (button) button.textContent = "Theme: " + (theme || "auto");
}

function turnTheme() {
  const themes = ["", "light", "dark"];
  const theme = themes[(themes.indexOf(root.dataset.theme || "") + 1) % themes.length];
  remember("localStorage", "vera-theme", theme);
  applyTheme(theme);
}

// Load the page again after a while, unless the reader is typing, has selected text, or looks elsewhere.
function keepFresh(seconds) {
  setInterval(() => {
    if (document.hidden || document.activeElement?.matches("input") || String(getSelection())) return;
    remember("sessionStorage", "vera-place", JSON.stringify({ y: scrollY, pages: lists.map((list) => list.page) }));
    location.reload();
  }, 1000 * seconds);
}

function restorePlace() {
  const place = JSON.parse(recall("sessionStorage", "vera-place") || "null");
  if (!place) return;
  remember("sessionStorage", "vera-place", "");
  lists.forEach((list, i) => { list.page = place.pages[i] || 0; });
  show();
  scrollTo(0, place.y);
}

applyTheme(recall("localStorage", "vera-theme"));

document.addEventListener("DOMContentLoaded", async () => {
  const button = document.querySelector("#theme");
  button.hidden = false;
  button.addEventListener("click", turnTheme);
  applyTheme(root.dataset.theme || "");
  if (root.dataset.refresh) keepFresh(Number(root.dataset.refresh));
  for (const box of document.querySelectorAll(".list")) {
    lists.push(new TrialList(box, await unpack(box.querySelector("script.table").textContent)));
  }
  document.querySelectorAll(".filter").forEach((field) => field.addEventListener("input", () => {
    view.filter = field.value;
    lists.forEach((list) => { list.page = 0; });
    update();
  }));
  let named = null;
  document.querySelectorAll("a[data-list]").forEach((link) => link.addEventListener("click", () => {
    named = document.querySelector(`.list[data-profile="${link.dataset.list}"]`);
  }));
  window.addEventListener("hashchange", () => {
    followAddress(named);
    named = null;
  });
  show();
  followAddress(null);
  restorePlace();
  root.classList.add("ready");
});
