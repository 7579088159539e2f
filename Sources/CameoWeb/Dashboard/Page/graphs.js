// Graphs of the counts in the status reports that this page has received, for all queues or one.
import { $, element, show } from "./elements.js";
import { duration, number, rate } from "./format.js";

const kept = 3600e3;
const maximumQueues = 20;
const width = 600;
const height = 120;
const savedAs = "cameo-samples";

// { at, counts: { "": [waiting, running, completed, discarded], QUEUE: … } }, where "" stands for all queues.
let samples = restored();

const numbers = (jobs) => [jobs.available + jobs.retryable, jobs.running, jobs.completed, jobs.discarded];

export function record({ generatedAt, jobs, queues }) {
  const at = Date.parse(generatedAt);
  const counts = { "": numbers(jobs) };
  for (const queue of queues.slice(0, maximumQueues)) counts[queue.name] = numbers(queue.jobs);
  samples = samples.filter((sample) => sample.at > at - kept && sample.at < at);
  samples.push({ at, counts });
}

export function drawGraphs() {
  const names = Object.keys(samples.at(-1)?.counts ?? {}).filter((name) => name);
  show($("graph-queue"), element("option", { value: "", textContent: "all queues" }),
    names.map((name) => element("option", { key: name, value: name, textContent: name })));
  const points = samples.filter(({ counts }) => counts[$("graph-queue").value])
    .map(({ at, counts }) => [at, ...counts[$("graph-queue").value]]);
  // The rates between one report and the next. Counts of ended jobs fall when jobs are pruned or retried.
  const rates = points.slice(1).map(([at, , , completed, discarded], index) => {
    const [before, , , wereCompleted, wereDiscarded] = points[index];
    const seconds = (at - before) / 1000;
    return [at, Math.max(0, completed - wereCompleted) / seconds, Math.max(0, discarded - wereDiscarded) / seconds];
  });
  draw("backlog", points, [["waiting", 1], ["running", 2]], number, "jobs");
  draw("ended", rates, [["completed", 1], ["discarded", 2]], rate, "ended");
}

function draw(id, points, series, format, noun) {
  const graph = $(id);
  const end = points.at(-1)?.[0] ?? 0;
  const span = Math.max(60e3, end - (points[0]?.[0] ?? end));
  const buckets = inBuckets(points, end - span, span);
  const top = Math.max(...buckets.flatMap((point) => series.map(([, column]) => point[column])), Number.EPSILON);
  const across = (at) => ((at - end + span) / span * width).toFixed(1);
  const up = (value) => (height - 2 - value / top * (height - 6)).toFixed(1);
  const lines = series.map(([name, column]) => {
    const line = document.createElementNS(graph.namespaceURI, "polyline");
    line.setAttribute("class", name);
    line.setAttribute("points", buckets.map((point) => `${across(point[0])},${up(point[column])}`).join(" "));
    return line;
  });
  show(graph, lines);
  const latest = points.at(-1) ?? [];
  const words = series.map(([name, column]) => `${name} ${format(latest[column] ?? 0)}`);
  graph.ariaLabel = `${words.join(", ")} ${noun}; highest ${format(top)} in ${duration(span)}`;
  show($(`${id}-top`), top > Number.EPSILON ? `up to ${format(top)}` : "");
  show($(`${id}-span`), `last ${duration(span)}`);
  show($(`${id}-legend`), series.map(([name, column]) =>
    element("span", { className: `name ${name}`, textContent: `${name} ${format(latest[column] ?? 0)}` })));
}

// Averages, so that an hour of reports is no longer a line than a minute of them.
function inBuckets(points, start, span) {
  const buckets = new Map();
  for (const point of points) {
    const bucket = Math.floor((point[0] - start) / span * 120);
    buckets.set(bucket, [...(buckets.get(bucket) ?? []), point]);
  }
  return [...buckets.values()].map((bucket) =>
    bucket[0].map((_, column) => bucket.reduce((total, point) => total + point[column], 0) / bucket.length));
}

function restored() {
  try { return JSON.parse(sessionStorage.getItem(savedAs)) ?? []; } catch { return []; }
}

// So that reloading the page loses no history. A tab that has too much of it goes without.
window.addEventListener("pagehide", () => {
  try { sessionStorage.setItem(savedAs, JSON.stringify(samples)); } catch { sessionStorage.removeItem(savedAs); }
});
