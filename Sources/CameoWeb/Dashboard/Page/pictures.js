// Thumbnails as pictures, and the newest of them.
import { element, showList } from "./elements.js";
import { bytes, nameOf, sourceOf } from "./format.js";
import { ask } from "./server.js";

export function picture(thumbnail, name) {
  const image = element("img", {
    alt: `Thumbnail of ${name}`, loading: "lazy", src: thumbnail.blobURL ?? thumbnail.url,
    width: thumbnail.width ?? 1, height: thumbnail.height ?? 1,
  });
  if (thumbnail.placeholderURL) {
    image.style.background = `center / contain no-repeat url("${encodeURI(thumbnail.placeholderURL)}")`;
    image.onload = () => { image.style.background = ""; };
  }
  return image;
}

export const describe = ({ width, height, format, bytes: size }) =>
  `${width}\u00a0×\u00a0${height}\u00a0${format}, ${bytes(size)}`;

export async function refreshRecent() {
  const { jobs } = await ask("jobs?state=completed&limit=24");
  const made = jobs.map((job) => [job, job.thumbnails.find((one) => one.blob)]).filter(([, thumbnail]) => thumbnail);
  showList("recent", made, ([job, thumbnail]) => {
    const name = nameOf(sourceOf(job));
    return element("li", { key: `${job.id} ${thumbnail.blob}` },
      element("a", { href: `#job/${job.id}` }, picture(thumbnail, name),
        element("span", { textContent: name, title: name })),
      element("small", { textContent: describe(thumbnail) }));
  });
}
