// What is on the page, as a value: it lives in the fragment of the address, so that a link holds it.

export const state = {
  setting: "", text: "", suffix: ".txt", options: {}, ran: false, step: null,
};

export function sheet() {
  // What an answer depends on.
  return { setting: state.setting, text: state.text, suffix: state.suffix, options: state.options };
}

export function key(options = state.options) {
  // The same sheet has the same key: a number from its text.
  const text = JSON.stringify([state.setting, state.text, state.suffix,
    Object.entries(options).sort()]);
  let low = 0x811c9dc5, high = 0x1b873593;
  for (let i = 0; i < text.length; i++) {
    low = Math.imul(low ^ text.charCodeAt(i), 0x01000193) >>> 0;
    high = Math.imul(high ^ text.charCodeAt(i), 0x85ebca6b) >>> 0;
  }
  return `${low.toString(36)}-${high.toString(36)}-${text.length}`;
}

export const dataKey = () => key({});

export function keep() {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  let letters = "";
  for (let i = 0; i < bytes.length; i += 4096) {
    letters += String.fromCharCode(...bytes.subarray(i, i + 4096));
  }
  const packed = btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  history.replaceState(null, "", `#${packed}`);
}

export function restore() {
  // True if the address held a state that can be read.
  try {
    const packed = location.hash.slice(1).replaceAll("-", "+").replaceAll("_", "/");
    if (!packed) return false;
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const held = JSON.parse(new TextDecoder().decode(bytes));
    const texts = ["setting", "text", "suffix"].every((name) => typeof held[name] === "string");
    if (!texts || typeof held.options !== "object" || held.options === null) return false;
    Object.assign(state, {
      setting: held.setting, text: held.text, suffix: held.suffix, options: held.options,
      ran: held.ran === true, step: typeof held.step === "number" ? held.step : null,
    });
    return true;
  } catch {
    return false;
  }
}
