// What is inside the model at one moment: shaded words, matrices, a plane, charts.

import { config, layout, logarithmic, plotAsSvg } from "./curves.js";
import { h, math } from "./dom.js";
import { ground, heatAsSvg, saver } from "./drawings.js";

/* global Plotly */

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function attention(pictures) {
  if (!pictures.length) return null;
  const rows = pictures.map((picture) => {
    const chips = picture.tokens.map((token, place) =>
      h("span", { class: picture.goal.includes(place) ? "chip goal" : "chip" },
        token, h("small", {})));
    const show = (index) => picture.weights[index].forEach((share, place) => {
      chips[place].style.setProperty("--share", share ?? 0);
      chips[place].lastChild.textContent = share === null ? "" : `${Math.round(100 * share)}`;
    });
    const row = h("div", { class: "look" }, h("div", {}, chips),
      h("span", { class: "note" }, picture.title));
    return { row, show };
  });
  const figure = h("figure", { class: "attention" },
    h("figcaption", {}, "Attention on each sample, in percent: the stronger the colour, the more. "
      + (pictures.some((picture) => picture.goal.length) ? "What should be selected is underlined."
        : "")), rows.map(({ row }) => row));
  return { figure, show: (index) => rows.forEach(({ show }) => show(index)) };
}

function grid(picture, values) {
  const cells = values.map((row) => row.map(() => h("td", {})));
  const many = picture.columns.length > 12;
  const table = h("table", { class: many ? "heat small" : "heat" },
    picture.columns.length ? h("thead", {}, h("tr", {}, h("td", {}),
      picture.columns.map((name) => h("th", { scope: "col" }, name)))) : null,
    h("tbody", {}, cells.map((row, i) => h("tr", {},
      picture.rows.length ? h("th", { scope: "row" }, picture.rows[i]) : null, row))));
  const paint = (now, scale) => now.forEach((row, i) => row.forEach((x, j) => {
    const cell = cells[i][j];
    cell.style.setProperty("--size", Math.min(Math.abs(x ?? 0) / scale, 1));
    cell.className = x < 0 ? "cold" : "hot";
    cell.title = `${picture.rows[i] ?? i}, ${picture.columns[j] ?? j}: ${x === null ? "–" : x.toPrecision(3)}`;
  }));
  return { table, paint };
}

const largest = (values) => Math.max(...values.flat(2).map((x) => Math.abs(x ?? 0)), 1e-300);

function heat(picture) {
  const scale = Math.max(largest(picture.values), picture.goal ? largest(picture.goal) : 0);
  const now = grid(picture, picture.values[0]);
  const pair = [h("div", {}, h("p", { class: "note" }, "now"), now.table)];
  if (picture.goal) {
    const goal = grid(picture, picture.goal);
    goal.paint(picture.goal, scale);
    pair.push(h("div", {}, h("p", { class: "note" }, math(picture.goal_title)), goal.table));
  }
  let moment = 0;
  const take = saver(picture.title, () => heatAsSvg(picture, { scale, matrices: [
    ["now", picture.values[moment]], ...(picture.goal ? [[picture.goal_title, picture.goal]] : [])] }));
  const figure = h("figure", { class: "matrices" },
    h("figcaption", {}, h("b", {}, math(picture.title), "."), " ", math(picture.says), " ", take),
    h("div", { class: "scroll pair", tabindex: "0" }, pair));
  return { figure, show(index) {
    moment = index;
    now.paint(picture.values[index], scale);
  } };
}

function frame(picture, traces) {
  const plot = h("div", { class: "plot" });
  const legend = traces.map((trace) => h("span", {}, h("i", { class: trace.mode === "markers"
    ? `dot ${trace.marker.symbol ?? ""}` : trace.line.dash ? "dashed" : "", style: `color:${(trace.line ?? trace.marker).color}` }),
  trace.name));
  const figure = h("figure", { class: "chart" },
    h("figcaption", {}, h("b", {}, math(picture.title), "."), " ", math(picture.says), " ",
      saver(picture.title, async () => plotAsSvg({ data: plot.data,
        layout: { ...plot.layout, paper_bgcolor: ground(),
          margin: { l: 64, r: 16, t: 24, b: 52 } } }, 640, 400))), plot,
    h("div", { class: "legend" }, legend));
  return { plot, figure };
}

const axis = (title, values = null) =>
  ({ title: { text: title, font: { size: 12 } }, ...(values ? logarithmic(values) : {}) });

function plane(picture) {
  const tones = ["--phase-1", "--phase-2", "--phase-3", "--phase-4"];
  const phases = picture.phases.length ? picture.phases
    : [{ name: "path", first: 0, last: picture.x.length - 1 }];
  const traces = phases.map((phase, place) => ({ mode: "lines", name: phase.name,
    x: picture.x.slice(phase.first, phase.last + 1), y: picture.y.slice(phase.first, phase.last + 1),
    line: { color: colour(tones[place % tones.length]), width: 3 } }));
  picture.lines.forEach((line) => traces.push({ mode: "lines", name: line.name, x: line.x, y: line.y,
    line: { color: colour("--theory"), width: 1.5, dash: "dash" } }));
  traces.push({ mode: "markers", name: "now", x: [picture.x[0]], y: [picture.y[0]],
    marker: { color: colour("--ink"), size: 10 } });
  const { plot, figure } = frame(picture, traces);
  return { figure, begin: () => Plotly.newPlot(plot, traces, { ...layout("",
    axis(picture.x_title), axis(picture.y_title)), height: 300 }, config),
  show: (index) => Plotly.restyle(plot, { x: [[picture.x[index]]], y: [[picture.y[index]]] },
    [traces.length - 1]) };
}

function chart(picture) {
  const mode = picture.dots ? "markers" : picture.x.length > 20 ? "lines" : "lines+markers";
  const traces = picture.fixed.map((curve) => ({ mode, name: curve.name, x: picture.x, y: curve.y,
    line: { color: colour("--theory"), dash: "dash" }, marker: { symbol: "circle-open", size: 11, opacity: 1, line: { width: 2 },
      color: colour("--theory") } }));
  picture.curves.forEach((curve, place) => traces.push({ mode, name: curve.name, x: picture.x,
    y: curve.y[0], line: { color: colour(place ? "--phase-3" : "--curve") },
    marker: { size: 5, color: colour(place ? "--phase-3" : "--curve") } }));
  const first = picture.fixed.length;
  const all = [...picture.fixed, ...picture.curves].flatMap((curve) => curve.y.flat());
  const places = picture.curves.map((_, place) => first + place);
  const { plot, figure } = frame(picture, traces);
  return { figure, begin: () => Plotly.newPlot(plot, traces, { ...layout("",
    axis(picture.x_title, picture.log_x && picture.x),
    axis(picture.y_title, picture.log_y && all)), height: 300 }, config),
  show: (index) => Plotly.restyle(plot, { y: picture.curves.map((curve) => curve.y[index]) },
    places) };
}

let shown = [];

export function drawPictures(place, pictures) {
  const looks = pictures.filter((picture) => picture.kind === "attention");
  const make = { heat, plane, chart };
  shown = [attention(looks), ...pictures.filter((picture) => picture.kind in make)
    .map((picture) => make[picture.kind](picture))].filter(Boolean);
  place.replaceChildren(...shown.map((item) => item.figure));
  if (!shown.length) {
    place.append(h("p", { class: "note" }, "Nothing to look into here: see the curves."));
  }
  shown.forEach((item) => item.begin?.());
}

export function showMoment(index) {
  shown.forEach((item) => item.show(index));
}
