// What the rows of the timeline stand for, of one trace or of two side by side, and how each is drawn.

const ROW = 30; // pixels; style.css has the same

class Course {
  // `sides` are one or two recordings; `steps` has for each row the step of each side, null where a side takes none.
  constructor(sides, steps) {
    this.sides = sides;
    this.steps = [sides.map(() => 0), ...steps];
    this.states = [];
    for (const row of this.steps) {
      const before = this.states.at(-1);
      this.states.push(row.map((step, side) => step ?? before[side]));
    }
    this.last = this.steps.length - 1;
    this.parting = sides.length === 2 ? this.steps.findIndex((row, place) => this.parts(row, place)) : -1;
  }

  static of(recording) {
    return new Course([recording], Array.from({ length: recording.last }, (_, at) => [at + 1]));
  }

  static comparing(first, second, rows) {
    return new Course([first, second], rows.map((row) => row.map((at) => (at === null ? null : at + 1))));
  }

  parts(row, place) {
    const [one, other] = this.sides;
    return row.includes(null) || this.differing(place).length > 0
      || (place > 0 && one.action(row[0]).label !== other.action(row[1]).label);
  }

  // The names of the variables of both sides that have another value in each, after the steps of a row.
  differing(place) {
    const [one, other] = this.sides;
    const [mine, theirs] = this.sides.map((side, number) => side.state(this.states[place][number]));
    return [...one.positions].filter(
      ([name, at]) => other.positions.has(name) && mine[at] !== theirs[other.positions.get(name)]).map(([name]) => name);
  }

  // The rows after whose steps a property begins to be violated.
  alarms() {
    return this.steps.flatMap((row, place) =>
      (row.some((step, side) => step !== null && this.sides[side].alarms.has(step)) ? [place] : []));
  }

  // Whether a row passes the filters: lanes by their names, variables by parts of theirs.
  passes(place, actors, terms) {
    if (place === 0) return true;
    return this.sides.some((side, number) => {
      const step = this.steps[place][number];
      if (step === null) return false;
      const lanes = new Set([...actors].map((name) => side.lanes.indexOf(name)));
      return (!actors.size || side.concerns(step, lanes))
        && (!terms.length || side.changed(step).some((variable) => named(side.variables[variable].name, terms)));
    });
  }
}

function named(name, terms) {
  return !terms.length || terms.some((term) => name.toLowerCase().includes(term));
}

// Draws the row of one trace's step: its number, who did what, and the message between the lanes.
function drawStep(row, side, step, width) {
  const looping = side.repeats() && step > side.loop.start;
  if (looping) row.classList.add("looping");
  if (looping && step === side.loop.start + 1) row.classList.add("loop-start");
  if (looping && step === side.last) row.classList.add("loop-end");
  row.append(...told(side, step));
  row.append(lanes(side, step, width));
}

// A mark where properties begin to be violated: a strong one for the property that the trace is about.
function alarm(properties, about) {
  if (!properties.length) return element("span", { className: "mark" });
  const text = `${properties.map((property) => property.name).join(", ")} ${properties.length === 1 ? "becomes" : "become"} false`;
  const strong = properties.some((property) => property.name === about);
  return element("span", { className: strong ? "mark strong" : "mark", title: text },
    element("span", { ariaHidden: "true" }, strong ? "✕" : "△"), element("span", { className: "unseen" }, ` ${text} `));
}

function told(side, step) {
  const mark = alarm(side.alarms.get(step) ?? [], side.violated);
  const number = element("span", { className: "number" }, String(step));
  if (step === 0) return [number, mark, element("span", { className: "label start" }, "initial state")];
  const action = side.action(step);
  return [
    number,
    mark,
    element("span", { className: "who", title: side.lanes[action.by] }, side.lanes[action.by]),
    element("span", { className: action.fault ? "label fault" : "label", title: action.label }, action.label,
      action.fault ? element("span", { className: "unseen" }, ", a fault") : null,
      side.below?.[step] ? element("span", {}, element("span", { ariaHidden: "true" }, " ↳"),
        element("span", { className: "unseen" }, ", explained by a run")) : null),
  ];
}

// Draws a row of two traces: what each does, and a sign where only one does it.
function drawPair(row, course, place) {
  const [one, other] = course.steps[place];
  const [sign, word] = one === null ? ["+", "only in the second: "] : other === null ? ["−", "only in the first: "] : ["", ""];
  row.classList.add("pair", ...(one === null ? ["second-only"] : other === null ? ["first-only"] : []));
  if (place === course.parting) row.classList.add("parting");
  row.append(element("span", { className: "sign" }, element("span", { ariaHidden: "true" }, sign),
    element("span", { className: "unseen" }, word)));
  for (const [number, side] of course.sides.entries()) {
    const step = course.steps[place][number];
    row.append(element("span", { className: "side" }, ...(step === null ? [] : told(side, step))));
  }
}

function drawn(name, properties) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(properties)) made.setAttribute(key, value);
  return made;
}

// The lanes at one step: a line for each, and the messages from one to another, or a box where there are none.
function lanes(side, step, width) {
  const svg = drawn("svg", { class: "lanes", width: width * side.lanes.length, height: ROW, "aria-hidden": "true" });
  const middle = ROW / 2;
  const at = (lane) => (lane + 0.5) * width;
  side.lanes.forEach((_, lane) => svg.append(drawn("line", { class: "life", x1: at(lane), x2: at(lane), y1: 0, y2: ROW })));
  if (step) svg.append(...underWay(side, step - 1, at, 0, middle));
  svg.append(...underWay(side, step, at, middle, ROW));
  if (step === 0) return svg;
  const { by, fault } = side.action(step);
  const messages = side.messages(step);
  const group = drawn("g", { class: fault ? "message fault" : "message" });
  svg.append(group);
  if (!messages.length) {
    group.append(fault ? cross(at(by), middle, 5) : drawn("rect", { x: at(by) - 4, y: middle - 7, width: 8, height: 14, rx: 2 }));
  }
  for (const [from, to, underWay] of messages) {
    const way = to > from ? 1 : -1;
    const end = at(to) - way * 3;
    group.append(drawn("circle", { cx: at(from), cy: middle, r: 3.5 }));
    group.append(drawn("line", { class: underWay ? "way sent" : "way", x1: at(from), x2: end, y1: middle, y2: middle }));
    group.append(fault ? cross(end, middle, 5) : underWay ? drawn("path", { class: "tip", d: `M ${end - 7 * way} ${middle - 4.5} L ${end} ${middle} l ${-7 * way} 4.5` })
      : drawn("path", { d: `M ${end} ${middle} l ${-7 * way} -4.5 v 9 z` }));
  }
  return svg;
}

// Marks the lanes that a message can reach in a state, if the page holds the model that tells.
function underWay(side, step, at, from, to) {
  if (!side.run) return [];
  const arriving = new Set(side.run.model.arriving(side.run.states[step]).map(({ actor }) => side.lanes.indexOf(actor)));
  return [...arriving].filter((lane) => lane >= 0).map((lane) =>
    drawn("line", { class: "pending", x1: at(lane), x2: at(lane), y1: from, y2: to }));
}

function cross(x, y, size) {
  const across = 2 * size;
  return drawn("path", { class: "cross", d: `M ${x - size} ${y - size} l ${across} ${across} m 0 ${-across} l ${-across} ${across}` });
}
