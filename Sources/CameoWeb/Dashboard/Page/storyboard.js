// Plays a storyboard: the tiles of its sheet, as its WebVTT file gives them.
import { element } from "./elements.js";

const pace = 400;
const seconds = (text) => text.split(":").reduce((total, part) => total * 60 + Number(part), 0);

// The moments: [{ at, sheet, x, y, width, height }].
async function moments(url) {
  const response = await fetch(url);
  if (!response.ok) return [];
  const text = await response.text();
  return [...text.matchAll(/(\S+) --> \S+[^\n]*\n(.+)#xywh=(\d+),(\d+),(\d+),(\d+)/g)]
    .map(([, at, sheet, ...box]) => ({
      at: seconds(at), sheet: new URL(sheet, new URL(url, location.href)).href, box: box.map(Number),
    }));
}

export async function storyboard(url) {
  const all = await moments(url);
  if (!all.length) return null;
  const screen = element("div", { className: "screen", role: "img", ariaLabel: "Storyboard" });
  const bar = element("input", { type: "range", min: 0, max: all.length - 1, value: 0, ariaLabel: "Moment" });
  const time = element("span", { className: "quiet" });
  let timer = null;
  const showMoment = (index) => {
    const { at, sheet, box: [x, y, width, height] } = all[index];
    Object.assign(screen.style, {
      width: `${width}px`, height: `${height}px`, background: `url("${sheet}") -${x}px -${y}px`,
    });
    bar.value = index;
    time.textContent = `${Math.floor(at / 60)}:${String(Math.floor(at % 60)).padStart(2, "0")}`;
  };
  const stop = () => { clearInterval(timer); timer = null; button.textContent = "Play"; };
  const play = () => {
    button.textContent = "Pause";
    timer = setInterval(() => {
      if (!screen.isConnected) stop();
      else showMoment((Number(bar.value) + 1) % all.length);
    }, pace);
  };
  const button = element("button", { type: "button", onclick: () => (timer ? stop() : play()) });
  bar.addEventListener("input", () => { stop(); showMoment(Number(bar.value)); });
  showMoment(0);
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) stop();
  else play();
  return element("div", { className: "player" }, screen, element("div", { className: "line" }, button, bar, time));
}
