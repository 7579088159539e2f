// Whether all is well, what is going on, what to do, and when all will be done.
import { showCounts } from "./address.js";
import { act } from "./changes.js";
import { $, button, element, link, show } from "./elements.js";
import { bytes, clock, count, duration, number, rate, setClock, sum } from "./format.js";
import { drawGraphs } from "./graphs.js";
import { learnHistory, record } from "./history.js";
import { changePause, pausedSince, showQueues } from "./queues.js";
import { access, ask } from "./server.js";
import { stateNames } from "./states.js";
import { isHindered, showStages, showWorkers } from "./workers.js";

let latest = null;
export const reportedAt = () => latest?.generatedAt;

// What is known, anew: graphs are as wide as the page lets them be.
export function redraw() {
  if (latest) showReport(latest);
}
addEventListener("resize", redraw);

export async function refreshHistory() {
  await learnHistory();
  redraw();
}

export async function refreshStatus() {
  latest = await ask("status");
  setClock(latest.generatedAt);
  record(latest);
  showReport(latest);
}

function showReport(report) {
  showHealth(...health(report));
  const { jobs } = report;
  showCounts({
    left: sum(["available", "retryable", "running"].map((state) => jobs[state])), failures: jobs.discarded,
    queues: report.queues.length, workers: report.workers.filter(({ isAlive }) => isAlive).length,
  });
  show($("summary"), summary(report));
  show($("advice"), advice(report));
  show($("states"), stateNames.map((state) => element("li", {}, element("a", { href: `#jobs?state=${state}` },
    element("strong", { textContent: number(jobs[state]) }),
    element("span", { className: `name ${state}`, textContent: state })))));
  drawGraphs();
  showStages(report);
  showQueues(report.queues, report.tenants);
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
const working = (workers) => workers.filter((worker) => worker.isAlive && !worker.stopping);
const isTaken = ({ name }, workers) => working(workers).some(({ queues }) => !queues || queues.includes(name));

function health({ jobs, queues, workers, finishedLastMinute: { completed, discarded } }) {
  if (!workers.some((worker) => worker.isAlive)) return [false, "no worker runs"];
  if (!working(workers).length) return [false, "the workers are stopping"];
  if (working(workers).every(isHindered)) return [false, "the store takes nothing"];
  const waiting = queues.filter((queue) => isWaiting(queue.jobs));
  if (waiting.length && !jobs.running && waiting.every((queue) => queue.paused)) return [false, "paused"];
  if (discarded > completed) return [false, "most jobs fail"];
  return [true, jobs.running || waiting.length ? "working" : "idle"];
}

// What needs somebody, each with what to do.
function advice({ jobs, queues, workers, undelivered = [], finishedLastMinute: { completed, discarded } }) {
  const entry = (key, ...parts) => element("li", { key }, parts);
  const waiting = jobs.available + jobs.retryable;
  const start = ["Start one on this store: ", element("code", { textContent: "cameo-worker --store …" })];
  const dead = workers.filter(({ isAlive }) => !isAlive);
  const all = workers.filter(({ isAlive, trouble }) => isAlive && trouble);
  const troubled = all.some(isHindered) ? all.filter(isHindered) : all;
  return [
    workers.some(({ isAlive }) => isAlive) ? ""
      : entry("none", `No worker runs${waiting ? `; ${count(waiting, "job")} waiting` : ""}. `, start),
    workers.some(({ isAlive }) => isAlive) && !working(workers).length
      ? entry("stopping", "All workers are stopping: no job starts any more. ", start) : "",
    dead.length ? entry("dead", `${count(dead.length, "worker")} died: the others take over the jobs. `,
      link("#workers", "See the workers")) : "",
    troubled.slice(0, 1).map(({ host, trouble }) => entry("trouble",
      isHindered({ trouble })
        ? `${host} waits for the store since ${clock(trouble.since)}: ${trouble.reason}. It goes on once that is over. `
        : `${host} cannot remove what has expired since ${clock(trouble.since)}: ${trouble.reason}. `,
      troubled.length > 1 ? link("#workers", `So do ${troubled.length - 1} others`) : "")),
    queues.filter(({ paused }) => paused).slice(0, 5).map((queue) => entry(`paused ${queue.name}`,
      `Queue ${queue.name} is paused${pausedSince(queue)}`,
      isWaiting(queue.jobs) ? `; ${count(queue.jobs.available + queue.jobs.retryable, "job")} waiting. ` : ". ",
      access.operate ? button("Resume", () => changePause(queue), { ariaLabel: `Let queue ${queue.name} go on` })
        : element("code", { textContent: `cameo-admin resume ${queue.name}` }))),
    queues.filter((queue) => working(workers).length && !queue.paused && isWaiting(queue.jobs)
      && !isTaken(queue, workers)).slice(0, 5).map(({ name }) =>
      entry(`untaken ${name}`, `No worker takes jobs of queue ${name}. Start one that does: `,
        element("code", { textContent: `cameo-worker --queues ${name}` }))),
    queues.filter(({ opensAt, jobs: own }) => opensAt && isWaiting(own)).slice(0, 5).map((queue) =>
      entry(`quiet ${queue.name}`, `Queue ${queue.name} waits for quiet hours until ${clock(queue.opensAt)}.`)),
    undelivered.slice(0, 5).map(({ hook, count: given }) => entry(`hook ${hook}`,
      `${given === 1 ? "1 delivery" : `${number(given)} deliveries`} to the hook ${hook} given up. See why: `,
      element("code", { textContent: "cameo-status hooks" }))),
    discarded > completed ? entry("failing", `During the last minute, ${number(discarded)} failed and `,
      `${number(completed)} completed. `, link("#failures", "See why")) : "",
  ];
}

function summary({ jobs, workers, finishedLastMinute: { completed, discarded }, etaSeconds }) {
  const perSecond = (completed + discarded) / 60;
  const waiting = jobs.available + jobs.retryable;
  const parts = [
    waiting + jobs.running ? `${count(waiting, "job")} waiting, ${number(jobs.running)} running.`
      : "Nothing is waiting.",
  ];
  if (completed + discarded) parts.push(`Last minute: ${number(completed)} completed, ${number(discarded)} failed.`);
  // The server knows what is taken: what waits for somebody, or for the night, is not done soon.
  if (etaSeconds !== undefined) {
    parts.push(`Done in about ${duration(etaSeconds * 1000)}${perSecond ? `, at ${rate(perSecond)}` : ""}.`);
  }
  if (jobs.running && !perSecond && working(workers).length) parts.push("No job has ended during the last minute.");
  return parts.join(" ");
}
