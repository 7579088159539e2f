// What the graphs show: the last hour by the minute, as the server saw it, and what this page has seen in finer steps.
import { ask } from "./server.js";

const kept = 3600e3;
const maximumQueues = 20;
// Longer steps, in which this page was hidden, say little.
const longestStep = 90e3;
const savedAs = "cameo-samples";

// { at, counts: { "": [waiting, running, completed, discarded], QUEUE: … } }, where "" stands for all queues.
let samples = restored();
// { at, milliseconds, mostWaiting, mostRunning, completed, discarded, retried, stages: [{ stage, p50, p95 }] }
let minutes = [];

const numbers = (jobs) => [jobs.available + jobs.retryable, jobs.running, jobs.completed, jobs.discarded];

export function record({ generatedAt, jobs, queues }) {
  const at = Date.parse(generatedAt);
  const counts = { "": numbers(jobs) };
  for (const queue of queues.slice(0, maximumQueues)) counts[queue.name] = numbers(queue.jobs);
  samples = samples.filter((sample) => sample.at > at - kept && sample.at < at);
  samples.push({ at, counts });
}

export async function learnHistory() {
  const answer = await ask("history");
  minutes = answer.minutes.map((minute) => ({ ...minute, at: Date.parse(minute.at) }));
}

export const queueNames = () => Object.keys(samples.at(-1)?.counts ?? {}).filter((name) => name);

// The lines of the graphs of a queue, or of all queues: [name, [[time, value], …]]. The server's minutes are of all.
export function lines(queue) {
  const own = samples.filter(({ counts }) => counts[queue]).map(({ at, counts }) => [at, ...counts[queue]]);
  const past = queue ? [] : minutes;
  const level = (name, column, most) =>
    [name, merged(own.map((point) => [point[0], point[column]]), past.map((minute) => [minute.at, minute[most]]))];
  const perSecond = (name) => past.map((minute) => [minute.at, 1000 * minute[name] / minute.milliseconds]);
  const pace = (name, column) => [name, merged(paces(own, column), perSecond(name))];
  return {
    backlog: [level("waiting", 1, "mostWaiting"), level("running", 2, "mostRunning")],
    ended: [pace("completed", 3), pace("discarded", 4), ...(past.length ? [["retried", perSecond("retried")]] : [])],
  };
}

// The times of one stage, typical and slow.
export const stageLines = (stage) => ["p50", "p95"].map((name) => [name, minutes.flatMap((minute) =>
  minute.stages.filter((one) => one.stage === stage).map((one) => [minute.at, one[name]]))]);

export const hour = () => [minutes[0]?.at ?? 0, minutes.at(-1)?.at ?? 0];

// What ended per second between one report and the next. Counts of ended jobs fall when jobs are pruned or retried.
function paces(points, column) {
  return points.slice(1).flatMap((point, index) => {
    const step = point[0] - points[index][0];
    return step > longestStep ? []
      : [[point[0], 1000 * Math.max(0, point[column] - points[index][column]) / step]];
  });
}

// This page's points; of the server's, those of minutes that the page did not see, or not at their highest.
function merged(own, past) {
  const highest = new Map();
  for (const [at, value] of own) {
    const minute = Math.floor(at / 60e3);
    highest.set(minute, Math.max(value, highest.get(minute) ?? 0));
  }
  return [...past.filter(([at, value]) => value > (highest.get(Math.floor(at / 60e3)) ?? -1)), ...own]
    .sort(([one], [other]) => one - other);
}

function restored() {
  try { return JSON.parse(sessionStorage.getItem(savedAs)) ?? []; } catch { return []; }
}

// So that reloading the page loses no detail. A tab that has too much of it goes without.
window.addEventListener("pagehide", () => {
  try { sessionStorage.setItem(savedAs, JSON.stringify(samples)); } catch { sessionStorage.removeItem(savedAs); }
});
