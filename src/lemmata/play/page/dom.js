// Small helpers: elements by id, elements by construction, text that cannot become markup.

export const $ = (id) => document.getElementById(id);

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes, children);
  return element;
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
}

export function later(milliseconds, act) {
  // Calls act once nothing has asked for it for a while.
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...given), milliseconds);
  };
}

export function save(name, content, type) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export const short = (x) =>
  x === null || x === undefined ? "–" : Math.abs(x) >= 1e5 || (x !== 0 && Math.abs(x) < 1e-3)
    ? x.toExponential(3) : Number(x.toPrecision(5)).toString();

export function math(text) {
  // W^mm and x_i as small letters above and below; everything else stays text.
  const parts = String(text).split(/([\^_](?:\{[^}]*\}|[A-Za-z0-9*+−-]+))/);
  return parts.filter(Boolean).map((part) => {
    if (part.length < 2 || (part[0] !== "^" && part[0] !== "_")) return part;
    const inner = part[1] === "{" ? part.slice(2, -1) : part.slice(1);
    return h(part[0] === "^" ? "sup" : "sub", {}, inner);
  });
}
