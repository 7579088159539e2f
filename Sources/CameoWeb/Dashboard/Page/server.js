// Asks the server. The browser sends along the cookie of whoever has signed in.

// What the token permits; the page shows only that.
export let access = {};
let asking;
export async function learnAccess() {
  const mine = asking = ask("access");
  const answer = await mine;
  // The answer for a token that has been replaced meanwhile may come last.
  if (mine === asking) access = answer;
}

// Adds the fields that have a value.
export function withQuery(path, fields) {
  const query = new URLSearchParams(Object.entries(fields).filter(([, value]) => value));
  return query.size ? `${path}?${query}` : path;
}

// An upload may take long; nothing else may keep its part of the page waiting for ever.
const patience = 30000;

export async function ask(path, options = {}) {
  const response = await fetch(path, {
    ...(options.method !== "POST" && { signal: AbortSignal.timeout(patience) }), ...options, cache: "no-store",
  }).catch(() => { throw new Error("The server does not answer."); });
  // A proxy's error page is no JSON.
  const body = await response.json().catch(() => ({}));
  if (response.ok) return body;
  throw Object.assign(new Error(body.detail ?? `the server answered ${response.status}`), { status: response.status });
}

export const post = (path, body) => ask(path, {
  method: "POST",
  ...(body && { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
});

// Reads server-sent events until the stream ends. An EventSource would not tell why there are none.
export async function follow(path, signal, onOpen, onEvent) {
  const response = await fetch(path, { headers: { Accept: "text/event-stream" }, cache: "no-store", signal });
  if (!response.ok) throw Object.assign(new Error("no events"), { status: response.status });
  onOpen();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (text + value).split("\n");
    text = lines.pop();
    for (const line of lines) if (line === "event: job" || line === "event: gap") onEvent();
  }
}
