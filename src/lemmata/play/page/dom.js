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
  (x === null || x === undefined ? "–" : Math.abs(x) >= 1e5 || (x !== 0 && Math.abs(x) < 1e-3)
    ? x.toExponential(3) : Number(x.toPrecision(5)).toString()).replace("-", "−");

const known = new Map();

export function learn(formulas) {
  // Texts with formulas in them, set by the server, which lets nothing through but words and MathML.
  for (const [text, markup] of Object.entries(formulas ?? {})) known.set(text, markup);
}

export function math(text) {
  // A text with its formulas; one without any stays text.
  const holder = h("template");
  holder.innerHTML = known.get(String(text)) ?? "";
  return holder.innerHTML ? [...holder.content.childNodes] : [String(text)];
}
