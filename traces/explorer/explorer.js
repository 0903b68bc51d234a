// The page: which trace is shown, where one is in it, and what the reader does.

const data = JSON.parse(document.getElementById("data").textContent);
const recordings = data.traces.map((told) => new Recording(told));
const runs = new Runs(recordings);
const $ = (id) => document.getElementById(id);

const chosen = { first: 0, second: -1, place: 0, actors: new Set(), terms: [], only: false };
const NARROW = matchMedia("(max-width: 52rem)"); // as in style.css
let course = null;
let visible = []; // the rows that pass the filters
let width = 0; // of a lane

const timeline = new Rows($("timeline"), ROW, (row, shown) => {
  const place = visible[shown];
  if (course.sides.length === 2) drawPair(row, course, place);
  else drawStep(row, course.sides[0], place, width);
});

const stateTable = new StateTable($("state"));

// --- what is shown

function pairOf(first, second) {
  const pair = data.pairs.find((one) => [one.first, one.second].every((at) => at === first || at === second));
  if (!pair) return comparable(first, second) ? runs.aligned(first, second) : undefined;
  return pair.first === first ? pair.rows : pair.rows.map(([one, other]) => [other, one]);
}

function comparable(first, second) {
  return first !== second && recordings[first].protocol === recordings[second].protocol;
}

function open(first, second, place) {
  const rows = second >= 0 && second !== first ? pairOf(first, second) : undefined;
  Object.assign(chosen, { first, second: rows ? second : -1 });
  const one = recordings[first];
  course = rows ? Course.comparing(one, recordings[second], rows) : Course.of(one);
  const actors = new Set(course.sides.flatMap((side) => side.lanes));
  chosen.actors = new Set([...chosen.actors].filter((name) => actors.has(name)));
  showAbout(one);
  showChoices();
  showActors([...actors]);
  const longest = Math.max(0, ...one.lanes.map((name) => name.length));
  width = Math.max(44, Math.min(NARROW.matches ? Infinity : 96, 8 * longest + 12)); // a narrow page is swiped sideways
  document.body.classList.toggle("comparing", Boolean(rows));
  const longestOf = (least, texts) => `${Math.max(least, ...course.sides.flatMap(texts).map((text) => text.length))}ch`;
  const sizes = {
    who: longestOf(4, (side) => side.lanes),
    digits: longestOf(1, (side) => [String(side.last)]),
    label: longestOf(12, (side) => side.actions.map((action) => action.label)),
    lanes: `${rows ? 0 : width * one.lanes.length}px`,
  };
  for (const [name, size] of Object.entries(sizes)) document.body.style.setProperty(`--${name}`, size);
  $("slider").max = course.last;
  $("to-loop").hidden = !course.sides[0].repeats();
  $("to-violation").hidden = !course.alarms().length;
  $("to-parting").hidden = !rows;
  showHeads();
  filter();
  go(Math.max(0, Math.min(place, course.last)), { quiet: true });
}

function showAbout(one) {
  const about = one.properties.find((property) => property.name === one.violated);
  $("headline").textContent = one.violated ?? one.protocol;
  const word = about && (one.own ? one.word(about, one.last) : about.kind === "sometimes" ? "reached" : "violated");
  $("outcome").textContent = word ? SIGNS[word][1] : "";
  $("outcome").classList.toggle("good", ["holds", "reached", "settled"].includes(word));
  $("meaning").textContent = about?.doc ?? "";
  const bugs = one.bugs.length ? ` with ${one.bugs.join(", ")}` : "";
  const steps = `${one.last} step${one.last === 1 ? "" : "s"}`;
  const ends = one.loop ? (one.repeats() ? `, ${one.last - one.loop.start} of them forever` : ", then stops forever") : "";
  $("summary").textContent = `${one.protocol}${bugs}: ${steps}${ends}`;
  const rows = [...one.parameters, ["bugs", one.bugs.join(", ") || "none"], ["found by", one.found], ["file", one.name]];
  $("instance").replaceChildren(...rows.filter(([, value]) => value).map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

function showChoices() {
  const option = (text, value) => element("option", { value }, text);
  $("first").replaceChildren(...recordings.map((one, at) => option(one.name, at)));
  const others = recordings.flatMap((one, at) => (comparable(chosen.first, at) ? [option(one.name, at)] : []));
  $("second").replaceChildren(option("nothing", -1), ...others);
  $("first").value = chosen.first;
  $("second").value = chosen.second;
  $("first-label").hidden = recordings.length < 2;
  $("second-label").hidden = !others.length;
}

function showActors(names) {
  $("actors").replaceChildren(...names.map((name) => element("button", {
    type: "button", className: "chip", ariaPressed: String(chosen.actors.has(name)),
    onclick: (event) => {
      if (!chosen.actors.delete(name)) chosen.actors.add(name);
      event.currentTarget.ariaPressed = String(chosen.actors.has(name));
      filter();
      say(shown());
    },
  }, name)));
}

function showHeads() {
  const two = course.sides.length === 2;
  const names = two ? course.sides.map((side) => element("span", { className: "side" }, side.name))
    : course.sides[0].lanes.map((name) => element("span", { className: "lane", title: name, style: `width:${width}px` }, name));
  $("heads").replaceChildren(element("span", { className: "before" }), ...names);
  $("heads").scrollLeft = 0;
}

function filter() {
  visible = [];
  for (let place = 0; place <= course.last; place++) {
    if (course.passes(place, chosen.actors, chosen.terms)) visible.push(place);
  }
  $("count").textContent = shown();
  timeline.reset(visible.length);
  timeline.choose(visible.indexOf(chosen.place));
}

function shown() {
  const what = `${course.sides.length === 2 ? "row" : "step"}${course.last === 1 ? "" : "s"}`;
  return visible.length > course.last ? `${course.last} ${what}` : `${visible.length - 1} of ${course.last} ${what}`;
}

// --- moving

function go(place, { quiet = false } = {}) {
  chosen.place = place;
  timeline.choose(visible.indexOf(place));
  const [side] = course.sides;
  $("step-title").textContent = course.sides.length === 2 ? `Row ${place} of ${course.last}`
    : place ? `Step ${place} of ${course.last}` : "Initial state";
  $("slider").value = place;
  $("slider").setAttribute("aria-valuetext", spoken());
  $("to-first").disabled = $("to-previous").disabled = place === 0;
  $("to-last").disabled = place === course.last;
  $("to-next").disabled = place === course.last && !wraps();
  drawStepPanel($("step"), course, place, goToState);
  drawProperties($("properties"), course, place, goToState);
  showState();
  showPlaying();
  showAddress();
  if (!quiet) say(spoken());
  document.title = document.title.replace(/^(\d+\/\d+ )?/, side.last ? `${place}/${course.last} ` : "");
}

function goToState(at, side) {
  const number = course.sides.indexOf(side);
  go(course.states.findIndex((states) => states[number] === at));
}

function showState() {
  const two = course.sides.length === 2;
  $("only-label").textContent = two ? "only what differs" : "only what changed";
  const rows = stateTable.show(course, chosen.place, chosen.terms, chosen.only);
  $("nothing").hidden = rows > 0;
  $("state").hidden = rows === 0;
}

function wraps() {
  return course.sides.length === 1 && course.sides[0].repeats();
}

function move(count) {
  const shown = visible.findIndex((place) => place >= chosen.place);
  const here = visible[shown] === chosen.place;
  if (count > 0 && chosen.place === course.last && wraps()) {
    go(course.sides[0].loop.start + 1);
  } else if (shown < 0) {
    go(visible.at(-1));
  } else {
    const target = shown + (count > 0 && !here ? count - 1 : count);
    go(visible[Math.max(0, Math.min(visible.length - 1, target))]);
  }
}

function violation(way) {
  const places = course.alarms();
  const found = way > 0 ? places.find((place) => place > chosen.place) ?? places[0]
    : places.findLast((place) => place < chosen.place) ?? places.at(-1);
  if (found !== undefined) go(found);
}

function loop() {
  if (wraps()) go(course.sides[0].loop.start);
}

function parting() {
  if (course.parting >= 0) go(course.parting);
  else if (course.sides.length === 2) say("The two traces are the same throughout.");
}

// --- what a screen reader says

let saying = 0;

function say(text) {
  clearTimeout(saying);
  saying = setTimeout(() => { $("live").textContent = text; }, 120);
}

function spoken() {
  const told = course.sides.map((side, number) => {
    const step = course.steps[chosen.place][number];
    if (step === null) return "no step";
    if (step === 0) return "initial state";
    const action = side.action(step);
    const state = side.state(step);
    const changes = side.changed(step).map((variable) => `${side.variables[variable].name} becomes ${state[variable]}`);
    const begins = side.alarms.get(step) ?? [];
    return [`step ${step} of ${side.last}, ${side.lanes[action.by]}: ${action.label}${action.fault ? ", a fault" : ""}`,
      ...changes, ...begins.map((property) => `${property.name} becomes false`)].join("; ");
  });
  return told.length === 2 ? `First: ${told[0]}. Second: ${told[1]}` : told[0];
}

// --- what the reader does

const KEYS = {
  ArrowDown: () => move(1), ArrowRight: () => move(1), j: () => move(1),
  ArrowUp: () => move(-1), ArrowLeft: () => move(-1), k: () => move(-1),
  PageDown: () => move(10), PageUp: () => move(-10),
  Home: () => go(0), End: () => go(course.last),
  v: () => violation(1), V: () => violation(-1), l: loop, d: parting,
  c: () => $("next").querySelector("button")?.focus(), u: () => undo(), r: () => walk(), s: () => showSearch(),
  t: () => theme(!isDark()), "/": () => $("variables").focus(), "?": () => $("keys").showModal(),
};

document.addEventListener("keydown", (event) => {
  const undoes = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "z";
  if (undoes && !document.querySelector("dialog[open]") && !event.target.closest("input:not([type=range], [type=checkbox])")) {
    event.preventDefault();
    undo();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const scrolls = event.key.length > 1;
  if (event.target.closest(scrolls ? "input, select, .details" : "input:not([type=range], [type=checkbox]), select")) {
    if (event.key === "Escape") $("timeline").focus();
    return;
  }
  const action = KEYS[event.key];
  if (action) {
    event.preventDefault();
    action();
  }
});

$("timeline").addEventListener("click", (event) => {
  const row = event.target.closest(".row");
  if (row) go(visible[Number(row.dataset.place)]);
});
$("timeline").addEventListener("scroll", () => { $("heads").scrollLeft = $("timeline").scrollLeft; }, { passive: true });
$("to-first").onclick = KEYS.Home;
$("to-previous").onclick = () => move(-1);
$("to-next").onclick = () => move(1);
$("to-last").onclick = KEYS.End;
$("to-violation").onclick = () => violation(1);
$("to-loop").onclick = loop;
$("to-parting").onclick = parting;
$("slider").oninput = () => go(Number($("slider").value));
$("first").onchange = () => open(Number($("first").value), -1, 0);
$("second").onchange = () => {
  open(chosen.first, Number($("second").value), 0);
  if (course.parting >= 0) go(course.parting);
};
$("variables").oninput = () => {
  chosen.terms = $("variables").value.toLowerCase().split(/[\s,]+/).filter(Boolean);
  filter();
  showState();
  say(shown());
};
$("only").onchange = () => {
  chosen.only = $("only").checked;
  showState();
};
$("help").onclick = () => $("keys").showModal();

// --- light and dark

function isDark() {
  const set = document.documentElement.style.colorScheme;
  return set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function theme(dark) {
  document.documentElement.style.colorScheme = dark ? "dark" : "light";
  $("theme").ariaPressed = String(dark);
}

$("theme").onclick = () => theme(!isDark());
$("theme").ariaPressed = String(isDark());

// --- links to a step

function showAddress() {
  const { first, second, place } = chosen;
  const step = course.sides.length === 2 ? `row=${place}&with=${addressOf(second)}` : `step=${course.states[place][0]}`;
  const fragment = `#trace=${addressOf(first)}&${step}`;
  if (location.hash !== fragment) history.replaceState(null, "", fragment);
}

// How the address names a run: by its number, and where it is the reader's own as the run that it leaves, where, how it goes on
// and its name.
function addressOf(number) {
  if (!recordings[number].own) return String(number + 1);
  const { origin, keep, then } = runs.way(number);
  return `${origin + 1}.${keep}.${then.join("-")}.${encodeURIComponent(recordings[number].name)}`;
}

function addressed(text) {
  const [, origin, keep, then, name] = /^(\d+)(?:\.(\d+)\.([\d-]*)(?:\.(.+))?)?$/.exec(text ?? "") ?? [];
  const number = Number(origin) - 1;
  if (!recordings[number]) return -1;
  if (keep === undefined || !recordings[number].run) return number;
  return runs.follow(number, Number(keep), then.split("-").filter(Boolean).map(Number), name) ?? number;
}

function follow(hash) {
  const asked = new URLSearchParams(hash.slice(1));
  const number = (name) => (/^\d+$/.test(asked.get(name) ?? "") ? Number(asked.get(name)) : undefined);
  const first = Math.max(addressed(asked.get("trace")), 0);
  open(first, addressed(asked.get("with")), number("row") ?? number("step") ?? recordings[first].last);
}

NARROW.addEventListener("change", () => open(chosen.first, chosen.second, chosen.place));
addEventListener("hashchange", () => follow(location.hash));
