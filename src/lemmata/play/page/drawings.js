// Pictures to take away: SVG that looks the same without this page and its style.

import { h, save, svg } from "./dom.js";

const STYLE = ["fill", "fill-opacity", "stroke", "stroke-width", "opacity", "font-family",
  "font-size", "text-anchor", "dominant-baseline"];
const CELL = 24, LETTER = 7.2, GAP = 28, TITLE = 20;

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function saver(name, make) {
  // A small button; the name is that of the file.
  return h("button", { type: "button", class: "save", "aria-label": `Save ${name} as SVG`,
    onclick: async () => save(`${name.replaceAll(/[^\p{L}\p{N}]+/gu, "-")}.svg`, await make(),
      "image/svg+xml") }, "SVG");
}

export const ground = () => style("--card");

function written(picture, width, height) {
  picture.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  picture.setAttribute("width", width);
  picture.setAttribute("height", height);
  picture.prepend(svg("rect", { width, height, fill: ground() }));
  return new XMLSerializer().serializeToString(picture);
}

export function graphAsSvg(shown) {
  // As it is on the page, with the style of each shape written into it.
  const copy = shown.cloneNode(true);
  const from = shown.querySelectorAll("*"), to = copy.querySelectorAll("*");
  from.forEach((shape, place) => {
    const seen = getComputedStyle(shape);
    for (const name of STYLE) to[place].setAttribute(name, seen.getPropertyValue(name));
  });
  copy.removeAttribute("style");
  const { width, height } = shown.viewBox.baseVal;
  return written(copy, width, height);
}

export function heatAsSvg({ rows, columns }, shown) {
  // Matrices side by side; shown has [title, values] of each, and the scale of the colours.
  const { matrices, scale } = shown;
  const text = (x, y, words, more = {}) => svg("text", { x, y, "font-size": 12, fill: style("--ink"),
    "font-family": "sans-serif", "dominant-baseline": "central", ...more }, words);
  const longest = (names) => Math.max(0, ...names.map((name) => String(name).length)) * LETTER;
  const left = longest(rows) + 8, top = TITLE + (columns.length ? longest(columns) + 8 : 4);
  const parts = [];
  let x = 8;
  for (const [title, values] of matrices) {
    const wide = left + values[0].length * CELL;
    parts.push(text(x, TITLE / 2, title));
    columns.forEach((name, j) => parts.push(text(0, 0, name, { transform:
      `translate(${x + left + (j + 0.5) * CELL} ${top - 4}) rotate(-90)` })));
    values.forEach((row, i) => {
      const y = top + i * CELL;
      if (rows.length) parts.push(text(x + left - 6, y + CELL / 2, rows[i], { "text-anchor": "end" }));
      row.forEach((value, j) => {
        const at = { x: x + left + j * CELL, y, width: CELL - 1, height: CELL - 1 };
        const size = Math.min(Math.abs(value ?? 0) / scale, 1);
        parts.push(svg("rect", { ...at, fill: style("--panel") }),
          svg("rect", { ...at, fill: style(value < 0 ? "--cold" : "--hot"), "fill-opacity": size },
            svg("title", {}, value === null ? "–" : String(value))));
      });
    });
    x += Math.max(wide, title.length * LETTER) + GAP;
  }
  const height = top + matrices[0][1].length * CELL + 8;
  return written(svg("svg", {}, parts), x, height);
}
