// Addresses: #pictures?batch=album is a page; #job/7 and #picture/ID lie over the page that was open before.
import { $, link, quiet, show } from "./elements.js";
import { number } from "./format.js";

const titles = {
  overview: "Overview", pictures: "Pictures", jobs: "Jobs", batches: "Batches", queues: "Queues", workers: "Workers",
  failures: "Failures",
};
export const pageNames = Object.keys(titles);

// What to do when a page or something over one is shown: functions of the rest of the address, and of its query.
const pages = { batch: { title: (name) => name } };
const overlays = {};
for (const name of pageNames) pages[name] = { title: () => titles[name] };
export const onPage = (name, enter) => { pages[name].enter = enter; };
export const onOverlay = (name, under, open, close) => { overlays[name] = { under, open, close }; };

let current = { page: "", address: "" };
let over = null;
// Whether going back closes what lies over the page.
let isOpenedHere = false;
const scrolled = new Map();
export const currentPage = () => current.page;

// The first part of an address, what follows its slash, and its query.
function parsed(address) {
  const [path, query] = address.split("?");
  const slash = path.indexOf("/");
  const [name, rest] = slash < 0 ? [path, ""] : [path.slice(0, slash), path.slice(slash + 1)];
  let decoded = rest;
  try { decoded = decodeURIComponent(rest); } catch { /* As it is. */ }
  return { name, rest: decoded, query: new URLSearchParams(query) };
}

export function followAddress(event) {
  const address = location.hash.slice(1);
  const { name, rest, query } = parsed(address);
  const overlay = overlays[name];
  if (over && over.overlay !== overlay) over.overlay.close();
  if (!overlay) {
    over = null;
    return showPage(address, name in pages ? name : "overview", rest, query);
  }
  if (!over) isOpenedHere = Boolean(event?.oldURL);
  if (!current.page) showPage(overlay.under, overlay.under, "", new URLSearchParams());
  over = { overlay };
  overlay.open(rest);
}

// Closing what lies over a page goes back to where it was opened.
export function leaveOverlay() {
  if (!over) return;
  over = null;
  if (isOpenedHere) history.back();
  else history.replaceState(null, "", `#${current.address}`);
}

// Without a step in the history.
export function replaceAddress(address) {
  history.replaceState(null, "", address);
  followAddress();
}

function showPage(address, page, rest, query) {
  if (address === current.address && !$(`${page}-page`).hidden) return;
  scrolled.set(current.address, scrollY);
  current = { page, rest, address };
  for (const section of document.querySelectorAll("section.page")) section.hidden = section.id !== `${page}-page`;
  for (const one of $("nav").children) {
    const isCurrent = one.dataset.key === (page === "batch" ? "batches" : page);
    if (isCurrent) one.ariaCurrent = "page"; else one.ariaCurrent = null;
  }
  $("nav").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  nameTab();
  pages[page].enter?.(rest, query);
  onChange();
  scrollTo(0, scrolled.get(address) ?? 0);
}

let onChange = () => {};
export const onPageChange = (act) => { onChange = act; };

let counts = {};
// Counts beside the names of pages, and in the tab's title what is left to do.
export function showCounts(next) {
  counts = next;
  nameTab();
  show($("nav"), pageNames.map((name) => {
    const made = link(`#${name}`, titles[name], { key: name });
    if (name === (current.page === "batch" ? "batches" : current.page)) made.ariaCurrent = "page";
    if (counts[name]) made.append(quiet(` ${number(counts[name])}`));
    return made;
  }));
}

function nameTab() {
  const title = current.page ? pages[current.page].title(current.rest) : "";
  document.title = [counts.left ? `(${number(counts.left)}) ${title}` : title, "Cameo"].filter(Boolean).join(" · ");
}

history.scrollRestoration = "manual";
