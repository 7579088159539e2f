// Pictures: endless grids of thumbnails, one of each job.
import { currentPage } from "./address.js";
import { $, element, quiet, showList } from "./elements.js";
import { bytes, count, nameOfJob } from "./format.js";
import { ask, withQuery } from "./server.js";

export function picture(thumbnail, name) {
  const image = element("img", {
    alt: `Thumbnail of ${name}`, loading: "lazy", src: thumbnail.blobURL ?? thumbnail.url,
    width: thumbnail.width ?? 1, height: thumbnail.height ?? 1,
  });
  if (thumbnail.placeholderURL) {
    image.style.background = `center / contain no-repeat url("${encodeURI(thumbnail.placeholderURL)}")`;
    image.onload = () => { image.style.background = ""; };
  }
  return orWords(image, "does not load");
}

// An image, and in its place words if there is none.
export function orWords(image, words) {
  image.onerror = () => image.replaceWith(quiet(words, { className: "quiet nothing" }));
  return image;
}

// It breaks between its parts, and not within them.
export const describe = ({ width, height, format, bytes: size }) =>
  `${width}\u00a0×\u00a0${height} ${format}, ${bytes(size)}`;

const tile = (job, thumbnail) => element("li", { key: job.id },
  element("a", { href: `#picture/${job.id}`, title: nameOfJob(job) }, picture(thumbnail, nameOfJob(job)),
    element("span", { textContent: nameOfJob(job) })),
  element("small", { textContent: describe(thumbnail) }));

export async function refreshRecent() {
  const { jobs } = await ask("jobs?state=completed&limit=12");
  const made = jobs.map((job) => [job, job.thumbnails.find((one) => one.blob)]).filter(([, thumbnail]) => thumbnail);
  showList("recent", made, ([job, thumbnail]) => tile(job, thumbnail));
}

const pageSize = 60;
// Sizes that have been seen, to choose from.
const sizes = new Set();

// A grid that loads older pictures as its end comes into view.
function pictureGrid(id, page, onCount) {
  const [list, end] = [$(id), $(`${id}-end`)];
  let filter = null;
  let size = "";
  let cursor = null;
  let loading = null;

  const query = (more) =>
    withQuery("jobs", { ...filter(), state: "completed", limit: size ? 200 : pageSize, ...more });

  function add(jobs) {
    for (const job of jobs) {
      for (const { name, blob } of job.thumbnails) if (blob) sizes.add(name);
      const thumbnail = job.thumbnails.find((one) => one.blob && (!size || one.name === size));
      if (!thumbnail) continue;
      // The newest first.
      const isLast = !(Number(list.lastChild?.dataset.key) <= job.id);
      const next = isLast ? null : [...list.children].find((one) => Number(one.dataset.key) <= job.id);
      if (Number(next?.dataset.key) !== job.id) list.insertBefore(tile(job, thumbnail), next);
    }
    $(`no-${id}`).hidden = list.children.length > 0 || cursor !== null;
    const shown = count(list.children.length, "picture");
    end.textContent = cursor ? "Loading…" : list.children.length > pageSize ? `That is all: ${shown}.` : "";
    document.dispatchEvent(new Event("pictures"));
    onCount(cursor ? `the newest ${shown}` : shown);
  }

  async function load(more) {
    const asked = filter;
    const answer = await ask(query(more));
    if (asked !== filter) return null;
    if (more || !list.children.length) cursor = answer.cursor;
    add(answer.jobs);
    return answer;
  }

  function loadOlder() {
    if (!cursor || loading) return loading;
    loading = load({ cursor }).finally(() => { loading = null; watch(); });
    return loading;
  }

  // Asks anew whether the end is in view: a page may not have filled it.
  const observer = new IntersectionObserver(([entry]) => {
    if (!entry.isIntersecting || currentPage() !== page) return;
    loadOlder()?.catch((problem) => { end.textContent = problem.message; });
  }, { rootMargin: "600px" });
  function watch() {
    observer.unobserve(end);
    observer.observe(end);
  }

  return {
    // Begins anew. `next` gives the query's fields, which may depend on the time.
    begin(next, chosenSize = "") {
      [filter, size, cursor] = [next, chosenSize, null];
      list.replaceChildren();
      end.textContent = "Loading…";
      $(`no-${id}`).hidden = true;
    },
    async refresh() {
      const isFirst = !list.children.length;
      // Nothing moves under whoever looks further down; new ones come when the page is back at its top.
      if (!filter || (!isFirst && list.getBoundingClientRect().top < -600)) return;
      const newest = Number(list.firstChild?.dataset.key);
      const answer = await load();
      // More new ones than a page has: what lies in between would be missing.
      if (answer?.cursor && !isFirst && answer.cursor > newest && !size) {
        list.replaceChildren();
        cursor = answer.cursor;
        add(answer.jobs);
      }
      if (isFirst) watch();
    },
    has: (job, step) => Boolean(beside(list, job, step)) || (step > 0 && cursor !== null && Boolean(tileOf(list, job))),
    async neighbour(job, step) {
      if (step > 0 && !beside(list, job, step)) await loadOlder();
      return beside(list, job, step);
    },
    focus: (job) => tileOf(list, job)?.querySelector("a").focus(),
  };
}

const tileOf = (list, job) => [...list.children].find((one) => Number(one.dataset.key) === job);

// The job of the tile before or after another's.
function beside(list, job, step) {
  const here = tileOf(list, job);
  const next = step > 0 ? here?.nextSibling : here?.previousSibling;
  return next && Number(next.dataset.key);
}

const all = pictureGrid("picture-list", "pictures", (words) => {
  $("pictures-count").textContent = words;
  showSizes();
});
const ofBatch = pictureGrid("batch-pictures", "batch", () => {});
const recent = {
  has: (job, step) => Boolean(beside($("recent"), job, step)),
  neighbour: async (job, step) => beside($("recent"), job, step),
  focus: (job) => tileOf($("recent"), job)?.querySelector("a").focus(),
};

// The grid on the page that is shown: what lies over it walks along it.
export const currentGrid = () => ({ overview: recent, batch: ofBatch })[currentPage()] ?? all;

export const refreshPictures = () => all.refresh();
export const refreshBatchPictures = () => ofBatch.refresh();
export const beginBatchPictures = (batch) => ofBatch.begin(() => ({ batch }));

const fields = ["source", "batch", "queue", "size", "age"];

function showSizes() {
  const chosen = $("picture-size").value;
  const known = [...$("picture-size").options].map((option) => option.value);
  $("picture-size").append(...[...sizes].filter((name) => !known.includes(name))
    .map((name) => element("option", { value: name, textContent: name })));
  $("picture-size").value = chosen;
}

// Follows a link such as #pictures?batch=album&size=256x256.
export function enterPictures(query) {
  const values = Object.fromEntries(fields.map((field) => [field, query.get(field) ?? ""]));
  if (values.size) sizes.add(values.size);
  showSizes();
  for (const field of fields) $(`picture-${field}`).value = values[field];
  const { source, batch, queue, size, age } = values;
  const since = () => age && new Date(Date.now() - age * 3600e3).toISOString();
  all.begin(() => ({ source, batch, queue, since: since() }), size);
}

function submit(event) {
  event.preventDefault();
  const values = fields.map((field) => [field, $(`picture-${field}`).value.trim()]);
  location.hash = withQuery("#pictures", Object.fromEntries(values));
}

$("picture-filter").addEventListener("submit", submit);
$("picture-filter").addEventListener("change", submit);
