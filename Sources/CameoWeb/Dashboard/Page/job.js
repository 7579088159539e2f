// One job's whole story: its times, its attempts with the time of each stage, its thumbnails and its request.
import { leaveOverlay } from "./address.js";
import { $, element, link, quiet, show, title } from "./elements.js";
import { absolute, between, bytes, count, duration, nameOfJob, now, sourceOf } from "./format.js";
import { changes } from "./jobs.js";
import { describe, idOf, picture } from "./pictures.js";
import { ask } from "./server.js";
import { pill, reason } from "./states.js";

let open = null;

export async function openJob(id) {
  open = id;
  show($("story-body"), element("p", { className: "quiet", textContent: "Loading…" }));
  show($("story-title"), `Job ${id}`);
  if (!$("story").open) $("story").showModal();
  await refreshStory();
}

export const closeJob = () => $("story").close();

export async function refreshStory() {
  if (open === null) return;
  const id = open;
  try {
    const job = await ask(`jobs/${id}`);
    if (open === id) show($("story-body"), story(job));
  } catch (problem) {
    if (open === id) show($("story-body"), element("p", { className: "failure", textContent: problem.message }));
  }
}

function story(job) {
  const source = sourceOf(job);
  const name = nameOfJob(job);
  const attempts = job.attempts ?? [];
  const request = typeof job.request === "string" ? job.request : JSON.stringify(job.request, null, 2);
  const next = job.state === "retryable" ? `Next attempt: ${absolute(job.availableAt)}.` : "";
  return [
    element("div", { className: "line", key: "state" }, pill(job.state), title(name), changes(job)),
    element("div", { key: "source" }, element("p", { className: "source", textContent: source ?? "" }),
      job.failure ? reason(job.failure, job.state === "discarded") : "", next,
      job.supersededBy ? link(`#job/${job.supersededBy}`, `Superseded by job ${job.supersededBy}`) : ""),
    element("ul", { className: "pictures", key: "pictures" },
      job.thumbnails.map((one) => thumbnailEntry(one, name))),
    element("section", { key: "times" }, element("h3", { textContent: "Times" }),
      times(job, attempts), timeline(job, attempts)),
    element("section", { key: "attempts", hidden: !attempts.length }, element("h3", { textContent: "Attempts" }),
      element("ol", { className: "entries" }, attempts.map((attempt) => attemptEntry(attempt, job)))),
    element("details", { key: "request" }, element("summary", { textContent: "Request" }),
      element("pre", { tabIndex: 0, textContent: request })),
  ];
}

const thumbnailEntry = (thumbnail, name) => element("li", { key: thumbnail.uri },
  thumbnail.blob
    ? element("a", { href: `#picture/${idOf(thumbnail.uri)}` }, picture(thumbnail, `${name}, ${thumbnail.name}`)) : "",
  element("span", { textContent: thumbnail.name }),
  element("small", { textContent: thumbnail.blob ? describe(thumbnail) : "not made" }));

const ended = (thing) => thing.finalizedAt ?? thing.finishedAt ?? new Date(now()).toISOString();
const took = (attempt) => between(attempt.startedAt, ended(attempt));

function times(job, attempts) {
  const total = between(job.createdAt, ended(job));
  const ran = attempts.reduce((sum, attempt) => sum + took(attempt), 0);
  const rows = [
    ["enqueued", absolute(job.createdAt)],
    [job.finalizedAt ? "enqueued to ended" : "enqueued until now", duration(total)],
    ["of that, waiting", duration(Math.max(0, total - ran))], ["of that, running", duration(ran)],
    ["attempts", `${job.attempt} of ${job.maxAttempts}${job.crashCount ? `, crashed ${job.crashCount} ×` : ""}`],
    ["queue", `${job.queue}${job.priority ? `, priority ${job.priority}` : ""}`],
    ...(job.batch ? [["batch", link(`#batch/${encodeURIComponent(job.batch)}`, job.batch)]] : []),
  ];
  return element("dl", { className: "facts" }, rows.map(([name, value]) =>
    element("div", {}, element("dt", { textContent: name }), element("dd", {}, value))));
}

// From left to right: waiting, with each attempt where it was.
function timeline(job, attempts) {
  const [start, total] = [Date.parse(job.createdAt), Math.max(1, between(job.createdAt, ended(job)))];
  const words = `${count(attempts.length, "attempt")} within ${duration(total)}`;
  const bar = element("div", { className: "timeline", role: "img", title: words, ariaLabel: words });
  for (const attempt of attempts) {
    const piece = element("i", { className: attempt.outcome, title: `attempt ${attempt.number}: ${attempt.outcome}` });
    // A short attempt at the end of a long wait stays visible.
    piece.style.left = `${Math.min(99.5, 100 * (Date.parse(attempt.startedAt) - start) / total)}%`;
    piece.style.width = `${100 * took(attempt) / total}%`;
    bar.append(piece);
  }
  return bar;
}

const stages = ["throttled", "fetch", "queue", "render", "store"];

function attemptEntry(attempt, job) {
  const longest = Math.max(1, ...job.attempts.map(took));
  const measured = stages.map((stage) => [stage, attempt[`${stage}Milliseconds`]])
    .filter(([, time]) => time !== undefined);
  const other = took(attempt) - measured.reduce((sum, [, time]) => sum + time, 0);
  const words = [...measured, ...(other > 0 ? [["other", other]] : [])]
    .map(([stage, time]) => `${stage} ${duration(time)}`).join(" · ");
  const facts = [
    duration(took(attempt)), attempt.sourceBytes && `read ${bytes(attempt.sourceBytes)}`,
    attempt.outputBytes && `wrote ${bytes(attempt.outputBytes)}`,
    attempt.cpuMilliseconds && `cpu ${duration(attempt.cpuMilliseconds)}`,
    attempt.transfer && `received ${bytes(attempt.transfer.receivedBytes)}`
      + (attempt.transfer.totalBytes ? ` of ${bytes(attempt.transfer.totalBytes)}` : ""),
  ].filter(Boolean).join(" · ");
  return element("li", { key: attempt.number },
    element("div", { className: "line" }, title(`${attempt.number}. ${attempt.outcome}`),
      quiet(facts, { title: absolute(attempt.startedAt) })),
    element("div", { className: "timing" }, measured.filter(([, time]) => time > 0).map(([stage, time]) => {
      const piece = element("i", { className: stage, title: `${stage} ${duration(time)}` });
      piece.style.width = `${100 * time / longest}%`;
      return piece;
    })),
    element("p", { className: "quiet", textContent: words }),
    attempt.failure && attempt.failure.message !== job.failure?.message ? reason(attempt.failure, false) : "",
    element("small", { textContent: `worker ${attempt.worker}` }));
}

// Esc and the button close the dialog; the address goes back to the page.
$("story").addEventListener("close", () => {
  const isLeft = location.hash === `#job/${open}`;
  open = null;
  if (isLeft) leaveOverlay();
});
$("story-close").addEventListener("click", closeJob);
