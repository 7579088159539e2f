// Lines over time, with axes, and the values under the pointer.
import { $, element, show } from "./elements.js";
import { duration, number, rate, sum } from "./format.js";
import { hour, lines, queueNames, stageLines } from "./history.js";

const longestGap = 150e3;
const edge = { left: 46, right: 8, top: 8, bottom: 18 };
// What is drawn, by id, for the pointer.
const drawn = new Map();

export function drawGraphs() {
  show($("graph-queue"), element("option", { value: "", textContent: "all queues" }),
    queueNames().map((name) => element("option", { key: name, value: name, textContent: name })));
  $("graph-choice").hidden = queueNames().length < 2;
  const { backlog, ended } = lines($("graph-queue").value);
  const extent = extentOf([...backlog, ...ended]);
  draw("backlog", backlog, extent, number, "Nothing waited or ran");
  draw("ended", ended, extent, rate, "No job ended");
}

function draw(id, series, extent, format, nothing) {
  const isEmpty = !sum(series.flatMap(([, points]) => points.map(([, value]) => value)));
  const words = `${nothing} in the last ${duration(extent[1] - extent[0])}.`;
  show($(id), isEmpty ? element("p", { className: "quiet nothing", textContent: words })
    : graph(id, series, extent, format, 150, $(id).clientWidth));
  show($(`${id}-legend`), isEmpty ? "" : series.map(([name, points]) => element("span", {
    className: `name ${name}`, textContent: `${name} ${format(points.at(-1)?.[1] ?? 0)}`,
  })));
}

// How long a stage took over the last hour; nothing if the server does not know.
export function stageGraph(stage) {
  const series = stageLines(stage);
  return series[0][1].length ? [graph(stage, series, hour(), duration, 90, $("stages").clientWidth)] : [];
}

// From the first to the last point, at least a minute.
function extentOf(series) {
  const end = Math.max(...series.map(([, points]) => points.at(-1)?.[0] ?? 0));
  return [Math.min(end - 60e3, ...series.map(([, points]) => points[0]?.[0] ?? end)), end];
}

function graph(id, series, [start, end], format, height, measured) {
  const width = measured || 600;
  const span = Math.max(end - start, 1);
  const thinned = series.map(([name, points]) => [name, inBuckets(points, start, span)]);
  const highest = Math.max(0, ...thinned.flatMap(([, points]) => points.map(([, value]) => value)));
  const top = rounded(highest);
  const x = (at) => edge.left + (at - start) / span * (width - edge.left - edge.right);
  const y = (value) => height - edge.bottom - value / top * (height - edge.top - edge.bottom);
  drawn.set(id, { series: thinned, start, span, format, width });
  const viewBox = `0 0 ${width} ${height}`;
  const svg = drawing("svg", { class: `graph ${id}`, "data-graph": id, viewBox, role: "img", height });
  svg.append(
    ...[0, top / 2, top].map((value) =>
      drawing("line", { x1: edge.left, x2: width - edge.right, y1: y(value), y2: y(value) })),
    ...[0, top / 2, top].map((value) => text(edge.left - 6, y(value) + 4, "end", format(value))),
    ...times(start, end, width).map((at) =>
      text(x(at), height - 4, x(at) > width - 30 ? "end" : "middle", hourAndMinute(at))),
    // Of no length: a point without neighbours is a dot.
    ...thinned.map(([name, points]) => drawing("path", {
      d: points.map((point, index) => {
        const place = `${x(point[0]).toFixed(1)},${y(point[1]).toFixed(1)}`;
        return point[0] - (points[index - 1]?.[0] ?? -Infinity) > longestGap ? `M${place}h0` : `L${place}`;
      }).join(""),
      class: name,
    })));
  const latest = series.map(([name, points]) => `${name} ${format(points.at(-1)?.[1] ?? 0)}`).join(", ");
  svg.ariaLabel = `${latest}; highest ${format(highest)} in the last ${duration(span)}`;
  return svg;
}

// The highest of each bucket: an hour of reports is no longer a line than a minute of them, and no burst is lost.
function inBuckets(points, start, span) {
  const buckets = new Map();
  for (const point of points) {
    const bucket = Math.floor((point[0] - start) / span * 120);
    if (!(buckets.get(bucket)?.[1] >= point[1])) buckets.set(bucket, point);
  }
  return [...buckets.values()];
}

// The next of 1, 2, 4, 6, 10, 20, …, so that its half is a round number too.
function rounded(value) {
  if (!value) return 1;
  const ten = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 6, 10].map((step) => step * ten).find((step) => step >= value);
}

function times(start, end, width) {
  const most = Math.max(2, Math.floor(width / 90));
  const step = [1, 2, 5, 10, 15, 30, 60].map((minutes) => minutes * 60e3).find((one) => (end - start) / one <= most);
  if (!step) return [];
  const first = Math.ceil(start / step) * step;
  return Array.from({ length: Math.floor((end - first) / step) + 1 }, (_, index) => first + index * step);
}

const hourAndMinute = (at) => new Date(at).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });

function text(x, y, anchor, words) {
  const made = drawing("text", { x, y, "text-anchor": anchor });
  made.append(words);
  return made;
}

function drawing(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  return made;
}

// One listener for all: what is drawn is replaced all the time.
document.addEventListener("pointermove", (event) => {
  const svg = event.target.closest?.("svg.graph");
  const graph = svg && drawn.get(svg.dataset.graph);
  $("hover").hidden = !graph;
  if (!graph) return;
  const box = svg.getBoundingClientRect();
  const x = (event.clientX - box.left) / box.width * graph.width - edge.left;
  const at = graph.start + x / (graph.width - edge.left - edge.right) * graph.span;
  const near = graph.series.map(([name, points]) => [name, nearest(points, at)])
    .filter(([, point]) => point && Math.abs(point[0] - at) < Math.max(longestGap, graph.span / 60));
  $("hover").hidden = !near.length;
  if (!near.length) return;
  show($("hover"), element("strong", { textContent: new Date(near[0][1][0]).toLocaleTimeString() }),
    near.map(([name, [, value]]) =>
      element("span", { className: `name ${name}`, textContent: `${name} ${graph.format(value)}` })));
  const isRight = event.clientX > innerWidth / 2;
  Object.assign($("hover").style, {
    top: `${box.top + 8}px`, left: isRight ? "" : `${event.clientX + 14}px`,
    right: isRight ? `${document.documentElement.clientWidth - event.clientX + 14}px` : "",
  });
});

const nearest = (points, at) => points.reduce((best, point) =>
  !best || Math.abs(point[0] - at) < Math.abs(best[0] - at) ? point : best, null);
