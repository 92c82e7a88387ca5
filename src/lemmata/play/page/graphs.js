// Graphs of who beats whom: places come from the server, shapes and colours are ours.

import { h, math, svg } from "./dom.js";
import { graphAsSvg, saver } from "./drawings.js";

const MEANING = { realizable: " (every answer is in its sentence)",
  acyclic: " (no two words beat each other)" };

function box(of, look, radius) {
  return svg("rect", { x: of.left, y: of.top, width: of.width, height: of.height, rx: radius,
    class: look });
}

function arrow([x, y, u, v]) {
  const bend = (v - y) / 2;
  const way = `M${x} ${y} C${x} ${y + bend} ${u} ${v - bend} ${u} ${v - 4}`;
  const head = `M${u} ${v} l-3 -6 h6 z`;
  return [svg("path", { d: way, class: "arrow" }), svg("path", { d: head, class: "head" })];
}

function picture(graph) {
  const of = graph.picture;
  const label = `After ${graph.query}: ${of.says}`;
  return svg("svg", { viewBox: `0 0 ${of.width} ${of.height}`, role: "img", "aria-label": label,
    class: "graph", style: `width:${of.width * 1.25}px` },
    of.panels.map((panel) => box(panel, "panel", 4)),
    of.ties.map((tie) => box(tie, "tie", 6)),
    of.arrows.flatMap(arrow),
    of.tokens.map((token) => svg("g", { class: `token ${token.look}` },
      box(token, "", token.height / 2),
      svg("text", { x: token.left + token.width / 2, y: token.top + token.height / 2,
        "font-size": of.font }, token.text))));
}

function graphFigure(graph) {
  const samples = graph.samples === null ? "" :
    graph.samples === 1 ? " (1 sample)" : ` (${graph.samples} samples)`;
  const lost = graph.unreachable.length
    ? h("p", { class: "note" }, `Out of reach: ${graph.unreachable.join(", ")}`) : null;
  const drawn = graph.picture ? picture(graph) : null;
  return h("figure", {},
    h("figcaption", {}, "after ", h("b", { class: "word" }, graph.query), samples, " ",
      drawn ? saver(`graph after ${graph.query}`, () => graphAsSvg(drawn)) : null),
    drawn ?? h("p", { class: "note" }, "Nothing to compare, or too much to draw."), lost);
}

function limits(all) {
  return all.map((limit) => h("details", { class: "limit" },
    h("summary", {}, math(limit.title), brief(limit)),
    limit.says.map((text) => h("p", {}, math(text))),
    h("dl", {}, limit.facts.flatMap((fact) =>
      [h("dt", {}, fact.name), h("dd", {}, fact.value)])),
    limit.matrix ? matrix(limit.matrix) : null));
}

function brief(limit) {
  const named = (name) => limit.facts.find((fact) => fact.name === name)?.value;
  const exact = named("Its square, exactly");
  const norm = named("Norm");
  if (exact) return h("span", { class: "brief" }, ` norm² = ${exact}`);
  return norm ? h("span", { class: "brief" }, ` norm ${norm}`) : null;
}

function matrix({ axes, rows, columns, values, hidden }) {
  const grid = h("table", { class: "exact" },
    h("thead", {}, h("tr", {}, h("th", {}, axes.join(" \\ ")),
      columns.map((column) => h("th", { scope: "col" }, column)))),
    h("tbody", {}, rows.map((row, i) => h("tr", {}, h("th", { scope: "row" }, row),
      values[i].map((value) => h("td", {}, value))))));
  return [h("div", { class: "scroll", tabindex: "0" }, grid),
    hidden ? h("p", { class: "note" }, `and ${hidden.toLocaleString()} more entries, not shown`) : null];
}

function outlook(selections) {
  if (!selections || !selections.length) return null;
  return h("details", {},
    h("summary", {}, "What attention selects from each sample in the end"),
    h("div", { class: "scroll", tabindex: "0" }, h("table", { class: "told" },
      h("thead", {}, h("tr", {}, ["sample", "answer", "selects"].map((x) =>
        h("th", { scope: "col" }, x)))),
      h("tbody", {}, selections.map((one) => h("tr", {},
        h("td", {}, one.input.join(" ")), h("td", {}, one.label),
        h("td", {}, one.selected.join(", "))))))));
}

export function orders(found) {
  const facts = Object.entries(found.facts).filter(([name]) => name !== "setting");
  return [
    h("p", { class: "note" }, "One graph for each word that asks (the last one before the answer). "
      + "An arrow points from a winner down to what it beats. Red: nothing beats it. "
      + "Blue box: they beat each other, and share the attention as the percentages say."),
    found.caution ? h("p", { class: "caution" }, found.caution) : null,
    h("div", { class: "graphs" }, found.graphs.map(graphFigure)),
    found.hidden ? h("p", { class: "note" }, `and ${found.hidden} more, not drawn`) : null,
    h("p", { class: "facts" }, facts.map(([name, value]) =>
      h("span", {}, `${name.replaceAll("_", " ")}: `, h("b", {}, value), MEANING[name] ?? ""))),
    h("h3", {}, "Where the weights go"),
    h("p", { class: "note" }, "Training lets the weights grow without end. Where their direction goes "
      + "is known beforehand, in exact numbers."),
    ...limits(found.limits),
    outlook(found.selections),
  ].filter(Boolean);
}

function heading(text) {
  // A heading that is nothing but a formula is also told in letters, to those who hear the page.
  const shown = math(text);
  return h("th", { scope: "col" }, shown.some((node) => node.nodeName !== "math") ? shown
    : [h("span", { class: "unseen" }, text), h("span", { "aria-hidden": "true" }, shown)]);
}

export function words(items) {
  // What a setting says in words: lines and tables.
  const cites = items.some((item) => /\s\(\d+\)/.test([item.says, ...(item.head ?? [])].join()));
  const note = h("p", { class: "note" }, "Numbers in brackets, as in (1), are equations of the paper.");
  return [...(cites ? [note] : []), ...items.map((item) => item.head
    ? h("div", { class: "scroll", tabindex: "0" }, h("table", {},
      h("thead", {}, h("tr", {}, item.head.map(heading))),
      h("tbody", {}, item.rows.map((row) => h("tr", {}, row.map((x) => h("td", {}, x)))))))
    : item.style === "bold" ? h("h3", {}, math(item.says))
      : h("p", { class: /red|yellow/.test(item.style) ? "caution" : null }, math(item.says)))];
}
