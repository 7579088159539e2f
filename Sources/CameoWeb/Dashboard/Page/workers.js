// Workers and what they run, and how long the stages of a job take.
import { $, element, link, quiet, show, showList, title } from "./elements.js";
import { absolute, clock, count, duration, nameOf, rate, since } from "./format.js";
import { stageGraph } from "./graphs.js";

// Whether its jobs wait for the store, and not only what has expired.
export const isHindered = ({ trouble }) => trouble && trouble.blocksJobs !== false;

export function showWorkers(workers) {
  showList("worker-list", workers, (worker) => {
    const [state, className] = !worker.isAlive ? ["dead", "discarded"]
      : worker.stopping ? ["stopping", "retryable"] : ["alive", "completed"];
    return element("li", { key: worker.id },
      element("div", { className: "line" },
        title(`${worker.host}, process ${worker.pid}`),
        element("span", { className: `pill ${className}`, textContent: state })),
      quiet([`${worker.running} of ${worker.concurrency} running`, `up ${duration(since(worker.startedAt))}`,
        `version ${worker.version}`, worker.queues ? `queues ${worker.queues.join(", ")}` : "",
        worker.quietHours ? `quiet hours ${worker.quietHours}` : "", worker.timeZoneFault,
        worker.lacks?.length ? `cannot ${worker.lacks.join(", ").replaceAll(":", " ")}` : "",
      ].filter(Boolean).join(" · "), { title: absolute(worker.startedAt) }),
      worker.trouble ? element("p", { className: "failure",
        textContent: `It ${isHindered(worker) ? "waits for the store" : "cannot remove what has expired"} since ${
          clock(worker.trouble.since)}: ${worker.trouble.reason}` }) : "",
      worker.isAlive ? "" : element("p", { className: "failure",
        textContent: "It ended without a word; the others take over its jobs. Look at its log, and start it again." }),
      element("ul", {}, (worker.current ?? []).map((job) => element("li", { key: job.id },
        link(`#job/${job.id}`, nameOf(job.source), { title: job.source ?? "" }),
        ` for ${duration(since(job.since))}`))));
  });
}

const explanations = {
  wait: "from being due to being claimed", fetch: "the source", queue: "for a renderer", render: "all sizes",
  store: "the thumbnails",
};

export function showStages({ stages = [], throughput = [] }) {
  const longest = Math.max(...stages.map((stage) => stage.p95), 1);
  showList("stages", stages, ({ stage, p50, p95 }) => {
    const [typical, slow] = [element("i", { className: stage }), element("i", { className: `${stage} slow` })];
    typical.style.width = `${100 * p50 / longest}%`;
    slow.style.width = `${100 * (p95 - p50) / longest}%`;
    return element("li", { key: stage }, element("strong", { textContent: stage }),
      quiet(explanations[stage] ?? ""),
      element("span", { className: "figures", textContent: `${duration(p50)}, slowest 5 %: ${duration(p95)}` }),
      element("div", { className: "timing" }, typical, slow), stageGraph(stage));
  });
  show($("throughput"), throughput.map(({ minutes, completed, discarded, seconds }) => element("li", { key: minutes },
    quiet(minutes === 1 ? "last minute" : `last ${minutes} minutes`),
    element("strong", { textContent: rate((completed + discarded) / seconds) }),
    quiet(discarded ? count(discarded, "failure") : "no failures"))));
}
