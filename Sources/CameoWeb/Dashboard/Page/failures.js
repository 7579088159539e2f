// Failures by code, each with an example.
import { $, button, element, link, quiet, show, showList } from "./elements.js";
import { changeAll, changeJob } from "./changes.js";
import { count, nameOf, number, sourceOf } from "./format.js";
import { access, ask } from "./server.js";

export async function refreshFailures() {
  const { codes, newest } = await ask("failures");
  show($("failures-scope"), codes.length ? `Of the newest ${number(newest)} discarded.` : "");
  show($("codes"), codes.map(({ code }) => element("option", { key: code, value: code })));
  showList("failures", codes, ({ code, count: jobs, example }) => element("li", { key: code },
    element("div", { className: "line" },
      link(`#jobs?state=discarded&code=${code}`, code, { className: "title" }),
      quiet(count(jobs, "job")),
      access.operate ? element("span", { className: "buttons" },
        button("Retry one", () => changeJob(example.id, "retry"),
          { ariaLabel: `Retry job ${example.id}, which failed with ${code}` }),
        button("Retry all", () => changeAll("retry", { state: "discarded", code }, `all jobs that failed with ${code}`),
          { ariaLabel: `Retry all jobs that failed with ${code}` })) : ""),
    element("p", {}, "For example ", link(`#job/${example.id}`, nameOf(sourceOf(example))), ": ",
      element("span", { className: "failure", textContent: example.failure.message }))));
}
