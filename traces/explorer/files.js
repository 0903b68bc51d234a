// Runs as trace files, in the Informal Trace Format as `fencepost trace` writes and reads them.

const EXACT = 2n ** 53n - 1n;

function encoded({ kind, values }, raw) {
  if (kind === "flag") return Boolean(raw);
  if (kind === "subset") return { "#set": membersOf(values, raw) };
  if (kind === "choice") return values[Number(raw)];
  return raw <= EXACT && raw >= -EXACT ? Number(raw) : { "#bigint": String(raw) };
}

function fileState({ held, fields }, state, index, action) {
  const made = { "#meta": { index } };
  held.variables.forEach((variable, place) => {
    const value = encoded(variable, unpacked(state, fields[place]));
    if (variable.key === null) made[variable.family] = value;
    else (made[variable.family] ??= { "#map": [] })["#map"].push([variable.key, value]);
  });
  made["mbt::actionTaken"] = action?.name ?? "init";
  made["mbt::nondetPicks"] = Object.fromEntries(
    Object.entries(action?.arguments ?? {}).map(([name, value]) => [name, { tag: "Some", value }]));
  return made;
}

// The text of the trace file of a run; `violated` names the property that its end violates, or reaches.
function fileOf({ model, states, actions }, violated) {
  const { held } = model;
  const families = [...new Set(held.variables.map((variable) => variable.family))];
  return `${JSON.stringify({
    "#meta": {
      format: "ITF", "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html", "fencepost-version": 1,
      protocol: held.protocol, parameters: held.parameters, bugs: held.bugs, property: violated, "found-by": "page", seed: null,
    },
    vars: [...families, "mbt::actionTaken", "mbt::nondetPicks"],
    states: states.map((state, index) => fileState(model, state, index, index ? held.actions[actions[index - 1]] : undefined)),
  }, null, 1)}\n`;
}

// The run in the text of a trace file of one of these models; throws an Error that says why it has none.
function runIn(text, models) {
  const told = JSON.parse(text);
  const meta = told["#meta"] ?? {};
  if (meta["fencepost-version"] !== 1 || !Array.isArray(told.states) || !told.states.length) throw new Error("it is not a trace that Fencepost wrote");
  const number = models.findIndex(({ held }) => held.protocol === meta.protocol && alike(held.parameters, meta.parameters)
    && alike([...held.bugs].sort(), [...meta.bugs ?? []].sort()));
  if (number < 0) {
    const bugs = meta.bugs?.length ? ` with ${meta.bugs.join(", ")}` : "";
    throw new Error(`it is of an instance of ${meta.protocol}${bugs} that is not in this page: fencepost trace html shows it`);
  }
  const model = models[number];
  const { held } = model;
  const initial = packed(held.variables.map((variable) => BigInt(variable.initial.find((raw) => {
    const value = told.states[0][variable.family];
    const mine = variable.key === null ? value : value?.["#map"]?.find(([key]) => alike(key, variable.key))?.[1];
    return alike(encoded(variable, BigInt(raw)), mine);
  }) ?? fail(`it does not start as ${held.protocol} does: ${variable.name}`))), model.fields, model.machine.words);
  const states = [initial];
  const actions = told.states.slice(1).map((state, place) => {
    const action = held.actions.findIndex((one) => one.name === state["mbt::actionTaken"]
      && alike(one.arguments, Object.fromEntries(Object.entries(state["mbt::nondetPicks"] ?? {}).map(([name, { value }]) => [name, value]))));
    if (!model.machine.enabled(states.at(-1)).includes(action)) fail(`step ${place + 1}, ${state["mbt::actionTaken"]}, cannot happen there`);
    states.push(model.machine.apply(states.at(-1), action));
    const { "#meta": _, ...values } = fileState(model, states.at(-1), 0, held.actions[action]);
    for (const name of Object.keys(values)) {
      if (!alike(values[name], state[name])) fail(`step ${place + 1} leads elsewhere: ${name}`);
    }
    return action;
  });
  return { model, number, states, actions, violated: meta.property ?? null };
}

function fail(why) {
  throw new Error(why);
}

// Whether two values of JSON are the same, whatever the order of names in an object.
function alike(one, other) {
  if (typeof one !== "object" || one === null || typeof other !== "object" || other === null) return one === other;
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => name in other && alike(one[name], other[name]));
}

// A test of pytest that keeps a run, which is beside it in a file.
function testOf(file, violated) {
  const what = violated ? `${violated}_is_violated` : "the_run_is_possible";
  return `from pathlib import Path

TRACE = Path(__file__).with_name("${file}")


def test_${what}(fencepost_replay):
    outcome = fencepost_replay(TRACE)
    assert outcome.replays, outcome.why
`;
}
