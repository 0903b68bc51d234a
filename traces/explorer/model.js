// The model that the page holds: runs of it as recordings, what may happen in a state, and why something may not.

class Model {
  static async of(held) {
    const [machine, observer] = await Promise.all([Machine.of(held.machine), Machine.of(held.observer)]);
    return new Model(held, machine, observer);
  }

  constructor(held, machine, observer) {
    Object.assign(this, { held, machine, observer });
    this.fields = held.variables.map((variable) => variable.field);
    this.numbers = new Map(held.actions.map((action, number) => [action.label, number]));
  }

  values(state) {
    return this.fields.map((field) => unpacked(state, field));
  }

  shown(state) {
    return this.values(state).map((raw, place) => inWords(this.held.variables[place], raw));
  }

  // The states of a run, the first one first; undefined if one of the actions cannot happen there.
  states(initial, actions) {
    const states = [initial];
    for (const action of actions) {
      if (!this.machine.enabled(states.at(-1)).includes(action)) return undefined;
      states.push(this.machine.apply(states.at(-1), action));
    }
    return states;
  }

  // The messages of an action that leads from these values to those: those that do not depend on them, and what it sends.
  messages(action, before, after) {
    const { arrows, posts, by } = this.held.actions[action];
    const posted = posts.filter(([, place, member]) => (member === null ? before[place] !== after[place] : (after[place] >> BigInt(member)) & 1n));
    return [...arrows, ...posted.map(([to]) => [by, to, true])];
  }

  // What can arrive in a state: the actions by which a message of another actor does.
  arriving(state) {
    return this.machine.enabled(state).map((action) => this.held.actions[action]).filter(({ hears }) => hears && hears !== "store");
  }

  // Why an action cannot happen in a state: of how many conditions which are false, each with what decides it.
  whyNot(action, state) {
    return this.why(this.held.actions[action].guard, this.held.observer.states, new Set(this.observer.observe(state)), [state]);
  }

  // Of `parts`, pairs of a text and a formula, those that do not hold, where `holds` has the formulas that do.
  why(parts, watched, holds, states) {
    const [before, after] = states.map((state) => this.shown(state));
    const told = parts.filter(([, formula]) => !holds.has(formula)).map(([text, formula]) => {
      const places = new Set();
      for (const part of deciding(watched.parts, formula, holds)) watched.parts[part].slice(1).forEach((place) => places.add(place));
      const values = this.held.variables.flatMap(({ name }, place) => {
        const [now, then] = [places.has(place), places.has(-1 - place)];
        if (now && then) return [before[place] === after[place] ? `${name} ${before[place]}` : `${name} ${before[place]} -> ${after[place]}`];
        return now ? [`${name} ${before[place]}`] : then ? [`${name}' ${after[place]}`] : [];
      });
      return [watched.words[text], values];
    });
    return { conditions: parts.length, false: told };
  }

  // What a property is in each state of a run, and why where other conditions of it are false than just before.
  course(property, states, seen) {
    const { kind, parts } = property;
    const formulas = parts.map(([, formula]) => formula);
    const falseIn = (holds) => formulas.filter((formula) => !holds.has(formula));
    if (kind === "leads_to") return { words: owing(formulas, seen.states), reasons: [] };
    if (kind === "sometimes") return { words: seen.states.map((holds) => (holds.has(formulas[0]) ? "reached" : "unreached")), reasons: [] };
    const wrong = states.map((state, place) => {
      if (kind === "deadlock") return seen.stuck[place] ? falseIn(seen.states[place]) : [];
      if (kind !== "step") return falseIn(seen.states[place]);
      return place && !sameState(states[place - 1], state) ? falseIn(seen.steps[place - 1]) : [];
    });
    const reasons = [];
    wrong.forEach((found, place) => {
      if (!found.length || String(found) === String(wrong[place - 1] ?? [])) return;
      reasons.push([place, kind === "step"
        ? this.why(parts, this.held.observer.steps, seen.steps[place - 1], [states[place - 1], states[place]])
        : this.why(parts, this.held.observer.states, seen.states[place], [states[place]])]);
    });
    const words = wrong.map((found) => (found.length ? "violated" : "holds"));
    return { words: kind === "step" ? ["none", ...words.slice(1)] : words, reasons };
  }

  // A run as a recording of the page is told: `about` names the property that it is about, if there is one, and `everyone` has a
  // lane for each actor, and not only for those that take part.
  told(run, about, everyone = false) {
    const { held } = this;
    const { states, actions } = run;
    const seen = {
      states: states.map((state) => new Set(this.observer.observe(state))),
      steps: states.slice(1).map((state, place) => new Set(this.observer.observeStep(states[place], state))),
      stuck: states.map((state) => !this.machine.enabled(state).length),
    };
    const words = new Map();
    const word = (text) => words.get(text) ?? (words.set(text, words.size), words.size - 1);
    const shown = states.map((state) => this.shown(state).map(word));
    const taken = [...new Set(actions)];
    const values = states.map((state) => this.values(state));
    const sent = actions.map((action, place) => this.messages(action, values[place], values[place + 1]));
    const among = new Set(actions.flatMap((action, place) => [held.actions[action].by, ...sent[place].flatMap(([from, to]) => [from, to])]));
    const lanes = held.lanes.map((_, lane) => lane).filter((lane) => everyone || among.has(lane));
    const lane = (number) => lanes.indexOf(number);
    const arrows = new Map();
    const drawnAs = (messages) => {
      const key = JSON.stringify(messages.map(([from, to, underWay]) => [lane(from), lane(to), underWay]));
      return arrows.get(key) ?? (arrows.set(key, arrows.size), arrows.size - 1);
    };
    const properties = held.properties.map((property) => {
      const { words: course, reasons } = this.course(property, states, seen);
      const spans = course.flatMap((text, place) => (text === course[place - 1] ? [] : [[place, text]]));
      return { ...property, spans, reasons: reasons.map(([place], number) => [place, number]), why: reasons.map(([, why]) => why) };
    });
    const rank = ({ name, spans }) => (name === about ? 0 : spans.some(([, text]) => text === "violated") ? 1 : 2);
    return {
      name: run.name, protocol: held.protocol, parameters: held.shown, bugs: held.bugs, violated: about, found: run.found,
      lanes: lanes.map((number) => held.lanes[number]),
      actions: taken.map((number) => held.actions[number]).map((action) =>
        ({ ...action, by: lane(action.by) })),
      variables: held.variables.map((variable) => ({ ...variable, of: variable.of.map(lane).filter((number) => number >= 0) })),
      words: [...words.keys()],
      initial: shown[0],
      steps: actions.map((action, place) => [taken.indexOf(action),
        shown[place + 1].flatMap((text, variable) => (text === shown[place][variable] ? [] : [[variable, text]])), drawnAs(sent[place])]),
      arrows: [...arrows.keys()].map((key) => JSON.parse(key)),
      loop: null,
      properties: properties.sort((one, other) => rank(one) - rank(other)),
    };
  }
}

// A value as a person reads it.
function inWords({ kind, values }, raw) {
  if (kind === "flag") return raw ? "yes" : "no";
  if (kind === "choice") return values[Number(raw)];
  return kind === "subset" ? `{${membersOf(values, raw).join(", ")}}` : String(raw);
}

function membersOf(values, raw) {
  return values.filter((_, member) => (raw >> BigInt(member)) & 1n);
}

// The smallest parts of a formula whose truth makes it true or false as it is.
function deciding(parts, root, holds) {
  const found = [];
  const seen = new Set();
  for (const stack = [root]; stack.length;) {
    const part = stack.pop();
    if (seen.has(part)) continue;
    seen.add(part);
    const [connective, ...below] = parts[part];
    if (connective === "") found.push(part);
    else stack.push(...responsible(connective, below, holds.has(part), holds));
    if (connective !== "" && !below.length) found.push(part);
  }
  return found;
}

function responsible(connective, below, truth, holds) {
  const [first, second, third] = below;
  switch (connective) {
    case "not": return below;
    case "implies": return !truth ? below : [holds.has(second) ? second : first];
    case "if": return [first, holds.has(first) ? second : third];
    default: {
      const decides = below.filter((part) => holds.has(part) === (connective === "or"));
      return decides.length ? decides : below;
    }
  }
}

// What is called for by pairs of a premise and a conclusion in each state of a run that may go on: nothing, or something still owed.
function owing(formulas, seen) {
  const words = seen.map(() => "settled");
  for (let pair = 0; pair < formulas.length; pair += 2) {
    let called = false;
    seen.forEach((holds, place) => {
      called = (called || holds.has(formulas[pair])) && !holds.has(formulas[pair + 1]);
      if (called) words[place] = "owed";
    });
  }
  return words;
}
