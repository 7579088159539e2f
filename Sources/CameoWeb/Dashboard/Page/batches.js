// Batches: how far they are, and when they will be done.
import { $, element, link, quiet, show, showList } from "./elements.js";
import { duration, number } from "./format.js";
import { ask, withQuery } from "./server.js";
import { stateBar } from "./states.js";

let older = [];
let cursor = null;

export async function refreshBatches() {
  const page = await ask("batches?limit=8").catch((problem) => {
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

function showBatches(batches) {
  show($("batch-names"), batches.map(({ name }) => element("option", { key: name, value: name })));
  $("older-batches").hidden = cursor === null;
  showList("batches", batches, (batch) => {
    const failed = batch.failures.map((failure) => `${number(failure.count)} ${failure.code}`).join(", ");
    const left = batch.finished === batch.total ? "finished"
      : batch.secondsLeft === undefined ? "nothing ended during the last minute"
        : `done in about ${duration(batch.secondsLeft * 1000)}`;
    return element("li", { key: batch.name },
      element("div", { className: "line" },
        link(withQuery("#jobs", { batch: batch.name }), batch.name, { className: "title" }),
        quiet(`${number(batch.finished)} of ${number(batch.total)} · ${left}`)),
      stateBar(batch.jobs),
      failed ? element("p", { className: "failure", textContent: failed }) : "");
  });
}
