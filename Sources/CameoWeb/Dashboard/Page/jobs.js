// The list of jobs: filtered and paged by the server, which also changes all that match.
import { $, button, element, link, quiet, show, showList } from "./elements.js";
import { changeAll, changeJob } from "./changes.js";
import { absolute, between, duration, nameOf, since, sourceOf } from "./format.js";
import { access, ask, withQuery } from "./server.js";
import { isFinal, pill, reason, stateNames } from "./states.js";

const pageSize = 25;
const fields = ["source", "batch", "state", "queue", "code", "since"];
let filter = {};
let jobs = [];
let cursor = null;
// Once older pages are shown, the list stands still: newer jobs would move what is being read.
let isPaged = false;

export async function refreshJobs() {
  if (isPaged) return;
  const asked = filter;
  const page = await ask(withQuery("jobs", { ...asked, limit: pageSize }));
  if (asked !== filter || isPaged) return;
  ({ jobs, cursor } = page);
  showJobs();
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
  const given = Object.entries(filter).filter(([, value]) => value);
  const isFiltered = given.length > 0;
  const described = `all jobs with ${given.map(([name, value]) => `${name} ${value}`).join(", ")}`;
  show($("job-actions"),
    cursor ? button("Older jobs", showOlder) : "",
    isPaged ? button("Back to the newest", () => apply(filter)) : "",
    access.operate && isFiltered ? button("Retry all that match", () => changeAll("retry", filter, described)) : "",
    access.operate && isFiltered ? button("Cancel all that match", () => changeAll("cancel", filter, described)) : "");
}

function entry(job) {
  const source = sourceOf(job);
  const facts = [
    job.queue === "default" ? "" : `queue ${job.queue}`, job.batch ? `batch ${job.batch}` : "",
    job.attempt > 1 ? `attempt ${job.attempt}` : "", `${duration(since(job.createdAt))}\u00a0ago`,
    job.finalizedAt ? `took ${duration(between(job.createdAt, job.finalizedAt))}` : "",
    job.finalizedAt && job.attemptedAt ? `ran ${duration(between(job.attemptedAt, job.finalizedAt))}` : "",
  ].filter(Boolean).join(" · ");
  return element("li", { key: job.id }, pill(job.state),
    element("div", { className: "what" },
      link(`#job/${job.id}`, nameOf(source), { className: "title", title: source ?? "" }),
      job.failure ? reason(job.failure, job.state === "discarded") : ""),
    quiet(facts, { title: absolute(job.createdAt) }),
    changes(job));
}

// The buttons for one job, where the token allows any.
export function changes(job) {
  if (!access.operate) return "";
  const verb = ["discarded", "cancelled"].includes(job.state) ? "retry" : isFinal(job.state) ? null : "cancel";
  if (!verb) return "";
  return button(verb === "retry" ? "Retry" : "Cancel", () => changeJob(job.id, verb),
    { ariaLabel: `${verb === "retry" ? "Retry" : "Cancel"} job ${job.id}` });
}

function apply(next) {
  filter = next;
  isPaged = false;
  return refreshJobs();
}

export const listAddress = () => withQuery("#jobs", filter);

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
