// The way to the server: one stream of news, and one way to ask. Both come back after a restart.

const RETRY = 1500;

function makeName() {
  const letters = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(letters, (x) => x.toString(16).padStart(2, "0")).join("");
}

function tabName() {
  // The same after a reload, another one in every other tab, also in a copy of this one.
  const [entry] = performance.getEntriesByType("navigation");
  const again = entry && (entry.type === "reload" || entry.type === "back_forward");
  const name = (again && sessionStorage.getItem("tab")) || makeName();
  sessionStorage.setItem("tab", name);
  return name;
}

export class Wire {
  constructor({ hear, lost, back }) {
    this.tab = tabName();
    this.hear = hear;
    this.lost = lost;
    this.back = back;
    this.stream = null;
    document.addEventListener("visibilitychange", () => {
      // A browser has few connections for one server: hidden tabs give theirs back.
      if (document.hidden) this.close();
      else this.open();
    });
    addEventListener("pagehide", () => this.close());
    addEventListener("pageshow", () => this.open());
    this.open();
  }

  close() {
    if (this.stream) this.stream.close();
    this.stream = null;
  }

  open() {
    if (this.stream || document.hidden) return;
    const stream = (this.stream = new EventSource(`news?tab=${this.tab}`));
    stream.addEventListener("hello", () => this.back());
    for (const kind of ["analyze", "prepare", "train", "glance", "judge", "statement", "attack"]) {
      stream.addEventListener(kind, (event) => this.hear(kind, JSON.parse(event.data)));
    }
    stream.onerror = () => {
      if (this.stream !== stream) return;
      this.lost();
      if (stream.readyState === EventSource.CLOSED) {
        this.close();
        setTimeout(() => this.open(), RETRY);
      }
    };
  }

  async ask(kind, said = {}) {
    try {
      const answer = await fetch("ask", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ kind, tab: this.tab, ...said }),
      });
      if (answer.ok) return null;
      const told = await answer.json().catch(() => ({}));
      return told.refused || `the server refused this (${answer.status})`;
    } catch {
      this.lost();
      return null;
    }
  }
}

export async function catalogue() {
  for (;;) {
    try {
      const answer = await fetch("catalogue");
      const said = await answer.json();
      return answer.ok ? said : Promise.reject(new Error(said.refused || answer.status));
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      await new Promise((done) => setTimeout(done, RETRY));
    }
  }
}
