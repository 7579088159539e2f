// Decides when each part of the page asks the server again: soon after a job changes if the server tells by events,
// else at a steady pace. Nothing is asked while the page is hidden, or for a page that is not shown.
import { currentPage } from "./address.js";
import { access, follow } from "./server.js";

const pollingPace = 2000;
// Ages grow, and other things than jobs change.
const quietPace = 15000;
const parts = [];
let pace = pollingPace;

// Runs `refresh` at most every `interval` milliseconds, on some pages or on all.
export function part(interval, refresh, ...pages) {
  parts.push({ interval, refresh, pages, asked: -Infinity, isStale: true, isBusy: false });
}

export function refreshAll() {
  for (const part of parts) Object.assign(part, { asked: -Infinity, isStale: true });
  tick();
}

let onTrouble = () => {};
let trouble = null;
function tick() {
  if (document.hidden || !access.read) return;
  for (const part of parts) {
    if (part.pages.length && !part.pages.includes(currentPage())) continue;
    const wait = performance.now() - part.asked;
    if (part.isBusy || wait < part.interval || (!part.isStale && wait < pace)) continue;
    Object.assign(part, { asked: performance.now(), isStale: false, isBusy: true });
    part.refresh().then(() => { if (trouble?.part === part) report(null); }, (problem) => report({ part, problem }))
      .finally(() => { part.isBusy = false; });
  }
}

function report(next) {
  trouble = next;
  onTrouble(next?.problem ?? null);
}

let connection = null;
let onMode = () => {};
function listen() {
  connection?.abort();
  if (document.hidden || !access.read) return;
  const mine = connection = new AbortController();
  let delay = 1000;
  const attempt = async () => {
    let isSupported = true;
    try {
      await follow("events", mine.signal, () => {
        [pace, delay] = [quietPace, 1000];
        onMode("live");
        // What happened before the stream opened.
        for (const part of parts) part.isStale = true;
      }, () => { for (const part of parts) part.isStale = true; });
    } catch (problem) {
      isSupported = problem.status !== 404;
    }
    if (mine.signal.aborted) return;
    pace = pollingPace;
    onMode("polling");
    delay = Math.min(delay * 2, 30000);
    if (isSupported) setTimeout(() => { if (!mine.signal.aborted) attempt(); }, delay);
  };
  attempt();
}

// Begins, or begins again with another token.
export function start(showMode, showTrouble) {
  [onMode, onTrouble, trouble] = [showMode, showTrouble, null];
  refreshAll();
  listen();
}

setInterval(tick, 250);
document.addEventListener("visibilitychange", () => { refreshAll(); listen(); });
