// Which theorems speak about the data, and their verdicts; the outcome of an attack.

import { h, math } from "./dom.js";

const badge = (words, look) => h("span", { class: `badge ${look}` }, words);

const unmet = (title, said) => said.length ? h("p", { class: "note" }, title,
  said.map((says, i) => [i ? "; " : "", ...math(says)]).flat()) : null;

export function drawTheorems(place, theorems, { glance, judge }, kinds) {
  // Verdicts come at a glance; those that take training when they are asked for.
  const all = [...(glance?.verdicts ?? []), ...(judge?.verdicts ?? [])];
  const verdicts = new Map(all.map((verdict) => [verdict.name, verdict]));
  if (!theorems.length) {
    place.replaceChildren(h("p", { class: "note" }, "No theorem of this setting is listed."));
    return;
  }
  place.replaceChildren(h("ul", { class: "theorems" }, theorems.map((theorem) => {
    const verdict = theorem.applies ? verdicts.get(theorem.name) : null;
    const known = theorem.kind && !verdict ? h("span", { class: "note" },
      ` (as printed it is known to fail somewhere; ${kinds[theorem.kind]})`) : null;
    return h("li", {}, h("code", {}, theorem.name), " ",
      theorem.applies ? badge("applies", "good")
        : badge(theorem.open.length && !theorem.broken.length ? "may apply" : "does not apply", "idle"), " ",
      verdict ? badge(`${verdict.status} on this data`, verdict.status)
        : theorem.applies && glance?.final ? badge("takes training to check", "idle") : null,
      h("p", {}, math(theorem.statement), known),
      unmet("It needs: ", theorem.broken), unmet("It is not known whether: ", theorem.open),
      verdict ? h("p", { class: "note" }, verdict.reason,
        verdict.status === "fails" ? ` (${verdict.worth})` : "") : null);
  })));
}

export function drawFinding(place, said, load) {
  const news = said.news || {};
  if (!news.final) {
    const line = news.line || (said.state === "running" ? "starting the adversary …" : "");
    place.replaceChildren(h("p", {}, said.state === "refused" ? said.reason : line));
    return;
  }
  const { finding } = news;
  const meaning = {
    fails: "Broken: this data meets every assumption, and the claim is false on it.",
    survived: "It survived: nothing that was tried breaks it.",
    undecided: "Undecided.", "not searchable": "No data can break it.",
  }[finding.status] || "";
  place.replaceChildren(
    h("p", {}, badge(finding.status, finding.status), " ", meaning),
    h("p", {}, finding.reason),
    finding.certified ? h("p", { class: "note" }, "Proved: it was computed again with an error bound "
      + "on every number, so that rounding is not what breaks it.") : "",
    h("p", { class: "note" }, `${finding.tried.toLocaleString()} instances tried in `
      + `${finding.seconds} s${finding.scopes.length ? `; gone through whole: ${finding.scopes.join("; ")}` : ""}`),
    news.data ? h("button", { type: "button", id: "load-witness", onclick: () => load(news) },
      "Load what breaks it into this page") : "");
}
