// Failures, grouped by what to do about them.
import { $, button, element, link, quiet, show, showList } from "./elements.js";
import { changeAll, changeJob } from "./changes.js";
import { count, nameOfJob, number } from "./format.js";
import { access, ask, withQuery } from "./server.js";

const groups = [
  ["Retry when the source's server is well again",
    ["source.timeout", "source.unreachable", "source.httpStatus", "source.changed"]],
  ["Correct the address or what may be read, then retry",
    ["source.notFound", "source.forbidden", "source.unsupportedScheme", "source.invalid"]],
  ["Raise the worker's limit, or send something smaller", [
    "source.tooLarge", "image.tooManyPixels", "image.tooManyFrames", "render.outOfMemory", "render.timedOut",
    "render.tooManyBytes", "job.timedOut"]],
  ["Replace the picture, or let the worker take it (--allow-format, --tolerate)",
    ["image.unsupportedFormat", "image.corrupt"]],
  ["Show an icon, or have the video converted",
    ["video.noPicture", "video.unsupportedCodec", "video.encrypted"]],
  ["Correct the request and enqueue it again",
    ["request.invalid", "image.noSuchPage", "image.cropOutside", "job.superseded"]],
  ["Look at the worker and the store, then retry", [
    "render.failed", "render.crashed", "render.formatUnavailable", "store.full", "store.failed",
    "store.refused", "store.cancelled", "worker.lost", "unknown"]],
];

const groupOf = (code) => groups.find(([, codes]) => codes.includes(code)) ?? groups.at(-1);

// A code with its jobs, its different reasons or what to do, and buttons for those that also match `filter`.
export function reasonEntry(code, jobs, filter, reasons = []) {
  const example = reasons[0]?.example;
  const all = { ...filter, state: "discarded", code };
  return element("li", { key: code },
    element("div", { className: "line" },
      link(withQuery("#jobs", all), code, { className: "title" }), quiet(count(jobs, "job")),
      access.operate ? element("span", { className: "buttons" },
        example ? button("Retry one", () => changeJob(example.id, "retry"),
          { ariaLabel: `Retry job ${example.id}, which failed with ${code}` }) : "",
        button("Retry all", () => changeAll("retry", all, `all jobs that failed with ${code}`),
          { ariaLabel: `Retry all jobs that failed with ${code}` })) : ""),
    reasons.map((reason) => element("p", {}, reason.count > 1 ? `${count(reason.count, "job")} such as ` : "",
      link(`#job/${reason.example.id}`, nameOfJob(reason.example)), ": ",
      element("span", { className: "failure", textContent: reason.example.failure.message }))),
    reasons.length ? "" : quiet(groupOf(code)[0]));
}

export async function refreshFailures() {
  const { codes, newest } = await ask("failures");
  show($("failures-scope"), codes.length ? `Of the newest ${number(newest)} discarded jobs.` : "");
  show($("codes"), codes.map(({ code }) => element("option", { key: code, value: code })));
  const found = groups.map((group) => [group[0], codes.filter(({ code }) => groupOf(code) === group)])
    .filter(([, own]) => own.length);
  showList("failure-list", found, ([what, own]) => element("li", { className: "group" },
    element("h3", { textContent: what }),
    element("ul", { className: "entries" },
      own.map(({ code, count: jobs, reasons }) => reasonEntry(code, jobs, {}, reasons)))));
}
