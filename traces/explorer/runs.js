// The runs of the page: those that it was written with, and the reader's own, which branch off from them.

class Runs {
  constructor(recordings) {
    Object.assign(this, { recordings, models: [], undone: [] });
  }

  // Begins to play once the models are there: each given recording is followed by the machine of its model.
  ready(models) {
    this.models = models;
    for (const one of this.recordings) {
      const model = models[one.model];
      if (!model) continue;
      const initial = packed(one.start.map(BigInt), model.fields, model.machine.words);
      const actions = one.steps.map(([action]) => model.numbers.get(one.actions[action].label));
      one.run = { model, name: one.name, found: one.found, actions, states: model.states(initial, actions), violated: one.violated, origin: one };
    }
  }

  // The number of a new run of the reader's own: the actions from the initial state of the run that it comes from.
  add(from, states, actions, name = this.unused()) {
    const run = { ...from, states, actions, name, found: "in the page" };
    this.recordings.push(this.recorded(run));
    return this.recordings.length - 1;
  }

  // The name of a run that has none yet.
  unused() {
    const names = new Set(this.recordings.map((one) => one.name));
    let number = 1;
    while (names.has(`branch ${number}`)) number++;
    return `branch ${number}`;
  }

  recorded(run) {
    const recording = new Recording({ ...run.model.told(run, run.violated, true), model: this.models.indexOf(run.model), own: true });
    return Object.assign(recording, { run });
  }

  // Goes on with actions after so many steps of a run. Returns where that is: the number of the run, and the step.
  // It is the same run if it takes them anyway, or if it is one's own and at its end; else it is a new one.
  take(number, at, actions) {
    const { run, own } = this.recordings[number];
    if (actions.every((action, place) => run.actions[at + place] === action)) return [number, at + actions.length];
    const states = run.states.slice(0, at + 1);
    for (const action of actions) states.push(run.model.machine.apply(states.at(-1), action));
    const all = [...run.actions.slice(0, at), ...actions];
    if (own && at === run.actions.length) {
      const before = this.recordings[number];
      this.recordings[number] = this.recorded({ ...run, states, actions: all });
      this.undone.push(() => {
        before.name = before.run.name = this.recordings[number].name;
        this.recordings[number] = before;
        return [number, at];
      });
      return [number, all.length];
    }
    const made = this.add(run, states, all);
    this.undone.push(() => {
      this.recordings.splice(made, 1);
      return [number, at];
    });
    return [made, all.length];
  }

  // Takes back the last choice; returns where one is then, or undefined if there was none.
  undo() {
    return this.undone.pop()?.();
  }

  // A run that was saved, as one of the reader's own, with what it violates. Throws an Error if it is none of these models.
  load(text, name) {
    const { model, number, states, actions, violated } = runIn(text, this.models);
    const origin = this.recordings.find((one) => one.model === number && one.run && sameState(one.run.states[0], states[0]));
    if (!origin) fail("its initial state is not that of the runs on this page");
    const made = this.add({ model, origin: origin.run.origin, violated }, states, actions, name);
    this.undone.push(() => {
      this.recordings.splice(made, 1);
      return [this.recordings.indexOf(origin), 0];
    });
    return made;
  }

  rename(number, name) {
    const one = this.recordings[number];
    one.name = one.run.name = name;
  }

  // How a run of one's own comes about: the given run that it leaves, after how many steps, and what it does then.
  way(number) {
    const { run } = this.recordings[number];
    const theirs = run.origin.run.actions;
    const parting = run.actions.findIndex((action, place) => theirs[place] !== action);
    const keep = parting < 0 ? run.actions.length : parting;
    return { origin: this.recordings.indexOf(run.origin), keep, then: run.actions.slice(keep) };
  }

  // The number of the run that comes about so, made if it is not there yet; undefined if it cannot be taken.
  follow(origin, keep, then, name) {
    const { run } = this.recordings[origin];
    const actions = [...run.actions.slice(0, keep), ...then];
    const known = this.recordings.findIndex((one) => one.run?.model === run.model && String(one.run.actions) === String(actions));
    if (known >= 0) return known;
    if (!then.every((action) => run.model.held.actions[action])) return undefined;
    const states = run.model.states(run.states[0], actions);
    return states && this.add(run, states, actions, name);
  }

  // What the end of a run violates, or reaches: what it is about if that is so, else the first that is not expected.
  ends(number) {
    const { properties, run, last } = this.recordings[number];
    const words = new Map(properties.map((property) => [property.name, newest(property.spans, last)[1]]));
    const about = words.get(run.violated);
    if (about === "violated" || about === "reached") return run.violated;
    return properties.find(({ name, expected, kind }) => !expected && kind !== "leads_to" && words.get(name) === "violated")?.name ?? null;
  }

  // The steps of two runs, side by side: those that they begin with in common, then those of the same action, as many as can be.
  aligned(first, second) {
    const [one, other] = [first, second].map((number) => this.recordings[number]).map((side) => side.steps.map(([action]) => side.actions[action].label));
    let common = 0;
    while (common < one.length && one[common] === other[common]) common++;
    const rows = one.slice(0, common).map((_, at) => [at, at]);
    const [left, right] = [one.slice(common), other.slice(common)];
    const longest = left.map(() => new Uint32Array(right.length + 1)).concat([new Uint32Array(right.length + 1)]);
    for (let at = left.length - 1; at >= 0; at--) {
      for (let by = right.length - 1; by >= 0; by--) {
        longest[at][by] = left[at] === right[by] ? longest[at + 1][by + 1] + 1 : Math.max(longest[at + 1][by], longest[at][by + 1]);
      }
    }
    for (let at = 0, by = 0; at < left.length || by < right.length;) {
      if (at < left.length && by < right.length && left[at] === right[by]) rows.push([common + at++, common + by++]);
      else if (at < left.length && (by === right.length || longest[at + 1][by] >= longest[at][by + 1])) rows.push([common + at++, null]);
      else rows.push([null, common + by++]);
    }
    return rows;
  }
}
