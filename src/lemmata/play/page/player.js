// The moment that is shown: it runs through the records, can be held, and moved by hand.

import { $ } from "./dom.js";

const FRAME = 1000 / 30, EARLY = 4;

export class Player {
  constructor({ show, rest, hold, insert }) {
    Object.assign(this, { show, rest, hold, insert });
    this.clear();
    let next = 0;
    const tick = (now) => {
      // A frame may come a little early, but not more of them than 30 a second.
      if (now >= next - EARLY) {
        next = Math.max(next + FRAME, now);
        this.advance();
      }
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  clear() {
    this.steps = [];
    this.index = 0;
    this.final = false;
    this.playing = false;
    this.wanted = null;
    this.draw();
  }

  expect(step) {
    // A run will come: from its start, or still at a step that was chosen.
    this.playing = step === null;
    this.wanted = step;
    this.steps = [];
    this.index = 0;
    this.draw();
  }

  stop() {
    this.playing = false;
    this.draw();
  }

  load(steps, final, step) {
    // Records came, perhaps more than before; the moment stays where it is.
    const first = !this.steps.length;
    this.steps = steps;
    this.final = final;
    const at = this.wanted ?? (first && this.playing ? 0 : step);
    this.index = at === null ? 0 : this.nearest(at);
    if (this.wanted !== null && this.steps[this.index] >= this.wanted) this.wanted = null;
    if (this.playing && matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.index = steps.length - 1;
    }
    this.moved();
  }

  nearest(step) {
    const found = this.steps.findIndex((t) => t >= step);
    return found < 0 ? this.steps.length - 1 : found;
  }

  advance() {
    if (!this.playing || !this.steps.length) return;
    if (this.index < this.steps.length - 1) {
      this.index += 1;
      this.moved();
    } else if (this.final) {
      this.playing = false;
      this.draw();
      this.rest();
    }
  }

  toggle() {
    this.playing = !this.playing;
    if (this.playing && this.final && this.index === this.steps.length - 1) this.index = 0;
    if (!this.final) this.hold(!this.playing);
    this.draw();
  }

  one() {
    this.playing = false;
    const step = this.steps[this.index];
    const end = this.index === this.steps.length - 1;
    if (!end && this.steps[this.index + 1] === step + 1) this.go(this.index + 1);
    else if (!end) this.insert(step + 1);
    this.draw();
  }

  go(index) {
    this.playing = false;
    this.index = Math.min(index, this.steps.length - 1);
    this.moved();
    this.rest();
  }

  moved() {
    this.show(this.index, this.steps[this.index]);
    this.draw();
  }

  draw() {
    const count = this.steps.length;
    const none = count === 0;
    for (const id of ["pause", "step", "back", "scrub"]) $(id).disabled = none;
    $("pause").textContent = this.playing ? "Pause" : "Play";
    $("scrub").max = Math.max(count - 1, 0);
    $("scrub").value = this.index;
    $("moment").textContent = none ? "not trained yet"
      : `t = ${this.steps[this.index].toLocaleString()}`;
    $("scrub").setAttribute("aria-valuetext", $("moment").textContent);
  }
}
