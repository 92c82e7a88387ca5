// The page: what is typed goes to the server, what comes back is shown.

import { curvesAsSvg, drawCurves, moveCursor } from "./curves.js";
import { $, h, later, learn, math, save } from "./dom.js";
import { orders, words } from "./graphs.js";
import { drawOptions } from "./options.js";
import { drawPictures, showMoment } from "./pictures.js";
import { Player } from "./player.js";
import { drawSliders } from "./sliders.js";
import { dataKey, keep, key, restore, sheet, state } from "./state.js";
import { drawFinding, drawTheorems } from "./theorems.js";
import { catalogue, Wire } from "./wire.js";

const AFTER_TYPING = 60, BEFORE_COMPILING = 400, GRACE = 400;

let offered = null;
let wire = null;
let analysis = null;
let verdicts = {};
let prepared = null;
let preparation = null;
let glanced = null;
let run = null;
let heardOfRun = false;
let awaited = false;

const player = new Player({
  show(index, step) {
    state.step = step;
    moveCursor(index, step);
    showMoment(index);
  },
  rest: () => keep(),
  hold: (wait) => wire.ask(wait ? "hold" : "go", { of: "train" }),
  insert(step) {
    // A moment that was not recorded: the same run with one more record.
    const recorded = run.entry.steps;
    state.options.record = [...new Set([...recorded, step])].sort((a, b) => a - b).join(",");
    drawOptions($("options"), setting(), changed);
    train({ from: step });
  },
});

const setting = () => offered.settings.find((one) => one.name === state.setting);

function begin() {
  $("setting").replaceChildren(...offered.settings.map((one) =>
    h("option", { value: one.name }, one.name)));
  if (!restore() || !setting()) {
    state.setting = offered.first;
    if (offered.opening) Object.assign(state, { text: offered.opening.text,
      suffix: offered.opening.suffix });
    else choose(setting().examples[0]);
  }
  enter();
}

function choose(example) {
  Object.assign(state, { text: example?.text ?? "", suffix: example?.suffix ?? ".txt",
    options: {}, ran: false, step: null });
}

function enter() {
  // Show a setting, with whatever data the state holds.
  const here = setting();
  $("setting").value = here.name;
  $("about").replaceChildren(...math(here.about));
  $("example").replaceChildren(h("option", { value: "" }, "your own"), ...here.examples.map(
    (example, i) => h("option", { value: i, selected: example.text === state.text }, example.title)));
  sayExample();
  const attacked = $("claim").value;
  $("claim").replaceChildren(...here.claims.map((claim) =>
    h("option", { value: claim.name, selected: claim.name === attacked }, `${claim.name}${claim.kind ? ` (fails: ${claim.kind})` : ""}`)));
  sayClaim();
  $("text").value = state.text;
  const plans = state.suffix === ".json";
  $("text-title").textContent = plans ? "The data, as JSON"
    : "Sentences, one a line";
  drawOptions($("options"), here, changed);
  forgetRun();
  edited();
  compile(); // nobody is typing
}

function sayExample() {
  const example = setting().examples[$("example").value];
  $("example-says").textContent = example && example.text === state.text ? example.says : "";
}

function sayClaim() {
  const claim = $("claim").value;
  $("claim-says").replaceChildren();
  if (claim) wire.ask("statement", { setting: state.setting, claim, label: claim });
}

function hearStatement(said) {
  if (said.label !== $("claim").value || !said.news) return;
  const { kind } = setting().claims.find((claim) => claim.name === said.label);
  $("claim-says").replaceChildren(...math(said.news.statement), ...(kind
    ? [h("span", { class: "note" }, ` (known to fail as printed: ${offered.kinds[kind]})`)] : []));
}

function compile() {
  if (prepared === key()) {
    if (preparation?.label === prepared) hearPrepare(preparation); // what was changed is as it was
    return;
  }
  prepared = key();
  wire.ask("prepare", { ...sheet(), label: prepared });
}

const compileSoon = later(BEFORE_COMPILING, compile);
const analyzeSoon = later(AFTER_TYPING, () => {
  performance.mark("asked");
  wire.ask("analyze", { ...sheet(), label: dataKey() }).then(refuse);
});

function refuse(reason) {
  $("refused").hidden = !reason;
  $("refused").textContent = reason ?? "";
}

function edited() {
  verdicts = {};
  if (glanced) wire.ask("halt", { of: "glance" });
  glanced = null;
  analyzeSoon();
  changed();
}

function changed() {
  // Options or data are others than those of the run.
  keep();
  const stale = run && run.label !== key();
  $("training").classList.toggle("stale", Boolean(stale));
  if (stale) $("status").textContent = "the curves are of what was trained before";
  $("ready").textContent = "";
  compileSoon();
}

function hearPrepare(said) {
  // What comes next is there before it is asked for: the program, then what theorems say.
  if (said.label !== key()) return;
  preparation = said;
  const now = { running: "compiling for this data …", done: "ready: training starts at once" };
  $("ready").textContent = now[said.state] ?? "";
  if (said.state === "running" || glanced === dataKey()) return;
  glanced = dataKey();
  wire.ask("glance", { ...sheet(), options: {}, label: glanced });
}

function forgetRun() {
  run = null;
  player.clear();
  drawPictures($("pictures"), []);
  $("pictures").replaceChildren(h("p", { class: "note" }, "Train first."));
  $("curves").replaceChildren();
  $("rule").textContent = "";
  $("status").textContent = "";
  $("training").classList.remove("stale");
  for (const id of ["copy-command", "save-json", "save-svg"]) $(id).disabled = true;
  $("command").hidden = true;
}

async function train({ from = null } = {}) {
  state.ran = true;
  heardOfRun = true;
  awaited = true;
  player.expect(from);
  $("status").textContent = $("ready").textContent.startsWith("ready") ? "starting …" : "compiling …";
  $("ready").textContent = "";
  performance.mark("train");
  const reason = await wire.ask("train", { ...sheet(), label: key() });
  if (reason) $("status").textContent = reason;
  keep();
}

function hearAnalysis(said) {
  if (said.label !== dataKey() || said.state === "running" && !said.news) return;
  refuse(said.state === "refused" ? said.reason : null);
  if (said.state === "refused") {
    $("orders").classList.add("stale");
    return;
  }
  if (!said.news || said.news === analysis) return;
  analysis = said.news;
  $("orders").classList.remove("stale");
  $("orders").replaceChildren(...(analysis.orders ? orders(analysis.orders) : words(analysis.words)));
  drawSliders($("sliders"), analysis.sliders, slide);
  $("text-fold").open = !analysis.sliders.length;
  $("problems").replaceChildren(...problems());
  drawTheorems($("statements"), analysis.theorems, verdicts, offered.kinds);
  performance.mark("drawn");
}

function problems() {
  const more = analysis.instances > 1
    ? [h("p", { class: "note" }, `The first of ${analysis.instances} instances is shown.`)] : [];
  if (!analysis.problems.length) return more;
  return [...more, h("details", { open: true }, h("summary", {}, "Assumptions that it does not meet"),
    h("ul", {}, analysis.problems.map((problem) => h("li", {},
      problem.message, h("span", { class: "note" }, ` ${problem.where}`)))))];
}

function slide(name, value) {
  try {
    const document = JSON.parse(state.text);
    document[name] = value;
    const oneLine = (list) => list.replace(/(?<=\[)\n\s*|\n\s*(?=\])/g, "").replace(/\n\s*/g, " ");
    state.text = JSON.stringify(document, null, 1).replace(/\[[^\][{}]*\]/g, oneLine);
    $("text").value = state.text;
    sayExample();
    edited();
  } catch {
    refuse("the data is not valid JSON, so that the sliders cannot change it");
  }
}

function hearRun(said) {
  if (said.label !== key()) return;
  heardOfRun = true;
  if (said.state === "refused") {
    $("status").textContent = said.reason;
    player.stop();
    return;
  }
  if (!said.news) return;
  const entry = said.news.document.instances[0];
  if (!entry.trained) {
    $("status").textContent = `not trained: ${entry.reason}`;
    player.stop();
    return;
  }
  const same = run && run.label === said.label && run.steps === entry.steps.length
    && run.final === said.news.final;
  if (!same || awaited) showRun(said, entry);
  awaited = false;
  const steps = said.news.total ?? entry.steps.at(-1);
  const rest = said.news.final ? entry.reason ?? "" : `training to step ${steps.toLocaleString()} …`;
  $("status").textContent = said.state === "halted" ? "stopped" : rest;
}

function showRun(said, entry) {
  run = { label: said.label, entry, news: said.news, steps: entry.steps.length,
    final: said.news.final };
  state.ran = true;
  $("training").classList.remove("stale");
  $("rule").replaceChildren(...math(said.news.document.rule));
  drawCurves($("curves"), setting(), entry,
    !said.news.pictures.some((picture) => picture.kind === "chart"));
  drawPictures($("pictures"), said.news.pictures);
  for (const id of ["copy-command", "save-json", "save-svg"]) $(id).disabled = !said.news.final;
  $("command").textContent = said.news.command;
  $("command").hidden = false;
  player.load(entry.steps, said.news.final, state.step);
  performance.mark("framed");
}

function hearVerdicts(kind, said) {
  if (said.label !== dataKey()) return;
  verdicts[kind] = said.news ?? verdicts[kind];
  const judging = said.news?.judging;
  const now = said.state === "running" ? judging ? `checking ${judging} …`
    : kind === "glance" ? "checking what takes no training …" : "starting …"
    : said.state === "refused" ? said.reason : "";
  $("judging").textContent = now;
  if (analysis) drawTheorems($("statements"), analysis.theorems, verdicts, offered.kinds);
}

function hearAttack(said) {
  const running = said.state === "running" && !said.news?.final;
  $("assault").disabled = running;
  $("cease").disabled = !running;
  drawFinding($("finding"), said, (news) => {
    Object.assign(state, { setting: news.setting, text: news.data, suffix: ".json", options: {},
      ran: false, step: null });
    enter();
    $("data").scrollIntoView({ behavior: "smooth" });
  });
}

const hearing = { analyze: hearAnalysis, prepare: hearPrepare, train: hearRun,
  glance: (said) => hearVerdicts("glance", said), judge: (said) => hearVerdicts("judge", said),
  statement: hearStatement, attack: hearAttack };

function hear(kind, said) {
  if (!offered) return;
  learn(said.news?.formulas);
  hearing[kind](said);
}

function lost() {
  $("banner").hidden = false;
  $("banner").textContent = "The server does not answer. Start “lemmata play” again: this page goes "
    + "on by itself. What is on it is kept in its address.";
}

function back() {
  // The server is there, perhaps another one: ask again for what it does not know.
  $("banner").hidden = true;
  heardOfRun = false;
  prepared = null;
  if (!offered) return;
  analyzeSoon();
  setTimeout(() => {
    if (state.ran && !heardOfRun) train({ from: state.step });
  }, GRACE);
}

function tell(text) {
  $("taken").textContent = text;
  setTimeout(() => ($("taken").textContent = ""), 4000);
}

async function copy(text, said) {
  try {
    await navigator.clipboard.writeText(text);
    tell(said);
  } catch {
    tell("the browser does not let a page copy here: select the text below");
  }
}

function listen() {
  $("setting").onchange = (event) => {
    state.setting = event.target.value;
    choose(setting().examples[0]);
    enter();
  };
  $("example").onchange = (event) => {
    if (event.target.value === "") return;
    choose(setting().examples[event.target.value]);
    enter();
  };
  $("text").oninput = (event) => {
    state.text = event.target.value;
    $("example").value = "";
    $("example-says").textContent = "";
    edited();
  };
  $("claim").onchange = sayClaim;
  $("train").onclick = () => train();
  $("pause").onclick = () => player.toggle();
  $("step").onclick = () => player.one();
  $("back").onclick = () => player.go(0);
  $("scrub").oninput = (event) => player.go(Number(event.target.value));
  $("judge").onclick = () => wire.ask("judge", { ...sheet(), options: {}, label: dataKey() });
  $("assault").onclick = () => wire.ask("attack", { setting: state.setting,
    claim: $("claim").value, seconds: Number($("seconds").value) || 10 }).then((reason) =>
    reason && ($("finding").textContent = reason));
  $("cease").onclick = () => wire.ask("halt", { of: "attack" });
  $("copy-command").onclick = () => copy(run.news.command, "copied: paste it into a terminal");
  $("copy-link").onclick = () => { keep(); copy(location.href, "copied"); };
  $("save-data").onclick = () => save(`play${state.suffix}`, state.text, "text/plain");
  $("save-json").onclick = () => save("play.json", JSON.stringify(run.news.document), "application/json");
  $("save-svg").onclick = async () => save("play.svg", await curvesAsSvg(
    getComputedStyle(document.body).backgroundColor), "image/svg+xml");
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    if (run) showRun({ label: run.label, news: run.news }, run.entry);
  });
}

listen();
wire = new Wire({ hear, lost, back });
try {
  offered = await catalogue();
  learn(offered.formulas);
  begin();
  for (const id of ["train", "judge", "assault"]) $(id).disabled = false;
  wire.close();
  wire.open();
} catch (error) {
  $("banner").hidden = false;
  $("banner").textContent = String(error.message);
}
