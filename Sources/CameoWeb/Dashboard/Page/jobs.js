// The list of jobs: filtered and paged by the server, which also changes all that match.
import { $, button, element, link, quiet, show, showList } from "./elements.js";
import { act, changeAll, changeJob } from "./changes.js";
import { absolute, between, count, duration, nameOfJob, since, sourceOf } from "./format.js";
import { access, ask, post, withQuery } from "./server.js";
import { pill, reason, stateNames } from "./states.js";

const pageSize = 25;
const fields = ["source", "batch", "label", "state", "queue", "concurrencyKey", "tenant", "code", "since"];
let filter = {};
let jobs = [];
let cursor = null;
// Once older pages are shown, the list stands still: newer jobs would move what is being read.
let isPaged = false;
// What all jobs that match can become.
let possible = [];
let selected = new Set();

export async function refreshJobs() {
  const asked = filter;
  possible = await possibleChanges(asked);
  if (isPaged) return showJobs();
  const page = await ask(withQuery("jobs", { ...asked, limit: pageSize }));
  if (asked !== filter || isPaged) return;
  ({ jobs, cursor } = page);
  showJobs();
}

const changeable = { retry: ["discarded", "cancelled"], cancel: ["scheduled", "available", "running", "retryable"] };
const verbOf = (state) => Object.keys(changeable).find((verb) => changeable[verb].includes(state));
const words = { retry: "Retry", cancel: "Cancel" };

// The server is asked for one job of each kind, as the list may show none of them.
async function possibleChanges(asked) {
  if (!access.operate || !Object.values(asked).some(Boolean)) return [];
  if (asked.state) return [verbOf(asked.state)].filter(Boolean);
  const found = await Promise.all(Object.entries(changeable).map(async ([verb, states]) => {
    const state = verb === "retry" ? "discarded" : states.join();
    return (await ask(withQuery("jobs", { ...asked, state, limit: 1 }))).jobs.length ? verb : null;
  }));
  return found.filter(Boolean);
}

async function showOlder() {
  const asked = filter;
  const page = await ask(withQuery("jobs", { ...asked, limit: pageSize, cursor }));
  if (asked !== filter) return;
  isPaged = true;
  jobs = jobs.concat(page.jobs);
  cursor = page.cursor;
  showJobs();
}

function showJobs() {
  showList("job-list", jobs, entry);
  showActions();
  show($("job-pages"),
    cursor ? button("Older jobs", showOlder) : "",
    isPaged ? button("Back to the newest", () => apply(filter)) : "");
}

function showActions() {
  const given = Object.entries(filter).filter(([, value]) => value);
  const described = `all jobs with ${given.map(([name, value]) => `${name} ${value}`).join(", ")}`;
  const chosen = jobs.filter(({ id, state }) => selected.has(id) && verbOf(state));
  show($("job-actions"),
    Object.keys(changeable).map((verb) => [verb, chosen.filter(({ state }) => verbOf(state) === verb)])
      .filter(([, some]) => some.length).map(([verb, some]) =>
        button(`${words[verb]} ${some.length} selected`, () => changeSelected(verb, some), { key: `${verb} some` })),
    chosen.length ? button("Select none", () => select([]), { key: "none" })
      : access.operate && jobs.some(({ state }) => verbOf(state))
        ? button("Select all shown", () => select(jobs.filter(({ state }) => verbOf(state))), { key: "all" }) : "",
    possible.map((verb) =>
      button(`${words[verb]} all that match`, () => changeAll(verb, filter, described), { key: verb })));
}

function select(some) {
  selected = new Set(some.map(({ id }) => id));
  for (const box of document.querySelectorAll("#job-list input")) box.checked = selected.has(Number(box.value));
  showActions();
}

function changeSelected(verb, chosen) {
  select([]);
  return act(`${count(chosen.length, "job")} ${verb === "retry" ? "will run again" : "cancelled"}.`, async () => {
    for (const { id } of chosen) await post(`jobs/${id}/${verb}`);
  });
}

function box(job) {
  const made = element("input", {
    type: "checkbox", value: job.id, ariaLabel: `Select job ${job.id}`, disabled: !verbOf(job.state),
    onclick: ({ currentTarget }) => {
      if (currentTarget.checked) selected.add(job.id); else selected.delete(job.id);
      showActions();
    },
  });
  made.checked = selected.has(job.id);
  return made;
}

function entry(job) {
  const source = sourceOf(job);
  const facts = [
    job.queue === "default" ? "" : `queue ${job.queue}`, job.batch ? `batch ${job.batch}` : "",
    job.attempt > 1 ? `attempt ${job.attempt}` : "", `${duration(since(job.createdAt))}\u00a0ago`,
    job.finalizedAt ? `took ${duration(between(job.createdAt, job.finalizedAt))}` : "",
    job.finalizedAt && job.attemptedAt ? `ran ${duration(between(job.attemptedAt, job.finalizedAt))}` : "",
  ].filter(Boolean).join(" · ");
  return element("li", { key: job.id },
    element("span", { className: "line state" }, access.operate ? box(job) : "", pill(job.state)),
    element("div", { className: "what" },
      link(`#job/${job.id}`, nameOfJob(job), { className: "title", title: source ?? "" }),
      job.failure ? reason(job.failure, job.state === "discarded") : ""),
    quiet(facts, { title: absolute(job.createdAt) }),
    changes(job));
}

// The buttons for one job, where the token allows any.
export function changes(job) {
  const verb = verbOf(job.state);
  if (!access.operate || !verb) return "";
  return button(words[verb], () => changeJob(job.id, verb), { ariaLabel: `${words[verb]} job ${job.id}` });
}

function apply(next) {
  [filter, isPaged, possible, selected] = [next, false, [], new Set()];
  return refreshJobs();
}

// Follows a link such as #jobs?state=discarded.
export function filterBy(query) {
  const values = Object.fromEntries(fields.map((field) => [field, query.get(field) ?? ""]));
  for (const field of fields) {
    $(`filter-${field}`).value = field === "since" ? local(values.since) : values[field];
  }
  return apply(values);
}

const local = (time) => {
  if (!time) return "";
  const date = new Date(time);
  return new Date(date - date.getTimezoneOffset() * 60e3).toISOString().slice(0, 16);
};

// The filter is in the address, so that a list can be bookmarked and gone back to.
function submit(event) {
  event?.preventDefault();
  const values = Object.fromEntries(fields.map((field) => [field, $(`filter-${field}`).value.trim()]));
  if (values.since) values.since = new Date(values.since).toISOString();
  // A number is a job's id.
  if (/^\d+$/.test(values.source)) location.hash = `#job/${values.source}`;
  else location.hash = withQuery("#jobs", values);
}

$("filter").addEventListener("submit", submit);
$("filter").addEventListener("change", submit);
$("filter-state").append(...stateNames.map((state) => element("option", { value: state, textContent: state })));
