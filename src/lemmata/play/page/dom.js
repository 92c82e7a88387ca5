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

// W^mm, T_max, zeta_0: a short name with something above or below it; log_loss stays as it is.
const SCRIPT = /((?<=^|[^A-Za-z_])(?:[A-Za-z]{1,4}|\p{L}\p{M}*)_(?:\{[^}]*\}|[A-Za-z]{1,3}(?![A-Za-z_])|[+*]|\d+)|\^(?:\{[^}]*\}|\([^)]*\)|-?\d+|[A-Za-z*+]+))/u;

export function math(text) {
  // Small letters above and below; everything else stays text.
  return String(text).split(SCRIPT).filter(Boolean).flatMap((part) => {
    const at = part.startsWith("^") ? 0 : SCRIPT.test(part) ? part.indexOf("_") : -1;
    if (at < 0) return [part];
    const inner = part.slice(at + 1).replace(/^[{(]|[})]$/g, "");
    return [part.slice(0, at), h(at ? "sub" : "sup", {}, inner)].filter(Boolean);
  });
}
