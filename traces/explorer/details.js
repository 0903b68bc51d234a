// The chosen step: the action, what it changed, the properties.

const SIGNS = {
  holds: ["✓", "holds"],
  violated: ["✕", "violated"],
  reached: ["★", "reached here"],
  unreached: ["○", "not reached here"],
  owed: ["…", "owed, still to come"],
  settled: ["✓", "nothing is owed"],
  none: ["–", "is about steps, and none has been taken"],
};
const TOGETHER = {
  holds: (count) => `${count} more ${count === 1 ? "holds" : "hold"} throughout`,
  unreached: (count) => `${count} ${count === 1 ? "situation is" : "situations are"} never reached`,
  reached: (count) => `${count} ${count === 1 ? "situation is" : "situations are"} reached throughout`,
  settled: (count) => `${count} leads-to ${count === 1 ? "owes" : "owe"} nothing throughout`,
  none: (count) => `${count} ${count === 1 ? "is" : "are"} about steps, and none has been taken`,
};

// The heading and the parts of the panel on a step; `go` leads to a state of a side.
function drawStepPanel(panel, course, place, go) {
  panel.replaceChildren();
  panel.classList.toggle("two", course.sides.length === 2);
  for (const [number, side] of course.sides.entries()) {
    const box = element("div", { className: "side" });
    const step = course.steps[place][number];
    if (course.sides.length === 2) box.append(element("p", { className: "quiet" }, number ? "second" : "first"));
    if (step === null) box.append(element("p", { className: "quiet" }, `takes no step; still after step ${course.states[place][number]}`));
    else if (step === 0) box.append(element("p", { className: "quiet" }, "Nothing has happened yet."));
    else box.append(...actionTold(side, step));
    if (side.loop && course.states[place][number] === side.last) box.append(loopTold(side, go));
    panel.append(box);
  }
}

function actionTold(side, step) {
  const action = side.action(step);
  const before = side.state(step - 1);
  const after = side.state(step);
  const changes = side.changed(step).map((variable) => element("li", {},
    element("code", { className: "name" }, side.variables[variable].name), " ",
    ...change(before[variable], after[variable])));
  return [
    element("p", { className: action.fault ? "action fault" : "action" },
      element("span", { className: "quiet" }, side.lanes[action.by], " "), element("code", {}, action.label),
      action.fault ? element("span", { className: "badge" }, "fault") : null),
    element("p", { className: "doc" }, action.doc),
    element("p", { className: "quiet place" }, action.place),
    ...(action.mirrors.length ? [element("p", { className: "quiet mirrors" }, `in the code: ${action.mirrors.join("; ")}`)] : []),
    changes.length ? element("ul", { className: "changes" }, ...changes) : element("p", { className: "quiet" }, "It changes nothing."),
    ...(side.below?.[step] ? [runBelow(side.below[step])] : []),
  ];
}

// The run of a part that explains a step: who does what, and what that changes.
function runBelow({ title, steps }) {
  const rows = steps.map(({ by, label, fault, changes }) => element("li", {},
    element("span", { className: "quiet" }, by, " "), element("code", { className: fault ? "fault" : "" }, label),
    fault ? element("span", { className: "badge" }, "fault") : null,
    element("div", { className: "values" }, changes.map(([name, before, after]) => `${name} ${before} → ${after}`).join("; "))));
  return element("details", { className: "below", open: true }, element("summary", {}, title), element("ol", {}, ...rows));
}

function change(before, after) {
  const arrow = element("span", { role: "img", ariaLabel: "becomes" }, " → ");
  return [element("code", { className: "before" }, before), arrow, element("code", { className: "after" }, after)];
}

function loopTold(side, go) {
  const { start, starved, unobliged } = side.loop;
  const box = element("div", { className: "loop-note" });
  if (side.repeats()) {
    const steps = start + 1 < side.last ? `steps ${start + 1} to ${side.last} repeat` : `step ${side.last} repeats`;
    box.append(element("p", {}, `This is the state after step ${start} again: ${steps} forever. `,
      link(`Go to state ${start}`, () => go(start, side))));
  } else {
    box.append(element("p", {}, "The run stops here forever: nothing more is obliged to happen."));
  }
  const listed = (what, labels) => labels.length && box.append(element("p", {}, what, element("code", {}, labels.join("; "))));
  listed("Starved, enabled again and again but never for good: ", starved);
  listed("Enabled there, but nothing obliges it: ", unobliged);
  return box;
}

function link(text, action) {
  return element("button", { type: "button", className: "link", onclick: action }, text);
}

const turned = new Set(); // the names of the properties that the reader has opened, or, of violated ones, closed

// The properties in the state after a row: those that change along the trace one by one, the others together.
function drawProperties(panel, course, place, go) {
  const opened = new Set([...panel.querySelectorAll(".alike[open]")].map((group) => group.dataset.word));
  const [side, other] = course.sides;
  const [at, beside] = course.states[place];
  const counterpart = new Map(other?.properties.map((property) => [property.name, property]));
  const list = element("ul", { className: "properties" });
  const alike = new Map();
  for (const property of side.properties) {
    const theirs = counterpart.get(property.name);
    const word = throughout(property);
    if (property.name !== side.violated && word in TOGETHER && (!theirs || throughout(theirs) === word)) {
      alike.set(word, [...(alike.get(word) ?? []), property]);
    } else {
      list.append(propertyTold([{ property, side, at }, ...(theirs ? [{ property: theirs, side: other, at: beside }] : [])], go));
    }
  }
  panel.replaceChildren(list);
  for (const [word, properties] of alike) {
    const names = element("ul", {}, ...properties.map((property) =>
      element("li", {}, element("code", { className: "name" }, property.name), " ",
        element("span", { className: "quiet" }, property.doc))));
    const group = element("details", { className: "alike", open: opened.has(word) },
      element("summary", {}, sign(word), " ", TOGETHER[word](properties.length)), names);
    group.dataset.word = word;
    panel.append(group);
  }
}

// What a property is in every state that it speaks of, if that is the same in all.
function throughout({ spans }) {
  const words = new Set(spans.map(([, word]) => word));
  if (words.size > 1) words.delete("none");
  return words.size === 1 ? [...words][0] : undefined;
}

function sign(word) {
  return element("span", { className: `sign ${word}`, ariaHidden: "true" }, SIGNS[word][0]);
}

// A property in the state of each side: its words, what it says and, where it is violated, why.
function propertyTold(views, go) {
  const [{ property }] = views;
  const words = views.map((view) => view.side.word(view.property, view.at));
  const violated = words.includes("violated");
  const told = words.map((word) => element("span", { className: "word" }, SIGNS[word][1]));
  const summary = element("summary", { onclick: () => turned.delete(property.name) || turned.add(property.name) },
    sign(words[0]), " ", element("code", { className: "name" }, property.name), " ", told[0],
    ...(words.length === 2 ? [element("span", { className: "quiet" }, " · second: "), sign(words[1]), " ", told[1]] : []));
  const item = element("details", { className: violated ? "property violated" : "property", open: turned.has(property.name) !== violated },
    summary, element("p", { className: "doc" }, property.doc), element("p", { className: "quiet place" }, property.place));
  item.dataset.name = property.name;
  if (property.expected) item.append(element("p", { className: "quiet" }, `Expected to be violated: ${property.expected}`));
  for (const [number, view] of views.entries()) {
    const reason = view.side.reason(view.property, view.at);
    if (reason) item.append(reasonTold(reason, view, views.length === 2 ? ["First: ", "Second: "][number] : "", go));
  }
  return element("li", {}, item);
}

function reasonTold({ since, conditions, false: parts }, { side, property, at }, whose, go) {
  const count = `${parts.length} of its ${conditions} conditions ${parts.length === 1 ? "does" : "do"}`;
  const what = `${whose}${conditions === 1 ? "It does" : count} not hold `;
  const when = property.kind === "step" ? "of this step" : since === at ? (at ? "from this step on" : "from the start") : null;
  const told = element("p", {}, what,
    ...(when ? [when, ":"] : [link(`since step ${since}`, () => go(since, side)), "; what decided it then:"]));
  return element("div", { className: "reason" }, told, falseParts(parts));
}

// Conditions that are false, each with the values that decide it.
function falseParts(parts) {
  return element("ul", {}, ...parts.map(([conjunct, values]) => element("li", {}, element("code", {}, conjunct),
    values.length ? element("span", { className: "values" }, values.join("; ")) : null)));
}
