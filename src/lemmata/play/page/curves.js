// One small chart a column: what was recorded, what theory says, and a line at the moment shown.

import { h, math, short } from "./dom.js";

/* global Plotly */

const charts = [];

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function logarithmic(values) {
  // An axis for positive numbers: whole powers of ten, where there are several.
  const known = values.filter((x) => x > 0 && Number.isFinite(x)).map(Math.log10);
  const wide = Math.max(...known) - Math.min(...known) > 1.2;
  const decades = Math.ceil((Math.max(...known) - Math.min(...known)) / 6);
  return { type: "log", dtick: wide ? Math.max(decades, 1) : undefined };
}

function isLogarithmic(values) {
  const known = values.filter((x) => x !== null && Number.isFinite(x));
  if (!known.length || known.some((x) => x < 0)) return false;
  const positive = known.filter((x) => x > 0);
  return positive.length > 1 && Math.max(...positive) > 100 * Math.min(...positive);
}

export function layout(title, x, y) {
  const axis = { gridcolor: colour("--line"), zerolinecolor: colour("--line"),
    linecolor: colour("--line"), tickfont: { size: 11 }, automargin: true, exponentformat: "power" };
  return {
    title: { text: title, font: { size: 13 }, x: 0.02, xanchor: "left", y: 0.97, yanchor: "top" },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: colour("--ink"), family: "system-ui, sans-serif" },
    margin: { l: 44, r: 10, t: 10, b: 34 }, height: 190, showlegend: false,
    xaxis: { ...axis, ...x }, yaxis: { ...axis, ...y }, hovermode: "closest",
  };
}

export const config = { displayModeBar: false, responsive: true };

function columnsOf(setting, entry, withTests) {
  const named = setting.columns.filter((column) => column.title && Array.isArray(entry[column.name])
    && entry[column.name].some((x) => x !== null));
  const tests = Object.entries((withTests && entry.tests) || {}).map(([task, values]) =>
    ({ name: `tests ${task}`, title: `loss ${task}`, says: "on another task", values }));
  return [...named.map((column) => ({ ...column, values: entry[column.name] })), ...tests];
}

function traces(steps, column, forecasts) {
  const drawn = [{ x: steps, y: column.values, mode: "lines", name: column.title,
    line: { color: colour("--curve"), width: 2 }, hovertemplate: "t = %{x}: %{y:.5g}<extra></extra>" }];
  forecasts.forEach((forecast, place) => drawn.push({ x: steps, y: forecast.values, mode: "lines",
    name: forecast.says, line: { color: colour("--theory"), width: 1.5,
      dash: ["dash", "dot", "dashdot"][place % 3] },
    hovertemplate: `${forecast.says}: %{y:.5g}<extra></extra>` }));
  return drawn;
}

export function drawCurves(place, setting, entry, withTests) {
  // Losses on other tasks are left out where a picture shows them.
  const columns = columnsOf(setting, entry, withTests);
  const told = new Set(entry.forecasts.map((forecast) => forecast.says));
  const shown = columns.filter((column) => !told.has(column.title));
  while (charts.length) Plotly.purge(charts.pop().plot);
  place.replaceChildren();
  for (const column of shown) {
    const said = entry.forecasts.filter((forecast) => forecast.column === column.name);
    const plot = h("div", { class: "plot" });
    const line = h("div", { class: "cursor" });
    const value = h("output", {});
    place.append(h("figure", { class: "curve" }, h("div", { class: "canvas" }, plot, line),
      h("figcaption", {}, h("b", {}, math(column.title)), " = ", value,
        column.says ? h("span", { class: "note" }, " ", math(column.says)) : null,
        said.map((forecast) => h("span", { class: "theory" }, " ┄ ", math(forecast.says))))));
    const all = [column.values, ...said.map((forecast) => forecast.values)].flat();
    Plotly.newPlot(plot, traces(entry.steps, column, said),
      layout("", logarithmic(entry.steps), isLogarithmic(all) ? logarithmic(all) : {}), config);
    const chart = { plot, line, value, values: column.values, name: column.name };
    plot.on("plotly_afterplot", () => placeLine(chart)); // also when the window has another width
    charts.push(chart);
  }
}

export function moveCursor(index, step) {
  for (const chart of charts) {
    chart.value.textContent = short(chart.values[index]);
    chart.step = step;
    placeLine(chart);
  }
}

function placeLine({ plot, line, step }) {
  const axis = plot._fullLayout?.xaxis;
  if (!axis) return;
  const at = step > 0 ? axis.d2p(step) : 0;
  line.style.left = `${axis._offset + Math.min(Math.max(at, 0), axis._length)}px`;
}

export async function plotAsSvg(figure, width, height) {
  const address = await Plotly.toImage({ data: figure.data, layout: { ...figure.layout, width, height,
    showlegend: true } }, { format: "svg", width, height });
  return decodeURIComponent(address.slice(address.indexOf(",") + 1));
}

export async function curvesAsSvg(ground) {
  // All charts in one picture, below each other.
  const parts = [];
  let top = 0;
  for (const chart of charts) {
    const width = 520, height = 260;
    const { data, layout: held } = chart.plot;
    const text = await plotAsSvg({ data, layout: { ...held, margin: { ...held.margin, t: 34 },
      title: { ...held.title, text: chart.name } } }, width, height);
    parts.push(text.replace("<svg ", `<svg y="${top}" `));
    top += height;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="520" height="${top}">`
    + `<rect width="520" height="${top}" fill="${ground}"/>${parts.join("")}</svg>`;
}
