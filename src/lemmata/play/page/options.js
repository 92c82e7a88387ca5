// The options of training, from the schema of the setting; only those that have an effect are sent.

import { h } from "./dom.js";
import { state } from "./state.js";

const OPEN = 4;

function usual(option, algorithm) {
  const value = option.usual;
  const chosen = value !== null && typeof value === "object" && !Array.isArray(value)
    ? value[algorithm] : value;
  return chosen === null || chosen === undefined ? "" : String(chosen);
}

function algorithmOf(setting) {
  const option = setting.options.find((one) => one.name === "algorithm");
  return state.options.algorithm || option?.choices[0] || "";
}

function field(option, algorithm, change) {
  const held = state.options[option.name];
  const set = (value) => {
    if (value === "" || (Array.isArray(value) && !value.length)) delete state.options[option.name];
    else state.options[option.name] = value;
    change(option.name);
  };
  const id = `option-${option.name}`;
  const preset = usual(option, algorithm);
  let input;
  if (option.choices.length || option.closed) {
    const values = option.choices.length ? option.choices : option.words;
    const empty = option.name === "algorithm" ? [] : [h("option", { value: "" },
      preset ? `usual (${preset})` : "usual")];
    input = h("select", { id, onchange: (event) => set(event.target.value) }, empty,
      values.map((value) => h("option", { value, selected: value === held }, value)));
    if (!values.length) return null;
  } else if (option.many) {
    input = h("textarea", { id, rows: 2, placeholder: "one a line", onchange: (event) =>
      set(event.target.value.split("\n").map((line) => line.trim()).filter(Boolean)) },
    (held || []).join("\n"));
  } else {
    const list = option.words.length ? h("datalist", { id: `${id}-words` },
      option.words.map((word) => h("option", { value: word }))) : "";
    input = h("input", { id, value: held ?? "", placeholder: preset || "usual",
      list: option.words.length ? `${id}-words` : null, autocomplete: "off",
      onchange: (event) => set(event.target.value.trim()) });
    return h("div", { class: "option" }, h("label", { for: id, title: option.says }, name(option)),
      input, list, h("p", { class: "note" }, option.says));
  }
  return h("div", { class: "option" }, h("label", { for: id, title: option.says }, name(option)),
    input, h("p", { class: "note" }, option.says));
}

const name = (option) => option.flag.replace(/^--/, "").replaceAll("-", " ");

export function drawOptions(place, setting, change) {
  const algorithm = algorithmOf(setting);
  const fits = setting.options.filter((option) =>
    !option.algorithms.length || option.algorithms.includes(algorithm));
  for (const held of Object.keys(state.options)) {
    if (!fits.some((option) => option.name === held)) delete state.options[held];
  }
  const fields = fits.map((option) => field(option, algorithm, (changed) => {
    if (changed === "algorithm") drawOptions(place, setting, change);
    change();
  })).filter(Boolean);
  place.replaceChildren(h("div", { class: "options" }, fields.slice(0, OPEN)),
    fields.length > OPEN ? h("details", {}, h("summary", {}, "More options"),
      h("div", { class: "options" }, fields.slice(OPEN))) : "");
}
