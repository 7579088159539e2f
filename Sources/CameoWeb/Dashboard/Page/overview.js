// Whether all is well, what is going on, and when it will be done.
import { $, element, show } from "./elements.js";
import { bytes, count, duration, number, rate, setClock } from "./format.js";
import { drawGraphs } from "./graphs.js";
import { learnHistory, record } from "./history.js";
import { showQueues } from "./queues.js";
import { ask } from "./server.js";
import { stateNames } from "./states.js";
import { showStages, showWorkers } from "./workers.js";

let latest = null;
function draw() {
  drawGraphs();
  if (latest) showStages(latest);
}

export async function refreshHistory() {
  await learnHistory();
  draw();
}

export async function refreshStatus() {
  const report = await ask("status");
  setClock(report.generatedAt);
  showHealth(...health(report));
  show($("summary"), summary(report));
  show($("states"), stateNames.map((state) => element("li", {}, element("a", { href: `#jobs?state=${state}` },
    element("strong", { textContent: number(report.jobs[state]) }),
    element("span", { className: `name ${state}`, textContent: state })))));
  record(report);
  latest = report;
  draw();
  showQueues(report.queues);
  showWorkers(report.workers);
  show($("sizes"), [
    count(report.thumbnails, "thumbnail"), `${count(report.blobs.count, "blob")}, ${bytes(report.blobs.bytes)}`,
    `${count(report.sources.count, "cached original")}, ${bytes(report.sources.bytes)}`,
  ].join(" · "));
}

// Screen readers announce the badge when its text changes, so it is left alone otherwise.
export function showHealth(isGood, text) {
  if ($("health").textContent !== text) $("health").textContent = text;
  $("health").className = `badge ${isGood ? "good" : "bad"}`;
}

const isWaiting = ({ available, retryable }) => available + retryable > 0;

function health({ jobs, queues, workers, finishedLastMinute: { completed, discarded } }) {
  if (!workers.some((worker) => worker.isAlive)) return [false, "no worker is alive: start cameo-worker"];
  if (!workers.some((worker) => worker.isAlive && !worker.stopping)) return [false, "the workers are stopping"];
  const waiting = queues.filter((queue) => isWaiting(queue.jobs));
  if (waiting.length && !jobs.running && waiting.every((queue) => queue.paused)) return [false, "paused: resume the queue"];
  if (discarded > completed) return [false, "most jobs fail"];
  return [true, jobs.running || waiting.length ? "working" : "idle"];
}

function summary({ jobs, finishedLastMinute: { completed, discarded }, etaSeconds }) {
  const left = jobs.available + jobs.retryable + jobs.running;
  const perSecond = (completed + discarded) / 60;
  const parts = [
    left ? `${count(jobs.available + jobs.retryable, "job")} waiting, ${number(jobs.running)} running.`
      : "Nothing is waiting.",
  ];
  if (completed + discarded) parts.push(`Last minute: ${number(completed)} completed, ${number(discarded)} failed.`);
  const eta = etaSeconds ?? (perSecond ? left / perSecond : undefined);
  if (left && eta !== undefined) parts.push(`Done in about ${duration(eta * 1000)}, at ${rate(perSecond)}.`);
  else if (left) parts.push("No job has ended during the last minute.");
  return parts.join(" ");
}
