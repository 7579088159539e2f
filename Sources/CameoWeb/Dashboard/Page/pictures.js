// Pictures: endless grids of thumbnails, one of each source, whatever became of the jobs that made them.
import { currentPage } from "./address.js";
import { $, element, quiet, showList } from "./elements.js";
import { bytes, count, nameOf, nameOfJob } from "./format.js";
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

export const idOf = (uri) => uri.split("/").pop();

// An upload's name is known by its job, for as long as that is kept.
const uploads = new Map();
function nameOfPicture({ source, job }) {
  if (!job || !source.startsWith("cameo://blob/")) return nameOf(source);
  if (!uploads.has(job)) uploads.set(job, ask(`jobs/${job}`).then(nameOfJob, () => nameOf(source)));
  return uploads.get(job);
}

// Thumbnails with what is known of them, a name, and paths on this server. Looking at them here is no use of them.
export async function askThumbnails(query) {
  const { thumbnails, next } = await ask(withQuery("thumbs", query));
  const served = async ({ thumbnail, ...facts }) => ({ ...facts, name: await nameOfPicture(facts), thumbnail: {
    ...thumbnail, url: `thumb/${idOf(thumbnail.uri)}`, blobURL: `blob/${idOf(thumbnail.blob)}?look`,
    placeholderURL: `placeholder/${idOf(thumbnail.uri)}`,
  } });
  return { pictures: await Promise.all(thumbnails.map(served)), next };
}

const tile = ({ source, name, thumbnail }) => element("li", { key: source },
  element("a", { href: `#picture/${idOf(thumbnail.uri)}`, title: name }, picture(thumbnail, name),
    element("span", { textContent: name })),
  element("small", { textContent: describe(thumbnail) }));

export async function refreshRecent() {
  const { pictures } = await askThumbnails({ each: "source", limit: 12 });
  showList("recent", pictures, tile);
}

const pageSize = 60;

// A grid that loads more pictures as its end comes into view.
function pictureGrid(id, page, onCount) {
  const [list, end] = [$(id), $(`${id}-end`)];
  let filter = null;
  let cursor = null;
  let loading = null;

  // What is shown stays in its place when it is used.
  function add(pictures, isMore) {
    const shown = new Set([...list.children].map((one) => one.dataset.key));
    const tiles = pictures.filter(({ source }) => !shown.has(source)).map(tile);
    if (isMore) list.append(...tiles); else list.prepend(...tiles);
    $(`no-${id}`).hidden = list.children.length > 0 || cursor !== null;
    const words = count(list.children.length, "picture");
    end.textContent = cursor ? "Loading…" : list.children.length > pageSize ? `That is all: ${words}.` : "";
    document.dispatchEvent(new Event("pictures"));
    onCount(cursor ? `the last used ${words}` : words);
  }

  async function load(more) {
    const asked = filter;
    const { pictures, next = null } = await askThumbnails({ ...filter(), each: "source", limit: pageSize, ...more });
    if (asked !== filter) return;
    const isKnown = ({ source }) => [...list.children].some((one) => one.dataset.key === source);
    // More new ones than a page has: what lies in between would be missing.
    if (!more && next && !pictures.some(isKnown)) list.replaceChildren();
    if (more || !list.children.length) cursor = next;
    add(pictures, Boolean(more));
  }

  function loadMore() {
    if (!cursor || loading) return loading;
    loading = load({ cursor }).finally(() => { loading = null; watch(); });
    return loading;
  }

  // Asks anew whether the end is in view: a page may not have filled it.
  const observer = new IntersectionObserver(([entry]) => {
    if (!entry.isIntersecting || currentPage() !== page) return;
    loadMore()?.catch((problem) => { end.textContent = problem.message; });
  }, { rootMargin: "600px" });
  function watch() {
    observer.unobserve(end);
    observer.observe(end);
  }

  function begin(next) {
    [filter, cursor] = [next, null];
    list.replaceChildren();
    end.textContent = "Loading…";
    $(`no-${id}`).hidden = true;
  }
  // Some of what is shown may be gone.
  document.addEventListener("forgotten", () => { if (filter) begin(filter); });

  return {
    // Begins anew. `next` gives the query's fields, which may depend on the time.
    begin,
    async refresh() {
      const isFirst = !list.children.length;
      // Nothing moves under whoever looks further down; new ones come when the page is back at its top.
      if (!filter || (!isFirst && list.getBoundingClientRect().top < -600)) return;
      await load();
      if (isFirst) watch();
    },
    has: (id, step) => Boolean(beside(list, id, step)) || (step > 0 && cursor !== null && Boolean(tileOf(list, id))),
    async neighbour(id, step) {
      if (step > 0 && !beside(list, id, step)) await loadMore();
      return beside(list, id, step);
    },
    focus: (id) => tileOf(list, id)?.querySelector("a").focus(),
  };
}

const idOfTile = (one) => one.querySelector("a").hash.split("/").pop();
const tileOf = (list, id) => [...list.children].find((one) => idOfTile(one) === id);

// The thumbnail of the tile before or after another's.
function beside(list, id, step) {
  const here = tileOf(list, id);
  const next = step > 0 ? here?.nextSibling : here?.previousSibling;
  return next && idOfTile(next);
}

const all = pictureGrid("picture-list", "pictures", (words) => { $("pictures-count").textContent = words; });
const ofBatch = pictureGrid("batch-pictures", "batch", () => {});
const recent = {
  has: (id, step) => Boolean(beside($("recent"), id, step)),
  neighbour: async (id, step) => beside($("recent"), id, step),
  focus: (id) => tileOf($("recent"), id)?.querySelector("a").focus(),
};

// The grid on the page that is shown: what lies over it walks along it.
export const currentGrid = () => ({ overview: recent, batch: ofBatch })[currentPage()] ?? all;

export const refreshPictures = () => all.refresh();
export const refreshBatchPictures = () => ofBatch.refresh();
export const beginBatchPictures = (batch) => ofBatch.begin(() => ({ batch }));

const fields = ["search", "label", "batch", "age"];

// Follows a link such as #pictures?label=user:42.
export function enterPictures(query) {
  const values = Object.fromEntries(fields.map((field) => [field, query.get(field) ?? ""]));
  for (const field of fields) $(`picture-${field}`).value = values[field];
  const { search, label, batch, age } = values;
  const since = () => age && new Date(Date.now() - age * 3600e3).toISOString();
  $("no-picture-list").textContent = search || label || batch || age ? "No picture matches." : "No pictures here yet.";
  all.begin(() => ({ search, label, batch, since: since() }));
}

function submit(event) {
  event.preventDefault();
  const values = fields.map((field) => [field, $(`picture-${field}`).value.trim()]);
  location.hash = withQuery("#pictures", Object.fromEntries(values));
}

$("picture-filter").addEventListener("submit", submit);
$("picture-filter").addEventListener("change", submit);
