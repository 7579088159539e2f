// Starts the page: which part refreshes how often, the address, and the token.
import { refreshBatches, showOlderBatches } from "./batches.js";
import { tell } from "./changes.js";
import { $ } from "./elements.js";
import { refreshFailures } from "./failures.js";
import { drawGraphs } from "./graphs.js";
import { closeJob, openJob, refreshStory } from "./job.js";
import { filterBy, refreshJobs } from "./jobs.js";
import { part, start } from "./live.js";
import { refreshHistory, refreshStatus, showHealth } from "./overview.js";
import { refreshRecent } from "./pictures.js";
import { access, keepToken, learnAccess } from "./server.js";
import { refreshUploads } from "./upload.js";

// In milliseconds, while jobs change.
part(1000, refreshStatus);
part(500, refreshUploads);
part(1000, refreshStory);
part(2000, refreshRecent);
part(2000, refreshJobs);
part(3000, refreshFailures);
part(3000, refreshBatches);
part(30000, refreshHistory);

async function enter() {
  await learnAccess();
  $("upload-section").hidden = !access.enqueue;
  $("access").open = !access.read;
  if (!access.read) showHealth(false, "access token required");
  start((mode) => { $("mode").textContent = mode; $("mode").className = `quiet ${mode}`; }, (problem) => {
    tell(problem);
    if (problem && !problem.status) showHealth(false, "unreachable");
  });
}

// #job/7 opens a job, #jobs?state=discarded filters the list.
function followAddress() {
  if (!access.read) return;
  const [place, query] = location.hash.slice(1).split("?");
  const job = place.match(/^job\/(\d+)$/);
  if (job) openJob(job[1]).catch(tell);
  else closeJob();
  if (place === "jobs") {
    filterBy(new URLSearchParams(query)).catch(tell);
    $("jobs").scrollIntoView();
  }
}

$("older-batches").addEventListener("click", () => showOlderBatches().catch(tell));
$("graph-queue").addEventListener("change", () => drawGraphs());
$("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  keepToken($("token").value.trim());
  $("token").value = "";
  enter().then(followAddress).catch(tell);
});
window.addEventListener("hashchange", followAddress);
enter().then(followAddress).catch(tell);
