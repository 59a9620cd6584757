"use strict";
const sides = JSON.parse(document.getElementById("data").textContent);
const panes = [...document.querySelectorAll(".text")];
const tokens = panes.map((pane) => [...pane.querySelectorAll(".t")]);
const details = document.getElementById("details");
let now = null; // the token whose details are shown

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function place(token) {
  const side = panes.indexOf(token.parentNode);
  return [side, tokens[side].indexOf(token)];
}

// The merges that make an id, as nested lists. A tree is as deep as its token is long.
function tree(side, id) {
  const { left, right, shown, rank } = side.tokens[id];
  const item = element("li");
  const node = element("span", shown, "node");
  node.append(element("small", rank === null ? `id ${id}` : `id ${id}, rank ${rank}`));
  item.append(node);
  if (left !== null) {
    const parts = element("ul");
    parts.append(tree(side, left), tree(side, right));
    item.append(parts);
  }
  return item;
}

function rows(side, index) {
  const id = side.ids[index];
  const token = side.tokens[id];
  const count = side.ids.filter((other) => other === id).length;
  const span = side.spans && side.spans[index];
  return [
    ["id", id],
    ["text", token.shown],
    ["bytes", `${token.bytes.replace(/../g, "$& ").trim() || "none"} (${token.bytes.length / 2})`],
    ["characters", span && `${span[0]} to ${span[1]} of the text`],
    ["score", token.score],
    ["rank", token.rank],
    ["kind", token.special ? "special" : null],
    ["in this text", count === 1 ? "once" : `${count} times`],
  ].filter(([, value]) => value !== null && value !== undefined);
}

function show(token) {
  if (token === now) return;
  if (now) now.classList.remove("now");
  for (const marked of document.querySelectorAll(".o")) marked.classList.remove("o");
  now = token;
  details.replaceChildren();
  if (!token) return;
  token.classList.add("now");
  const [number, index] = place(token);
  const side = sides[number];
  const columns = element("div", undefined, "columns");
  const list = element("dl");
  for (const [name, value] of rows(side, index)) {
    list.append(element("dt", name), element("dd", value));
  }
  columns.append(list);
  if (side.tokens[side.ids[index]].left !== null) {
    const merges = element("ul", undefined, "tree");
    merges.append(tree(side, side.ids[index]));
    columns.append(merges);
  }
  details.append(element("h2", side.name), columns);
  sides.forEach((other, at) => {
    if (at === number || !other.spans || !side.spans) return;
    const [start, end] = side.spans[index];
    other.spans.forEach(([from, to], i) => {
      if (from < end && to > start) tokens[at][i].classList.add("o");
    });
  });
}

// The nearest token of the line above or below.
function vertical(list, from, step) {
  const box = (token) => token.getClientRects()[0] || token.getBoundingClientRect();
  const here = box(list[from]);
  let best = from;
  for (let i = from + step, line = null; i >= 0 && i < list.length; i += step) {
    const there = box(list[i]);
    if (Math.abs(there.top - here.top) < here.height / 2) continue;
    if (line === null) line = there.top;
    else if (Math.abs(there.top - line) > here.height / 2) break;
    const distance = (token) => Math.abs(box(token).left - here.left);
    if (best === from || distance(list[i]) < distance(list[best])) best = i;
  }
  return best;
}

const moves = {
  ArrowRight: (list, i) => Math.min(i + 1, list.length - 1),
  ArrowLeft: (list, i) => Math.max(i - 1, 0),
  ArrowDown: (list, i) => vertical(list, i, 1),
  ArrowUp: (list, i) => vertical(list, i, -1),
  Home: () => 0,
  End: (list) => list.length - 1,
};

for (const pane of panes) {
  pane.addEventListener("keydown", (event) => {
    const token = event.target.closest(".t");
    if (!token || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape") token.blur();
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    const [side, index] = place(token);
    const next = tokens[side][move(tokens[side], index)];
    token.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
  pane.addEventListener("focusin", (event) => show(event.target.closest(".t")));
  pane.addEventListener("focusout", () => show(null));
  pane.addEventListener("pointerover", (event) => {
    const token = event.target.closest(".t");
    if (token) show(token);
  });
  pane.addEventListener("pointerleave", () => {
    const focused = document.activeElement;
    if (focused && focused.classList.contains("t")) show(focused);
  });
}
