// Batches: how far they are and when they will be done; and the page of one, with its pictures and what failed.
import { $, button, element, link, quiet, show, showList } from "./elements.js";
import { changeAll, forget } from "./changes.js";
import { reasonEntry } from "./failures.js";
import { duration, number } from "./format.js";
import { beginBatchPictures, refreshBatchPictures } from "./pictures.js";
import { access, ask, withQuery } from "./server.js";
import { stateBar, stateNames } from "./states.js";

let older = [];
let cursor = null;

export async function refreshBatches() {
  const page = await ask("batches?limit=20").catch((problem) => {
    if (problem.status === 404) return { batches: [] };
    throw problem;
  });
  if (!older.length) cursor = page.next ?? null;
  const names = new Set(page.batches.map((batch) => batch.name));
  showBatches([...page.batches, ...older.filter((batch) => !names.has(batch.name))]);
}

export async function showOlderBatches() {
  const page = await ask(withQuery("batches", { limit: 30, cursor }));
  cursor = page.next ?? null;
  older.push(...page.batches);
  await refreshBatches();
}

const progress = (batch) => `${number(batch.finished)} of ${number(batch.total)} · ${
  batch.finished === batch.total ? "finished"
    : batch.secondsLeft === undefined ? (batch.jobs.running ? "nothing ended during the last minute" : "none is running")
      : `done in about ${duration(batch.secondsLeft * 1000)}`}`;

function showBatches(batches) {
  show($("batch-names"), batches.map(({ name }) => element("option", { key: name, value: name })));
  $("older-batches").hidden = cursor === null;
  showList("batch-list", batches, (batch) => {
    const failed = batch.failures.map((failure) => `${number(failure.count)} ${failure.code}`).join(", ");
    return element("li", { key: batch.name },
      element("div", { className: "line" },
        link(`#batch/${encodeURIComponent(batch.name)}`, batch.name, { className: "title" }), quiet(progress(batch))),
      stateBar(batch.jobs),
      failed ? element("p", { className: "failure", textContent: failed }) : "");
  });
}

let open = null;

export function enterBatch(name) {
  open = name;
  show($("batch-heading"), name);
  show($("batch-facts"));
  beginBatchPictures(name);
}

export async function refreshBatch() {
  const name = open;
  const path = `batches/${encodeURIComponent(name)}`;
  const download = link(`${path}?as=zip`, "Download ZIP", { download: "" });
  const batch = await ask(path).catch((problem) => {
    if (problem.status === 404) return null;
    throw problem;
  });
  if (open !== name) return;
  await refreshBatchPictures();
  const hasPictures = $("batch-pictures").children.length > 0;
  if (!batch) {
    const words = hasPictures ? "The jobs of this batch were removed." : "There is no such batch.";
    return show($("batch-facts"), element("div", { className: "line" }, quiet(words), hasPictures ? download : ""));
  }
  show($("batch-facts"),
    element("div", { className: "line" }, element("span", { textContent: progress(batch) }),
      element("span", { className: "buttons" },
        hasPictures ? download : "",
        button("Print", () => print(), { ariaLabel: "Print a contact sheet" }),
        access.operate && batch.jobs.discarded ? button(`Retry ${number(batch.jobs.discarded)} failed`, () =>
          changeAll("retry", { state: "discarded", batch: name }, `what failed of ${name}`)) : "",
        access.operate && batch.finished < batch.total ? button("Cancel the rest", () =>
          changeAll("cancel", { batch: name }, `what has not ended of ${name}`)) : "",
        access.operate && hasPictures ? button("Forget", () =>
          forget([{ batch: name }], `the thumbnails of ${name} that are of no other batch`)) : "")),
    stateBar(batch.jobs),
    element("p", { className: "legend" }, stateNames.filter((state) => batch.jobs[state]).map((state) =>
      link(withQuery("#jobs", { batch: name, state }), `${number(batch.jobs[state])} ${state}`,
        { key: state, className: `name ${state}` }))),
    element("ul", { className: "entries" }, batch.failures.map((failure) =>
      reasonEntry(failure.code, failure.count, { batch: name }))));
}
