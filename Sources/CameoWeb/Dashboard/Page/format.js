// Numbers, times and names as a person reads them.

export const number = (value) => value.toLocaleString("en");
export const count = (value, noun) => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;
export const sum = (values) => values.reduce((total, value) => total + value, 0);

export function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) { value /= 1024; unit += 1; }
  return `${unit ? value.toFixed(1) : value}\u00a0${units[unit]}`;
}

export function rate(perSecond) {
  if (perSecond >= 10) return `${number(Math.round(perSecond))}/s`;
  if (perSecond >= 1) return `${perSecond.toFixed(1)}/s`;
  const perMinute = perSecond * 60;
  return `${perMinute >= 10 || perMinute === 0 ? Math.round(perMinute) : perMinute.toFixed(1)}/min`;
}

export function duration(milliseconds) {
  if (milliseconds === undefined || milliseconds === null || Number.isNaN(milliseconds)) return "–";
  if (milliseconds < 1000) return `${Math.max(0, Math.round(milliseconds))}\u00a0ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)}\u00a0s`;
  if (seconds < 120) return `${Math.round(seconds)}\u00a0s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)}\u00a0min`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)}\u00a0h`;
  return `${Math.round(seconds / 86400)}\u00a0days`;
}

// The server's clock decides how long ago something was; this machine's may be wrong.
let skew = 0;
export const setClock = (serverTime) => { skew = Date.parse(serverTime) - Date.now(); };
export const now = () => Date.now() + skew;
export const since = (time) => now() - Date.parse(time);
export const between = (from, to) => Date.parse(to) - Date.parse(from);
export const absolute = (time) =>
  new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });

// The time of day, with the date if it is not today's.
export function clock(time) {
  const date = new Date(time);
  const isToday = date.toDateString() === new Date(now()).toDateString();
  return date.toLocaleString(undefined, { ...(!isToday && { dateStyle: "medium" }), timeStyle: "medium" });
}

// The last part of a source's path, which is what people recognise.
export function nameOf(source) {
  if (typeof source !== "string") return "malformed request";
  if (source.startsWith("data:")) return "data: URI";
  const upload = source.match(/^cameo:\/\/blob\/sha256-([0-9a-f]{8})/);
  if (upload) return `upload ${upload[1]}`;
  const last = source.replace(/[?#].*$/, "").split("/").filter(Boolean).pop() ?? source;
  try { return decodeURIComponent(last); } catch { return last; }
}

// The request of a job that was refused may be no object.
export const sourceOf = (job) => job.request?.source;

// An upload has the name of its file, if that was told.
export const nameOfJob = (job) => {
  const name = job.request?.metadata?.name;
  return typeof name === "string" && name ? name : nameOf(sourceOf(job));
};
