// Starts the page: which part refreshes how often, and who may see it.
import { followAddress, onOverlay, onPage, onPageChange, showCounts } from "./address.js";
import { enterBatch, refreshBatch, refreshBatches, showOlderBatches } from "./batches.js";
import { tell } from "./changes.js";
import { $ } from "./elements.js";
import { refreshFailures } from "./failures.js";
import { clock } from "./format.js";
import { drawGraphs } from "./graphs.js";
import { closeJob, openJob, refreshStory } from "./job.js";
import { filterBy, refreshJobs } from "./jobs.js";
import "./keys.js";
import { closePicture, openPicture } from "./lightbox.js";
import { part, refreshAll, start } from "./live.js";
import { redraw, refreshHistory, refreshStatus, reportedAt, showHealth } from "./overview.js";
import { enterPictures, refreshPictures, refreshRecent } from "./pictures.js";
import { access, learnAccess } from "./server.js";
import { showSignIn, signIn, signOut, tokenOfAddress } from "./sign-in.js";
import { refreshUploads } from "./upload.js";

// In milliseconds, while jobs change.
part(1000, refreshStatus);
part(500, refreshUploads);
part(1000, refreshStory);
part(30000, refreshHistory);
part(2000, refreshRecent, "overview");
part(2000, refreshPictures, "pictures");
part(2000, refreshJobs, "jobs");
part(3000, refreshFailures, "failures", "jobs");
part(3000, refreshBatches, "batches", "jobs", "pictures");
part(2000, refreshBatch, "batch");

onPage("pictures", (_, query) => enterPictures(query));
onPage("jobs", (_, query) => filterBy(query).catch(tell));
onPage("batch", enterBatch);
onOverlay("job", "jobs", (id) => openJob(id).catch(tell), closeJob);
onOverlay("picture", "pictures", openPicture, closePicture);
onPageChange(() => { redraw(); refreshAll(); });

function showTrouble(problem) {
  if (problem?.status === 401) { enter("This server does not know the token any more.").catch(tell); return; }
  // What stands on the page is old; it says how old.
  const at = problem && reportedAt();
  const numbers = at ? ` These numbers are of ${clock(at)}.` : "";
  tell(problem && new Error(`${problem.message.replace(/[.]?$/, ".")}${numbers}`));
  if (!problem) return;
  if (!problem.status) showHealth(false, "unreachable");
  if (at) [$("mode").textContent, $("mode").className] = [`as of ${clock(at)}`, "quiet"];
}

async function enter(reason) {
  await learnAccess();
  tell(null);
  showSignIn(!access.read, access.read ? "" : reason);
  $("add").hidden = !access.enqueue;
  if (!access.enqueue) $("upload-section").hidden = true;
  if (!access.read) return;
  showCounts({});
  followAddress();
  start((mode) => { $("mode").textContent = mode; $("mode").className = `quiet ${mode}`; }, showTrouble);
}

async function begin() {
  const token = tokenOfAddress();
  await enter(token && await signIn(token));
}

$("older-batches").addEventListener("click", () => showOlderBatches().catch(tell));
$("graph-queue").addEventListener("change", drawGraphs);
$("token-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const token = $("token").value.trim();
  $("token").value = "";
  await enter(await signIn(token)).catch(tell);
});
// Nothing that the token permitted to see stays on the page.
$("sign-out").addEventListener("click", () => signOut().then(() => location.reload(), tell));
window.addEventListener("hashchange", (event) => {
  if (location.hash.startsWith("#token=")) begin().catch(tell);
  else if (access.read) followAddress(event);
});
begin().catch((problem) => { $("top").hidden = false; showTrouble(problem); });
