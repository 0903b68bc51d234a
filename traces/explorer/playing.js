// Playing with the model: the reader's own runs, what they are made with, and the start of the page.

const WALK = 25; // actions of a random walk, at most

// The run that is shown and where one is in it, if there is one run and its model is here.
function here() {
  const one = recordings[chosen.first];
  if (!one.run || course.sides.length === 2) return undefined;
  return { ...one.run, number: chosen.first, at: chosen.place, state: one.run.states[chosen.place] };
}

function showPlaying() {
  const place = here();
  $("next-section").hidden = !place;
  $("playing").hidden = !runs.models.length;
  for (const id of ["walk", "way", "save", "pin"]) $(id).disabled = !place;
  $("undo").disabled = !runs.undone.length;
  const { own, name } = recordings[chosen.first];
  $("name-label").hidden = !own || !place;
  if (own && document.activeElement !== $("name")) $("name").value = name;
  if (place) drawChoices($("next"), place.model, place.state, place.actions[place.at], (action) => take([action]));
}

// Goes on from here with these actions.
function take(actions) {
  $("guide").open = false;
  const { number, at } = here();
  const inNext = $("next").contains(document.activeElement);
  const [run, step] = runs.take(number, at, actions);
  open(run, -1, step);
  say(spoken());
  if (inNext) $("next").querySelector("button")?.focus({ preventScroll: true });
}

function undo() {
  const back = runs.undo();
  if (!back) return;
  open(back[0], -1, back[1]);
  say(`taken back; ${spoken()}`);
}

// Takes actions at random, until nothing can happen or a property that should hold does not.
function walk() {
  const place = here();
  if (!place) return;
  const { machine, held } = place.model;
  const expected = new Set(held.properties.filter((property) => property.expected).map((property) => property.name));
  const judged = held.machine.states.map((name) => held.properties.find((property) => property.name === name));
  const wrong = (before, state) => {
    const holds = new Set(machine.observe(state));
    const steps = new Set(machine.observeStep(before, state));
    return judged.some(({ kind, name }, number) => kind === "always" && !expected.has(name) && !holds.has(number))
      || held.machine.steps.some((_, number) => !sameState(before, state) && !steps.has(number));
  };
  const actions = [];
  for (let { state } = place; actions.length < WALK;) {
    const enabled = machine.enabled(state);
    if (!enabled.length) break;
    actions.push(enabled[Math.floor(Math.random() * enabled.length)]);
    const after = machine.apply(state, actions.at(-1));
    if (wrong(state, after)) break;
    state = after;
  }
  if (actions.length) take(actions);
}

// --- the shortest way

let stopSearch = null;

function showSearch() {
  const place = here();
  if (!place) return;
  const { properties } = place.model.held;
  const option = (text, value) => element("option", { value }, text);
  const group = (label, kinds, before) => {
    const found = properties.filter(({ kind }) => kinds.includes(kind));
    return found.length ? [element("optgroup", { label }, ...found.map(({ name }) => option(`${before}${name}`, name)))] : [];
  };
  const chosenBefore = $("target").value;
  $("target").replaceChildren(...group("a violation of", ["always", "step", "deadlock"], "a violation of "),
    ...group("where it is so", ["sometimes"], ""), option("a state where…", ""));
  $("target").value = properties.some(({ name }) => name === chosenBefore) ? chosenBefore
    : place.violated ?? $("target").options[0].value;
  $("search-told").textContent = "";
  $("conditions-label").hidden = $("target").value !== "";
  $("search").showModal();
}

function beginSearch() {
  const place = here();
  const property = place.model.held.properties.find(({ name }) => name === $("target").value);
  const most = Number($("most").value);
  let target;
  try {
    target = property ? { property: property.name, kind: property.kind, step: property.kind === "step" }
      : { terms: conditions($("conditions").value, place.model) };
  } catch (error) {
    $("search-told").textContent = error.message;
    return;
  }
  searchingNow(true);
  stopSearch = search(place.model, place.state, target, most, (told) => {
    const countOf = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
    const seen = told.count === undefined ? "" : countOf(told.count, "state");
    const over = told.found || told.none || told.cut || told.error;
    if (over) searchingNow(false);
    $("search-told").textContent = told.error ? `It could not be searched: ${told.error}`
      : told.none ? `There is no way: all ${seen} that can be reached from here were seen.`
      : told.cut ? `Not found: it stopped after ${seen}, up to ${countOf(told.depth, "step")} from here. Nothing is known of the others.`
      : told.found ? (told.found.length ? `Found, ${countOf(told.found.length, "step")} from here; ${seen} were seen.` : "It is so here.")
      : `${seen}, up to ${countOf(told.depth, "step")} from here…`;
    if (told.found?.length) {
      const text = $("search-told").textContent;
      $("search").close();
      take(told.found);
      say(`${text} ${spoken()}`);
    }
  });
}

function searchingNow(is) {
  $("search-go").disabled = is;
  $("search-stop").disabled = !is;
}

function endSearch() {
  if ($("search-stop").disabled) return;
  stopSearch();
  searchingNow(false);
  $("search-told").textContent = `Stopped. So far: ${$("search-told").textContent}`;
}

// --- files

function fileName() {
  const stem = `${here().model.held.protocol}-${recordings[chosen.first].name}`.replace(/\W+/g, "-").replace(/^-|-$/g, "").slice(0, 60);
  return `${stem}.itf.json`;
}

function save() {
  const text = fileOf(here(), runs.ends(chosen.first));
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  element("a", { href: address, download: fileName() }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
  say(`saved as ${fileName()}`);
}

async function load(file) {
  try {
    const made = runs.load(await file.text(), file.name.replace(/\.itf\.json$/, ""));
    open(made, -1, recordings[made].last);
    say(spoken());
  } catch (error) {
    $("count").textContent = `${file.name}: ${error instanceof SyntaxError ? "it is not JSON" : error.message}`;
    say($("count").textContent);
  }
}

function showTest() {
  $("test-file").textContent = fileName();
  $("test-text").textContent = testOf(fileName(), runs.ends(chosen.first));
  $("test").showModal();
}

$("undo").onclick = undo;
$("walk").onclick = walk;
$("way").onclick = showSearch;
$("save").onclick = save;
$("pin").onclick = showTest;
$("load").onchange = () => {
  if ($("load").files.length) load($("load").files[0]);
  $("load").value = "";
};
$("name").oninput = () => {
  runs.rename(chosen.first, $("name").value.trim() || "unnamed");
  showChoices();
  showAddress();
};
$("target").onchange = () => { $("conditions-label").hidden = $("target").value !== ""; };
$("search-form").onsubmit = (event) => {
  event.preventDefault();
  beginSearch();
};
$("search-stop").onclick = endSearch;
$("search-close").onclick = () => $("search").close();
$("search").onclose = endSearch;

// --- the guide

// The faults that can happen here, by number.
function faultsHere(place) {
  return place.model.machine.enabled(place.state).filter((number) => place.model.held.actions[number].fault);
}

function showGuide() {
  const { guide } = data;
  $("guide").hidden = !guide;
  if (!guide) return;
  $("guide-about").textContent = guide.about;
  $("guide-actors").textContent = `Who acts: ${guide.actors.join(", ")}.`;
  const wrong = [...guide.faults, ...guide.bugs];
  $("guide-wrong").textContent = wrong.length ? `What can go wrong: ${wrong.map(([name]) => name).join(", ")}` : "No fault in this instance: --set allows some";
  $("guide-faults").replaceChildren(...wrong.map(([name, doc]) => element("div", {}, element("dt", {}, element("code", {}, name)), element("dd", {}, doc))));
  const offer = (id, wanted, text, act) => {
    $(id).hidden = !wanted;
    if (wanted) Object.assign($(id), { textContent: text, onclick: act });
  };
  offer("try-bug", guide.bug, `Follow a run to a known bug: ${guide.bug?.name}`, () => {
    open(guide.bug.trace, -1, 0);
    $("guide").open = false;
    say(`${guide.bug.doc}; ${spoken()}`);
  });
  offer("try-fault", guide.faults.length, "Inject a fault", () => {
    const place = here();
    const faults = place ? faultsHere(place) : [];
    if (faults.length) take([faults[0]]);
    else say("No fault can happen here: take a step first.");
  });
  offer("try-property", guide.property, `Break a property: ${guide.property?.name}`, () => {
    showSearch();
    if (!$("search").open) return;
    $("target").value = guide.property.name;
    $("conditions-label").hidden = true;
  });
}

// --- the start

showGuide();

const asked = location.hash;
$("without").hidden = recordings.every((one) => one.model !== null);
follow(asked);
$("timeline").focus({ preventScroll: true });
const playing = Promise.all(data.models.map(Model.of)).then((models) => {
  runs.ready(models);
  if (asked.includes(".")) follow(asked);
  else showPlaying();
  filter(); // draws what is under way, too
  showChoices();
  document.documentElement.dataset.ready = "yes";
}).catch((error) => {
  $("without").textContent = `The model does not run in this browser (${error.message}): here is the trace alone.`;
  $("without").hidden = false;
});
