// One picture, large: all renditions of its source side by side, beside the original, with what to copy.
import { leaveOverlay, replaceAddress } from "./address.js";
import { forget } from "./changes.js";
import { $, button, element, link, quiet, show } from "./elements.js";
import { absolute, bytes, count } from "./format.js";
import { askThumbnails, currentGrid, describe, orWords, picture } from "./pictures.js";
import { access, withQuery } from "./server.js";
import { storyboard } from "./storyboard.js";

let open = null;
// What is known of the thumbnails of the source, and its name.
let made = [];
let name = "";
let chosen = null;
// Whether the original is shown beside the thumbnail.
let isCompared = false;

export async function openPicture(id) {
  open = id;
  if (!$("lightbox").open) $("lightbox").showModal();
  showArrows();
  $("lightbox-notice").textContent = "";
  try {
    const { pictures } = await askThumbnails({ beside: id, limit: 200 });
    if (!pictures.length) throw new Error("There is no such thumbnail, or not any more.");
    if (open !== id) return;
    made = pictures.sort((one, other) => other.thumbnail.width - one.thumbnail.width);
    ({ name } = made[0]);
    choose(made[0]);
  } catch (problem) {
    if (open !== id) return;
    show($("lightbox-title"), "Picture");
    show($("lightbox-view"), element("p", { className: "failure", textContent: problem.message }));
    show($("lightbox-body"));
  }
}

// The grid beneath may come later, and may have an older picture to load.
function showArrows() {
  if (open === null) return;
  for (const [name, step] of [["previous", -1], ["next", 1]]) {
    $(`lightbox-${name}`).disabled = !currentGrid().has(open, step);
  }
}

export const closePicture = () => $("lightbox").close();

async function step(by) {
  const next = open && await currentGrid().neighbour(open, by);
  if (next) replaceAddress(`#picture/${next}`);
}

// The path of the original on this server; nothing if the store does not keep it.
function original() {
  const { source } = made[0];
  const upload = source.match(/^cameo:\/\/(blob\/sha256-[0-9a-f]{64})$/);
  return upload?.[1] ?? (/^https?:/.test(source) ? `source/${encodeURIComponent(source)}` : null);
}

function choose(which) {
  chosen = which;
  if (!original()) isCompared = false;
  show($("lightbox-title"), name);
  $("lightbox-title").title = which.source;
  const { thumbnail } = which;
  const image = picture(thumbnail, `${name}, ${thumbnail.name}`);
  image.loading = "eager";
  $("lightbox-view").replaceChildren(...(isCompared ? [originalOf()] : []), image);
  if (which.rendition.storyboard) {
    storyboard(`${new URL(thumbnail.url, location.href).pathname}.vtt`).then((player) => {
      if (player && chosen === which) image.replaceWith(player);
    }, () => {});
  }
  show($("lightbox-body"), element("ul", { className: "renditions" }, cards()), copying(thumbnail), facts());
}

// What was fetched may have left the cache.
const originalOf = () => orWords(element("img", { src: original(), alt: `Original of ${name}` }),
  "The store does not keep the original any more.");

function cards() {
  const { thumbnail: { source }, sourceBytes: read } = made[0];
  const card = (key, title, words, image, isPressed, act) => element("li", { key },
    act ? button("", act, { ariaPressed: String(isPressed), ariaLabel: `Show ${title}` }) : "",
    image, element("strong", { textContent: title }), element("small", { textContent: words }));
  const cardOf = (facts) => {
    const { thumbnail: one, sourceBytes } = facts;
    const words = `${describe(one)}${sourceBytes ? `, ${percent(one.bytes / sourceBytes)} of the original` : ""}`;
    return card(one.uri, one.name, words, picture(one, `${name}, ${one.name}`), chosen === facts, () => choose(facts));
  };
  const words = `${source.width}\u00a0×\u00a0${source.height} ${source.format}${read ? `, ${bytes(read)}` : ""}`;
  const first = original()
    ? card("original", "Original", words, "", isCompared, () => { isCompared = !isCompared; choose(chosen); })
    : card("original", "Original", `${words}; the store does not keep it`, "");
  return [first, ...made.map(cardOf)];
}

const percent = (part) => `${part < 0.0995 ? (100 * part).toFixed(1) : Math.round(100 * part)}\u00a0%`;
const absoluteURL = (thumbnail) => new URL(thumbnail.url, location.href).href;

// All renditions of the same shape and format, for the browser to choose from, as the page "Show it in your page" has it.
function markup(which) {
  const isAlike = (one) => one.format === which.format
    && Math.abs(one.width / one.height - which.width / which.height) < 0.02 * which.width / which.height;
  const widths = new Map(made.map(({ thumbnail }) => thumbnail).filter(isAlike).map((one) => [one.width, one]));
  const set = [...widths.values()].sort((one, other) => one.width - other.width)
    .map((one) => `${absoluteURL(one)} ${one.width}w`).join(", ");
  const several = { srcset: set, sizes: `(max-width: ${which.width}px) 100vw, ${which.width}px` };
  // It would shine through transparent parts.
  const placeholder = which.hasAlpha !== false ? ""
    : `; background: ${which.dominantColor} url(${new URL(which.placeholderURL, location.href).href}) 0 0 / 100% 100%`;
  const attributes = {
    src: absoluteURL(which), ...(widths.size > 1 ? several : {}), width: which.width, height: which.height,
    loading: "lazy", alt: "", style: `max-width: 100%; height: auto${placeholder}`,
  };
  // Not of an element, which would load it.
  return `<img ${Object.entries(attributes).map(([name, value]) => `${name}="${value}"`).join(" ")}>`;
}

function copying(which) {
  return element("p", { className: "line copying", key: "copy" }, [
    ["Copy URI", which.uri], ["Copy URL", absoluteURL(which)], ["Copy <img>", markup(which)],
  ].map(([label, text]) => button(label, () => copy(text), { title: text })),
  access.operate ? button(made.length > 1 ? "Forget all" : "Forget", forgetAll) : "");
}

async function forgetAll() {
  const uris = made.map(({ thumbnail }) => ({ uri: thumbnail.uri }));
  if (await forget(uris, `${count(uris.length, "thumbnail")} of ${name}`)) closePicture();
}

// A job is named for as long as it is kept.
const facts = () => element("p", { className: "quiet", key: "facts" },
  `Made ${absolute(chosen.updatedAt)}`, chosen.job ? [" by ", link(`#job/${chosen.job}`, `job ${chosen.job}`)] : "",
  [...new Set(made.flatMap(({ labels }) => labels))].map((label, place) =>
    [place ? ", " : ", labels ", link(withQuery("#pictures", { label }), label)]),
  element("br"), chosen.source,
  element("br"), `SHA-256 ${chosen.sourceDigest}, ${taken(chosen)}`);

const taken = ({ takenAt, camera }) => `taken ${takenAt ?? "at an unknown time"}${camera ? ` with ${camera}` : ""}`;

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without TLS, a page has no clipboard but this one.
    const field = element("textarea", { value: text });
    $("lightbox").append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  $("lightbox-notice").textContent = `Copied ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`;
}

document.addEventListener("pictures", showArrows);
$("lightbox-previous").addEventListener("click", () => step(-1));
$("lightbox-next").addEventListener("click", () => step(1));
$("lightbox-close").addEventListener("click", closePicture);
$("lightbox").addEventListener("keydown", (event) => {
  if (event.target.matches("input")) return;
  if (event.key === "ArrowLeft") step(-1);
  if (event.key === "ArrowRight") step(1);
});
$("lightbox").addEventListener("close", () => {
  const last = open;
  open = null;
  if (location.hash === `#picture/${last}`) leaveOverlay();
  $("lightbox-view").replaceChildren();
  currentGrid().focus(last);
});
