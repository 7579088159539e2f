// Pictures that are dropped, pasted or chosen become jobs, and their thumbnails take the place of their previews.
import { currentPage } from "./address.js";
import { $, element, link, show } from "./elements.js";
import { describe, idOf, orWords, picture } from "./pictures.js";
import { sourceOf } from "./format.js";
import { access, ask, withQuery } from "./server.js";

// A browser has few connections to a server, and the page needs some of them for itself.
const uploadsAtOnce = 2;
const checksAtOnce = 4;
const maximumShown = 60;
const queued = [];
const pending = [];
let uploading = 0;

function add(files) {
  if (!access.enqueue || !files.length) return;
  if (currentPage() !== "pictures") location.hash = "#pictures";
  unfold(true);
  for (const file of files) {
    const preview = element("img", { alt: `Preview of ${file.name}`, src: URL.createObjectURL(file) });
    const image = orWords(preview, "no preview");
    const note = element("small", { textContent: "waits to be uploaded…" });
    const item = element("li", { className: "pending" }, image, element("span", { textContent: file.name }), note);
    $("uploads").prepend(item);
    queued.push({ file, image, note, item });
  }
  while ($("uploads").children.length > maximumShown) $("uploads").lastChild.remove();
  uploadNext();
}

async function uploadNext() {
  if (uploading >= uploadsAtOnce || !queued.length) return;
  const upload = queued.shift();
  uploading += 1;
  uploadNext();
  try {
    upload.note.textContent = "uploading…";
    // Ahead of bulk work, as someone is looking: worth 20 minutes of waiting, like pictures on demand.
    const path = withQuery("jobs", {
      size: $("size").value, batch: $("upload-batch").value.trim(), priority: 20, name: upload.file.name,
    });
    const receipt = await ask(path, {
      method: "POST", body: upload.file, headers: { "Content-Type": upload.file.type || "application/octet-stream" },
    });
    upload.note.textContent = "making thumbnails…";
    // Without a job, the same thumbnails existed already.
    if (receipt.id) pending.push({ ...upload, job: receipt.id });
    else finish(upload, receipt);
  } catch (problem) {
    fail(upload, problem.message);
  }
  uploading -= 1;
  uploadNext();
}

// Jobs end in about the order in which they were enqueued, so the oldest are looked at first.
export async function refreshUploads() {
  for (const upload of pending.slice(0, checksAtOnce)) {
    const job = await ask(`jobs/${upload.job}`);
    if (!job.finalizedAt) continue;
    pending.splice(pending.indexOf(upload), 1);
    if (job.state === "completed") finish(upload, job);
    else fail(upload, job.failure?.message.replaceAll(sourceOf(job), upload.file.name) ?? `The job was ${job.state}.`);
  }
}

function finish({ file, image, item, job }, { thumbnails }) {
  item.className = "";
  show(item, thumbnails.map((thumbnail) =>
    element("a", { href: `#picture/${idOf(thumbnail.uri)}` },
      picture(thumbnail, file.name))),
    element("span", {}, job ? link(`#job/${job}`, file.name) : file.name),
    element("small", { textContent: thumbnails.map((one) => one.blob ? describe(one) : one.name).join("; ") }));
  URL.revokeObjectURL(image.src);
}

function fail({ note, item }, message) {
  item.className = "";
  note.textContent = message;
  note.className = "failure";
}

function unfold(isOpen) {
  $("upload-section").hidden = !isOpen;
  $("add").ariaExpanded = String(isOpen);
}

$("add").addEventListener("click", () => unfold($("upload-section").hidden));
$("file").addEventListener("change", (event) => { add(event.target.files); event.target.value = ""; });
$("upload").addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("paste", (event) => {
  if (event.clipboardData.files.length) { event.preventDefault(); add(event.clipboardData.files); }
});
document.addEventListener("dragover", (event) => { event.preventDefault(); $("drop").classList.add("over"); });
document.addEventListener("dragleave", () => $("drop").classList.remove("over"));
document.addEventListener("drop", (event) => {
  event.preventDefault();
  $("drop").classList.remove("over");
  add(event.dataTransfer.files);
});
