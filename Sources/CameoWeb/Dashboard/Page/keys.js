// Keys: moving between pages and along lists.
import { pageNames } from "./address.js";
import { $, element, show } from "./elements.js";

const keys = [
  ["/", "search"], ["j", "next entry"], ["k", "previous entry"], ["Enter", "open the entry"],
  [`1 – ${pageNames.length}`, "go to a page"], ["← →", "previous and next picture"], ["Esc", "close"],
  ["?", "these keys"],
];

// The link of each entry of the list that is shown.
const entries = () => [...document.querySelectorAll("section.page:not([hidden]) li[data-key]")]
  .map((entry) => entry.querySelector("a[href]")).filter(Boolean);

function move(step) {
  const all = entries();
  const at = all.findIndex((one) => one.closest("li").contains(document.activeElement));
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1)];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

function search() {
  const field = document.querySelector("section.page:not([hidden]) input[type=search]");
  if (field) { field.focus(); field.select(); return; }
  location.hash = "#jobs";
  addEventListener("hashchange", () => $("filter-source").focus(), { once: true });
}

function showKeys() {
  show($("key-list"), keys.map(([key, meaning]) => element("div", {},
    element("dt", {}, element("kbd", { textContent: key })), element("dd", { textContent: meaning }))));
  $("keys").showModal();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !$("sign-in-page").hidden) return;
  if (event.target.closest("input, select, textarea") || document.querySelector("dialog[open]")) return;
  const act = {
    "/": search, j: () => move(1), k: () => move(-1), "?": showKeys,
  }[event.key] ?? (pageNames[event.key - 1] && (() => { location.hash = `#${pageNames[event.key - 1]}`; }));
  if (!act) return;
  event.preventDefault();
  act();
});
$("help").addEventListener("click", showKeys);
$("keys-close").addEventListener("click", () => $("keys").close());
