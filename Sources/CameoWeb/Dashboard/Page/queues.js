// Queues: their jobs by state, and pausing and limiting them.
import { act } from "./changes.js";
import { $, button, element, link, show, showList } from "./elements.js";
import { clock, duration, number, sum } from "./format.js";
import { access, post, withQuery } from "./server.js";
import { stateBar } from "./states.js";

const maximumShown = 50;
const pathOf = (name) => `queues/${encodeURIComponent(name)}`;
const unended = ["scheduled", "available", "running", "retryable"];
const busy = ({ jobs }) => sum(unended.map((state) => jobs[state]));

export function showQueues(queues, tenants = []) {
  // A store can have thousands.
  const busiest = [...queues].sort((one, other) => busy(other) - busy(one)).slice(0, maximumShown);
  showList("queue-list", busiest, (queue) => entry(queue, tenants.filter((tenant) => tenant.queue === queue.name)));
  const names = queues.slice(0, maximumShown).map(({ name }) => name);
  show($("queue-names"), names.map((name) => element("option", { key: name, value: name })));
  const more = queues.length - maximumShown;
  show($("more-queues"), more > 0 ? `${number(more)} more queues have no more to do than these.` : "");
}

function entry(queue, tenants) {
  const { name, jobs } = queue;
  const facts = [
    `${number(jobs.available + jobs.retryable)} waiting`,
    `${number(jobs.running)} ${queue.maxRunning ? `of ${number(queue.maxRunning)} ` : ""}running`,
    jobs.scheduled ? `${number(jobs.scheduled)} scheduled` : "",
    queue.oldestWaitingSeconds === undefined ? "" : `oldest waits ${duration(queue.oldestWaitingSeconds * 1000)}`,
    queue.rate ? `at most ${queue.rate}` : "",
    queue.opensAt ? `waits for quiet hours until ${new Date(queue.opensAt).toLocaleString()}` : "",
    `${number(jobs.completed)} completed`, `${number(jobs.discarded)} failed`,
  ].filter(Boolean).join(" · ");
  return element("li", { key: name },
    element("div", { className: "line" },
      link(withQuery("#jobs", { queue: name }), name, { className: "title" }),
      queue.background ? element("span", { className: "pill", textContent: "background" }) : "",
      queue.fair ? element("span", { className: "pill", textContent: "fair" }) : "",
      queue.paused ? element("span", { className: "pill paused", textContent: `paused${pausedSince(queue)}` }) : "",
      access.operate ? pauseButton(queue) : ""),
    stateBar(jobs), element("p", { className: "quiet", textContent: facts }), shares(tenants),
    access.operate ? limits(queue) : "");
}

// What the tenants of a fair queue have had in the last minute, and what they wait for.
function shares(tenants) {
  if (!tenants.length) return "";
  return element("ul", { className: "shares" }, tenants.map(({ tenant, queue, share, waiting, running, weight }) => {
    const part = `${Math.round((share ?? 0) * 100)} %`;
    const facts = [part, `${number(waiting)} waiting`, `${number(running)} running`, weight === 1 ? "" : `weight ${weight}`];
    return element("li", { key: tenant },
      link(withQuery("#jobs", { queue, tenant }), tenant),
      element("meter", { value: share ?? 0, ariaLabel: `Share of ${tenant} in queue ${queue}: ${part}` }),
      element("span", { className: "quiet", textContent: facts.filter(Boolean).join(" · ") }));
  }));
}

// In words, if the store knows.
export const pausedSince = ({ pausedAt }) => pausedAt ? ` since ${clock(pausedAt)}` : "";

export function changePause({ name, paused }) {
  const verb = paused ? "resume" : "pause";
  return act(`Queue ${name}: ${verb}d.`, () => post(`${pathOf(name)}/${verb}`));
}

function pauseButton(queue) {
  const label = queue.paused ? "Resume" : "Pause";
  return button(label, () => changePause(queue), { ariaLabel: `${label} queue ${queue.name}` });
}

function limits({ name, maxRunning, rate, fair }) {
  const share = () => act(`Queue ${name}: ${fair ? "by age" : "fair"}.`, () => post(`${pathOf(name)}/${fair ? "unfair" : "fair"}`));
  const set = (button) => {
    const [most, pace] = [...button.parentElement.querySelectorAll("input")].map((input) => input.value.trim());
    return act(`Queue ${name}: limits set.`, () => post(`${pathOf(name)}/limit`, {
      concurrency: most ? Number(most) : null, rate: pace || null,
    }));
  };
  return element("details", {}, element("summary", { textContent: "Limits", ariaLabel: `Limits of queue ${name}` }),
    element("div", { className: "line" }, "at most",
      element("input",
        { type: "number", min: 1, value: maxRunning ?? "", ariaLabel: `Most running jobs of queue ${name}` }),
      "running, starting at most",
      element("input", { value: rate ?? "", placeholder: "10/s", size: 6, ariaLabel: `Rate of queue ${name}` }),
      button("Set", set, { ariaLabel: `Set the limits of queue ${name}` }),
      button(fair ? "Order by age" : "Share fairly", share,
        { ariaLabel: `${fair ? "Order" : "Share"} queue ${name} ${fair ? "by age" : "between tenants"}` })));
}
