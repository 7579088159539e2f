"use strict";

// External text only ever becomes a text node or a property, never markup.
const $ = (id) => document.getElementById(id);
const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

const stateNames = ["scheduled", "available", "running", "retryable", "completed", "discarded", "cancelled"];
const interval = 2000;
const token = () => sessionStorage.getItem("cameo-token") ?? "";

async function ask(path, options = {}) {
  const headers = { ...options.headers };
  if (token()) headers.Authorization = `Bearer ${token()}`;
  const response = await fetch(path, { ...options, headers, cache: "no-store" });
  const body = await response.json();
  if (!response.ok) {
    const problem = new Error(body.detail ?? response.statusText);
    problem.status = response.status;
    throw problem;
  }
  return body;
}

function tell(problem) {
  $("trouble").hidden = !problem;
  $("trouble").textContent = problem ? problem.message : "";
}

const number = (value) => value.toLocaleString("en");

function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) { value /= 1024; unit += 1; }
  return `${unit ? value.toFixed(1) : value} ${units[unit]}`;
}

function time(seconds) {
  if (seconds === undefined || seconds === null) return "–";
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}

const age = (date) => time((Date.now() - Date.parse(date)) / 1000);
const nameOf = (source) => {
  const blob = source.match(/^cameo:\/\/blob\/sha256-([0-9a-f]{8})/);
  if (blob) return `upload ${blob[1]}`;
  const last = source.replace(/[?#].*$/, "").split("/").filter(Boolean).pop() ?? source;
  try { return decodeURIComponent(last); } catch { return last; }
};
const row = (...cells) => element("tr", {}, ...cells.map((cell) => element("td", {}, cell)));

function showStatus(report) {
  $("states").replaceChildren(...stateNames.map((state) =>
    element("div", {}, element("dt", { textContent: state }), element("dd", { textContent: number(report.jobs[state]) }))));
  const { completed, discarded } = report.finishedLastMinute;
  const rate = (completed + discarded) / 60;
  const waiting = report.jobs.available + report.jobs.running + report.jobs.retryable;
  const left = waiting && rate ? `; at this rate the backlog clears in ${time(waiting / rate)}` : "";
  $("pace").textContent = `Last minute: ${number(completed)} completed, ${number(discarded)} discarded${left}.`;
  $("queues").tBodies[0].replaceChildren(...report.queues.map((queue) => row(
    queue.paused ? `${queue.name} (paused)` : queue.name,
    number(queue.jobs.available + queue.jobs.retryable + queue.jobs.scheduled), number(queue.jobs.running),
    time(queue.oldestWaitingSeconds), number(queue.jobs.completed), number(queue.jobs.discarded))));
  $("workers").tBodies[0].replaceChildren(...report.workers.map((worker) => row(
    `${worker.host}, process ${worker.pid}`,
    worker.isAlive ? (worker.stopping ? "stopping" : "alive") : "dead",
    `${worker.running} of ${worker.concurrency}`, age(worker.startedAt))));
  $("sizes").textContent = `${number(report.thumbnails)} thumbnails; ${number(report.blobs.count)} blobs, `
    + `${bytes(report.blobs.bytes)}; ${number(report.sources.count)} cached originals, ${bytes(report.sources.bytes)}.`;
  const alive = report.workers.some((worker) => worker.isAlive && !worker.stopping);
  $("health").textContent = alive ? "working" : "no worker is alive";
  $("health").className = alive ? "badge good" : "badge bad";
}

function picture(thumbnail, source) {
  const image = element("img", { alt: `Thumbnail of ${nameOf(source)}`, loading: "lazy", src: thumbnail.url });
  if (thumbnail.placeholderURL && !thumbnail.hasAlpha) {
    image.style.backgroundImage = `url("${encodeURI(thumbnail.placeholderURL)}")`;
  }
  return image;
}

// Pictures that remain in the list are not redrawn.
const shown = new Map();
function showRecent(jobs) {
  const items = [];
  for (const job of jobs) {
    const thumbnail = job.thumbnails.find((one) => one.blob);
    if (!thumbnail) continue;
    const key = `${job.id} ${thumbnail.blob}`;
    if (!shown.has(key)) {
      const link = element("a", { href: thumbnail.blobURL }, picture(thumbnail, job.request.source));
      const size = `${thumbnail.width} × ${thumbnail.height} ${thumbnail.format}, ${bytes(thumbnail.bytes)}`;
      shown.set(key, element("li", {}, link, element("p", { textContent: nameOf(job.request.source) }),
        element("p", { className: "quiet", textContent: size })));
    }
    items.push([key, shown.get(key)]);
  }
  const keys = new Set(items.map(([key]) => key));
  for (const key of shown.keys()) if (!keys.has(key)) shown.delete(key);
  const list = $("recent");
  if ([...list.children].some((child, index) => child !== items[index]?.[1]) || list.children.length !== items.length) {
    list.replaceChildren(...items.map(([, item]) => item));
  }
  $("no-recent").hidden = items.length > 0;
}

function showFailures({ codes }) {
  $("failures").hidden = codes.length === 0;
  $("no-failures").hidden = codes.length > 0;
  // Do not replace a button that has the focus.
  if ($("failures").contains(document.activeElement)) return;
  $("failures").tBodies[0].replaceChildren(...codes.map(({ code, count, example }) => {
    let retry = "";
    if (access.operate) {
      retry = element("button", { type: "button", textContent: `Retry job ${example.id}` });
      retry.addEventListener("click", async () => {
        retry.blur();
        try {
          await ask(`jobs/${example.id}/retry`, { method: "POST" });
          await look();
        } catch (problem) { tell(problem); }
      });
    }
    return row(code, number(count), `job ${example.id}, ${nameOf(example.request.source)}`, example.failure.message, retry);
  }));
}

// The scopes that the server grants; the page shows only what they allow.
let access = {};
async function enter() {
  access = await ask("access");
  $("upload-section").hidden = !access.enqueue;
  $("health").textContent = access.read ? "checking…" : "access token required";
  $("access").open = !access.read;
  await look();
}

let looking = false;
async function look() {
  if (looking || document.hidden || !access.read) return;
  looking = true;
  try {
    const [report, recent, failures] = await Promise.all(
      [ask("status"), ask("jobs?state=completed&limit=24"), ask("failures")]);
    showStatus(report);
    showRecent(recent.jobs);
    showFailures(failures);
    tell(null);
  } catch (problem) {
    $("health").textContent = "unreachable";
    $("health").className = "badge bad";
    tell(problem);
  } finally {
    looking = false;
  }
}

async function upload(file) {
  const image = element("img", { alt: `Preview of ${file.name}`, src: URL.createObjectURL(file) });
  const note = element("p", { textContent: `${file.name}: uploading…` });
  const item = element("li", {}, image, note);
  $("uploads").prepend(item);
  try {
    const query = new URLSearchParams({ size: $("size").value, batch: "dashboard" });
    const receipt = await ask(`jobs?${query}`, {
      method: "POST", body: file, headers: { "Content-Type": file.type || "application/octet-stream" },
    });
    note.textContent = `${file.name}: making thumbnails…`;
    let thumbnails = receipt.thumbnails;
    if (receipt.id) {
      let job;
      do { job = await ask(`jobs/${receipt.id}?wait=20s`); } while (!job.finalizedAt);
      if (job.state !== "completed") throw new Error(job.failure?.message ?? `the job was ${job.state}`);
      thumbnails = job.thumbnails;
    }
    URL.revokeObjectURL(image.src);
    item.replaceChildren(...thumbnails.flatMap((thumbnail) => [
      element("a", { href: thumbnail.blobURL ?? thumbnail.url }, picture(thumbnail, file.name)),
      element("p", { textContent: `${file.name}: ${thumbnail.name}` })]));
    await look();
  } catch (problem) {
    note.textContent = `${file.name}: ${problem.message}`;
    note.className = "failure";
  }
}

const uploadAll = (files) => { if (access.enqueue) [...files].forEach(upload); };
$("file").addEventListener("change", (event) => { uploadAll(event.target.files); event.target.value = ""; });
$("upload").addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("paste", (event) => {
  if (event.clipboardData.files.length) { event.preventDefault(); uploadAll(event.clipboardData.files); }
});
document.addEventListener("dragover", (event) => { event.preventDefault(); $("drop").classList.add("over"); });
document.addEventListener("dragleave", () => $("drop").classList.remove("over"));
document.addEventListener("drop", (event) => {
  event.preventDefault();
  $("drop").classList.remove("over");
  uploadAll(event.dataTransfer.files);
});
$("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("cameo-token", $("token").value.trim());
  $("token").value = "";
  enter().catch(tell);
});
document.addEventListener("visibilitychange", look);
enter().catch(tell);
setInterval(look, interval);
