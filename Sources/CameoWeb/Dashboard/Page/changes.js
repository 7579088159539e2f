// Changes that the token may allow, and what came of them.
import { $ } from "./elements.js";
import { count } from "./format.js";
import { refreshAll } from "./live.js";
import { post, withQuery } from "./server.js";

export function tell(problem) {
  $("trouble").hidden = !problem;
  $("trouble").textContent = problem?.message ?? "";
}

// Makes one change and says so. `done` may depend on what the server answers.
export async function act(done, work) {
  try {
    const answer = await work();
    $("notice").textContent = typeof done === "function" ? done(answer) : done;
    tell(null);
  } catch (problem) {
    $("notice").textContent = "";
    tell(problem);
  }
  refreshAll();
}

export const changeJob = (id, verb) =>
  act(`Job ${id}: ${verb === "retry" ? "will run again" : "cancelled"}.`, () => post(`jobs/${id}/${verb}`));

// The server changes all jobs that match, however many.
export async function changeAll(verb, filter, described) {
  if (!confirm(`${verb === "retry" ? "Retry" : "Cancel"} ${described}?`)) return;
  await act(({ changed }) => `${count(changed, "job")} ${verb === "retry" ? "will run again" : "cancelled"}.`,
    () => post(withQuery(`jobs/${verb}`, filter)));
}

// Thumbnails go, one selector after the other; returns whether the user wanted it.
export async function forget(selectors, described) {
  if (!confirm(`Forget ${described}? Nobody finds them from now on.`)) return false;
  await act((gone) => `${count(gone, "thumbnail")} forgotten.`, async () => {
    let gone = 0;
    for (const selector of selectors) gone += (await post("forget", selector)).thumbnails;
    document.dispatchEvent(new Event("forgotten"));
    return gone;
  });
  return true;
}
