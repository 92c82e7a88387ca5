// Numbers of a plan as sliders, with the ranges that theory asks for marked on them.

import { h, math, short } from "./dom.js";

const STOPS = 1000;

function scale(slider) {
  // From a stop to a value and back; far apart ends need a logarithm.
  const { least, most, whole } = slider;
  const logarithmic = least > 0 && most / least > 50;
  const to = (stop) => {
    const share = stop / STOPS;
    const value = logarithmic ? least * (most / least) ** share : least + (most - least) * share;
    return whole ? Math.round(value) : Number(value.toPrecision(3));
  };
  const from = (value) => {
    const share = logarithmic ? Math.log(value / least) / Math.log(most / least)
      : (value - least) / (most - least);
    return Math.min(Math.max(share, 0), 1) * STOPS;
  };
  return { to, from };
}

export function drawSliders(place, sliders, change) {
  if (place.contains(document.activeElement) && place.children.length === sliders.length) {
    sliders.forEach((slider, i) => mark(place.children[i], slider));
    return; // whoever drags it knows its value
  }
  place.replaceChildren(...sliders.map((slider) => {
    const { to, from } = scale(slider);
    const id = `slider-${slider.name}`;
    const output = h("output", { for: id }, short(slider.value));
    const input = h("input", { id, type: "range", min: 0, max: STOPS, value: from(slider.value),
      oninput: (event) => {
        const value = to(Number(event.target.value));
        output.textContent = short(value);
        change(slider.name, value);
      } });
    const row = h("div", { class: "slider" },
      h("label", { for: id }, h("b", {}, math(slider.title)), " = ", output, " ",
        h("span", { class: "note" }, math(slider.says))),
      h("div", { class: "track" }, input, h("div", { class: "marks" })), h("ul", { class: "ranges" }));
    mark(row, slider);
    return row;
  }));
}

function mark(row, slider) {
  const { from } = scale(slider);
  const bars = slider.ranges.map(([low, high]) => {
    const left = from(low) / STOPS * 100, right = from(high) / STOPS * 100;
    return h("span", { style: `left:${left}%;width:${Math.max(right - left, 0.5)}%` });
  });
  row.querySelector(".marks").replaceChildren(...bars);
  row.querySelector(".ranges").replaceChildren(...slider.ranges.map(([low, high, says]) => {
    const inside = slider.value >= low && slider.value <= high;
    return h("li", { class: inside ? "inside" : "outside" }, inside ? "✓ " : "✗ ", math(says));
  }));
}
