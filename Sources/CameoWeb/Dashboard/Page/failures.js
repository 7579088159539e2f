// Failures, grouped by what to do about them.
import { advice } from "./advice.js";
import { $, button, element, link, quiet, show, showList } from "./elements.js";
import { changeAll, changeJob } from "./changes.js";
import { count, nameOfJob, number } from "./format.js";
import { access, ask, withQuery } from "./server.js";

const groupOf = (code) => advice.find(([, codes]) => codes.includes(code)) ?? advice.at(-1);

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
  const found = advice.map((group) => [group[0], codes.filter(({ code }) => groupOf(code) === group)])
    .filter(([, own]) => own.length);
  showList("failure-list", found, ([what, own]) => element("li", { className: "group" },
    element("h3", { textContent: what }),
    element("ul", { className: "entries" },
      own.map(({ code, count: jobs, reasons }) => reasonEntry(code, jobs, {}, reasons)))));
}
