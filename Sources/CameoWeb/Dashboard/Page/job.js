// One job's whole story: its times, its attempts with the time of each stage, its thumbnails and its request.
import { $, element, show } from "./elements.js";
import { absolute, between, bytes, count, duration, nameOf, now, sourceOf } from "./format.js";
import { changes, listAddress } from "./jobs.js";
import { describe, picture } from "./pictures.js";
import { ask } from "./server.js";
import { isFinal, pill } from "./states.js";

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
  const attempts = job.attempts ?? [];
  return [
    element("div", { className: "line", key: "state" }, pill(job.state), element("span", { className: "title", textContent: nameOf(source) }), changes(job)),
    element("p", { className: "source", key: "source", textContent: source ?? "" }),
    job.failure ? element("p", { className: "failure", key: "failure" }, element("strong", { textContent: job.failure.code }),
      ` ${job.failure.message}`, isFinal(job.state) ? "" : ` Next attempt ${absolute(job.availableAt)}.`) : "",
    job.supersededBy ? element("p", { key: "superseded" }, "Superseded by ", element("a", { href: `#job/${job.supersededBy}`, textContent: `job ${job.supersededBy}` })) : "",
    element("ul", { className: "pictures", key: "pictures" }, job.thumbnails.map((thumbnail) => element("li", { key: thumbnail.uri },
      thumbnail.blob ? element("a", { href: thumbnail.blobURL }, picture(thumbnail, `${nameOf(source)}, ${thumbnail.name}`)) : "",
      element("span", { textContent: thumbnail.name }),
      element("small", { textContent: thumbnail.blob ? describe(thumbnail) : "not made" })))),
    element("section", { key: "times" }, element("h3", { textContent: "Times" }), times(job, attempts), timeline(job, attempts)),
    attempts.length ? element("section", { key: "attempts" }, element("h3", { textContent: "Attempts" }),
      element("ol", { className: "entries" }, attempts.map((attempt) => attemptEntry(attempt, job)))) : "",
    element("details", { key: "request" }, element("summary", { textContent: "Request" }),
      element("pre", { tabIndex: 0, textContent: typeof job.request === "string" ? job.request : JSON.stringify(job.request, null, 2) })),
  ];
}

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
    ...(job.batch ? [["batch", job.batch]] : []),
  ];
  return element("dl", { className: "facts" }, rows.map(([name, value]) =>
    element("div", {}, element("dt", { textContent: name }), element("dd", { textContent: value }))));
}

// From left to right: waiting, with each attempt where it was.
function timeline(job, attempts) {
  const [start, total] = [Date.parse(job.createdAt), Math.max(1, between(job.createdAt, ended(job)))];
  const bar = element("div", { className: "timeline", role: "img", title: "waiting, and when it ran", ariaLabel: `${count(attempts.length, "attempt")} within ${duration(total)}` });
  for (const attempt of attempts) {
    const piece = element("i", { className: attempt.outcome, title: `attempt ${attempt.number}: ${attempt.outcome}` });
    // A short attempt at the end of a long wait stays visible.
    piece.style.left = `${Math.min(99.5, 100 * (Date.parse(attempt.startedAt) - start) / total)}%`;
    piece.style.width = `${100 * took(attempt) / total}%`;
    bar.append(piece);
  }
  return bar;
}

const stages = ["wait", "fetch", "queue", "render", "store"];

function attemptEntry(attempt, job) {
  const longest = Math.max(1, ...job.attempts.map(took));
  const measured = stages.map((stage) => [stage, attempt[`${stage}Milliseconds`]]).filter(([, time]) => time !== undefined);
  const other = took(attempt) - measured.reduce((sum, [, time]) => sum + time, 0);
  const words = [...measured, ...(other > 0 ? [["other", other]] : [])]
    .map(([stage, time]) => `${stage} ${duration(time)}`).join(" · ");
  const sizes = [attempt.sourceBytes && `read ${bytes(attempt.sourceBytes)}`, attempt.outputBytes && `wrote ${bytes(attempt.outputBytes)}`];
  return element("li", { key: attempt.number },
    element("div", { className: "line" }, element("span", { className: "title", textContent: `${attempt.number}. ${attempt.outcome}` }),
      element("span", { className: "quiet", title: absolute(attempt.startedAt), textContent: [duration(took(attempt)), ...sizes].filter(Boolean).join(" · ") })),
    element("div", { className: "timing" }, measured.filter(([, time]) => time > 0).map(([stage, time]) => {
      const piece = element("i", { className: stage, title: `${stage} ${duration(time)}` });
      piece.style.width = `${100 * time / longest}%`;
      return piece;
    })),
    element("p", { className: "quiet", textContent: words }),
    attempt.failure && attempt.failure.message !== job.failure?.message ? element("p", { className: "failure" }, element("strong", { textContent: attempt.failure.code }), ` ${attempt.failure.message}`) : "",
    element("small", { className: "quiet", textContent: `worker ${attempt.worker}` }));
}

// Esc and the button close the dialog; the address goes back to the list.
$("story").addEventListener("close", () => {
  open = null;
  if (location.hash.startsWith("#job/")) history.replaceState(null, "", listAddress());
});
$("story-close").addEventListener("click", closeJob);
