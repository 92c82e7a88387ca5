"use strict";

// Search and choices over all claims. Without it the page shows everything.
const form = document.getElementById("filter");
if (form) {
  const claims = [...document.querySelectorAll(".claim")];
  const groups = [...document.querySelectorAll(".group")];
  const papers = [...document.querySelectorAll(".paper")];
  const atFirst = new Map(groups.map((group) => [group, group.open]));

  const update = () => {
    const words = form.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = ["paper", "status", "kind"].filter((name) => form[name].value);
    const matches = (claim) =>
      wanted.every((name) => claim.dataset[name] === form[name].value) &&
      words.every((word) => claim.dataset.words.includes(word));
    const active = words.length + wanted.length > 0;
    let count = 0;
    for (const claim of claims) {
      claim.hidden = active && !matches(claim);
      count += !claim.hidden;
    }
    for (const group of groups) {
      group.hidden = !group.querySelector(".claim:not([hidden])");
      group.open = active || atFirst.get(group);
    }
    for (const paper of papers) {
      paper.hidden = active && !paper.querySelector(".claim:not([hidden])");
      paper.classList.toggle("filtered", active);
    }
    form.count.value = `${count} of ${claims.length} claims`;
  };

  // Whatever a link points to must be seen: it is freed from filters, and its group opened.
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.closest("[hidden], .filtered")) {
      form.reset();
      update();
    }
    for (let box = target.closest("details"); box; box = box.parentElement.closest("details")) {
      box.open = true;
    }
    target.scrollIntoView();
  };

  form.hidden = false;
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", reveal);
  update();
  reveal();
}

// A statement that scrolls sideways on a narrow screen can be scrolled by keys as well.
const reach = () => {
  for (const statement of document.querySelectorAll(".statement")) {
    if (statement.scrollWidth > statement.clientWidth) statement.tabIndex = 0;
  }
};
if (matchMedia("(max-width: 36rem)").matches) {
  reach();
  addEventListener("toggle", reach, true);
}
