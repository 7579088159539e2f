// Builds and updates what the page shows. Text from outside only ever becomes a text node or an attribute's value.

export const $ = (id) => document.getElementById(id);

const present = (children) =>
  children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== "");

// Creates an element. `properties` are those of the DOM (className, href, onclick…); `key` identifies it in its list.
export function element(name, { key, ...properties } = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  if (key !== undefined) made.dataset.key = key;
  made.append(...present(children));
  return made;
}

export const link = (href, textContent, properties) => element("a", { href, textContent, ...properties });
export const title = (textContent) => element("span", { className: "title", textContent });
export const quiet = (textContent, properties) => element("span", { className: "quiet", textContent, ...properties });

// Makes `parent` show `children`. What is there already is updated instead of replaced, so that focus, selection, open
// details and loaded pictures survive a refresh.
export function show(parent, ...children) {
  const fresh = new DocumentFragment();
  fresh.append(...present(children));
  updateChildren(parent, fresh);
}

const keyOf = (node) => node.dataset?.key;

function updateChildren(parent, fresh) {
  const wanted = [...fresh.childNodes];
  const keys = new Set(wanted.map(keyOf));
  const keyed = new Map();
  for (const child of [...parent.childNodes]) {
    if (!keys.has(keyOf(child))) child.remove();
    else if (keyOf(child) !== undefined) keyed.set(keyOf(child), child);
  }
  wanted.forEach((child, index) => {
    const current = parent.childNodes[index] ?? null;
    const key = keyOf(child);
    const old = key === undefined ? current : keyed.get(key);
    if (!old || old.nodeName !== child.nodeName || keyOf(old) !== key) {
      parent.insertBefore(child, current);
      return;
    }
    if (old !== current) parent.insertBefore(old, current);
    update(old, child);
  });
  while (parent.childNodes.length > wanted.length) parent.lastChild.remove();
}

function update(old, fresh) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  // A picture that has loaded is done with its placeholder.
  if (old.nodeName === "IMG" && old.getAttribute("src") === fresh.getAttribute("src")) return;
  for (const { name } of [...old.attributes]) {
    // Whether details are open is the reader's choice. The policy forbids style attributes as text.
    if (!fresh.hasAttribute(name) && name !== "open" && name !== "style") old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (name !== "style" && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  if (old.style.cssText !== fresh.style.cssText) old.style.cssText = fresh.style.cssText;
  old.onclick = fresh.onclick;
  updateChildren(old, fresh);
}

// A list's placeholder text is visible only while the list is empty.
export function showList(id, items, render) {
  show($(id), items.map(render));
  $(`no-${id}`).hidden = items.length > 0;
}

// A button for one change; it cannot be pressed again before the server has answered. The action is given the button on
// the page: elements made beside it may only have served to update those that are there.
export function button(label, act, properties = {}) {
  return element("button", {
    type: "button", textContent: label, ...properties,
    onclick: async ({ currentTarget }) => {
      if (currentTarget.ariaDisabled) return;
      currentTarget.ariaDisabled = "true";
      try { await act(currentTarget); } finally { currentTarget.ariaDisabled = null; }
    },
  });
}
