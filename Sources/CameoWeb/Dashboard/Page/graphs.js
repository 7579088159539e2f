// Lines over time.
import { $, element, show } from "./elements.js";
import { duration, number, rate } from "./format.js";
import { hour, lines, queueNames, stageLines } from "./history.js";

const width = 600;
const height = 120;
const longestGap = 150e3;

export function drawGraphs() {
  show($("graph-queue"), element("option", { value: "", textContent: "all queues" }),
    queueNames().map((name) => element("option", { key: name, value: name, textContent: name })));
  const { backlog, ended } = lines($("graph-queue").value);
  const [start, end] = extent([...backlog, ...ended]);
  draw("backlog", backlog, start, end, number, "jobs");
  draw("ended", ended, start, end, rate, "ended");
}

function draw(id, series, start, end, format, noun) {
  const span = duration(end - start);
  const latest = series.map(([name, points]) => [name, `${name} ${format(points.at(-1)?.[1] ?? 0)}`]);
  const { top, curves } = plot(series, start, end);
  show($(id), curves);
  $(id).ariaLabel = `${latest.map(([, words]) => words).join(", ")} ${noun}; highest ${format(top)} in ${span}`;
  show($(`${id}-top`), top ? `up to ${format(top)}` : "");
  show($(`${id}-span`), `last ${span}`);
  show($(`${id}-legend`), latest.map(([name, textContent]) =>
    element("span", { className: `name ${name}`, textContent })));
}

// How long a stage took over the last hour; nothing if the server does not know.
export function stageGraph(stage) {
  const series = stageLines(stage);
  if (!series[0][1].length) return [];
  const [start, end] = hour();
  const { top, curves } = plot(series, start, end);
  const viewBox = `0 0 ${width} ${height}`;
  const graph = drawing("svg", { viewBox, preserveAspectRatio: "none", role: "img", class: stage });
  graph.append(...curves);
  const axis = [`up to ${duration(top)}`, `last ${duration(end - start)}`];
  graph.ariaLabel = `${stage}: ${axis.join(", ")}`;
  return [graph, element("p", { className: "axis quiet" }, axis.map((words) => element("span", {}, words)))];
}

// From the first to the last point, at least a minute.
function extent(series) {
  const end = Math.max(...series.map(([, points]) => points.at(-1)?.[0] ?? 0));
  return [Math.min(end - 60e3, ...series.map(([, points]) => points[0]?.[0] ?? end)), end];
}

// The curves of all series on one scale, and its highest value. A line ends where nothing is known for a while.
function plot(series, start, end) {
  const span = Math.max(end - start, 1);
  const thinned = series.map(([name, points]) => [name, inBuckets(points, start, span)]);
  const top = Math.max(0, ...thinned.flatMap(([, points]) => points.map(([, value]) => value)));
  const place = ([at, value]) =>
    `${((at - start) / span * width).toFixed(1)},${(height - 2 - value / (top || 1) * (height - 6)).toFixed(1)}`;
  const curves = thinned.map(([name, points]) => drawing("path", {
    // Of no length: a point without neighbours is a dot.
    d: points.map((point, index) => point[0] - (points[index - 1]?.[0] ?? -Infinity) > longestGap
      ? `M${place(point)}h0` : `L${place(point)}`).join(""),
    class: name,
  }));
  return { top, curves };
}

// Averages, so that an hour of reports is no longer a line than a minute of them.
function inBuckets(points, start, span) {
  const buckets = new Map();
  for (const point of points) {
    const bucket = Math.floor((point[0] - start) / span * 120);
    buckets.set(bucket, [...(buckets.get(bucket) ?? []), point]);
  }
  return [...buckets.values()].map((bucket) =>
    [0, 1].map((column) => bucket.reduce((total, point) => total + point[column], 0) / bucket.length));
}

function drawing(name, attributes) {
  const made = document.createElementNS($("backlog").namespaceURI, name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  return made;
}
