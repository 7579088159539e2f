// The states of jobs. A colour never stands alone: there is a word for it.
import { element } from "./elements.js";
import { number, sum } from "./format.js";

export const stateNames = ["scheduled", "available", "running", "retryable", "completed", "discarded", "cancelled"];

export const pill = (state) => element("span", { className: `pill ${state}`, textContent: state });

// Why a job failed, in red if that was its end.
export const reason = ({ code, message }, isEnd) =>
  element("p", { className: isEnd ? "failure" : "quiet" }, element("strong", { textContent: code }), ` ${message}`);

export function stateBar(jobs) {
  const total = sum(stateNames.map((state) => jobs[state])) || 1;
  const words = stateNames.filter((state) => jobs[state]).map((state) => `${number(jobs[state])} ${state}`).join(", ");
  return element("div", { className: "bar", role: "img", ariaLabel: words || "no jobs", title: words },
    stateNames.filter((state) => jobs[state]).map((state) => {
      const piece = element("i", { className: state, key: state });
      piece.style.flexGrow = jobs[state] / total;
      return piece;
    }));
}
