// One trace as Python wrote it: its states are there as changes, and are put together again here.

const EVERY = 64; // states between two that are kept whole

class Recording {
  constructor(told) {
    Object.assign(this, told);
    this.last = this.steps.length;
    this.kept = [this.initial];
    const state = this.initial.slice();
    for (let at = 1; at <= this.last; at++) {
      this.take(state, at);
      if (at % EVERY === 0) this.kept.push(state.slice());
    }
    this.alarms = new Map(); // by place: the properties that begin to be violated there
    for (const property of this.properties) {
      for (const [place, word] of property.spans) {
        if (word === "violated") this.alarms.set(place, [...(this.alarms.get(place) ?? []), property]);
      }
    }
    this.positions = new Map(this.variables.map((variable, place) => [variable.name, place]));
  }

  // Makes of the state before a step the one after it.
  take(state, at) {
    for (const [variable, word] of this.steps[at - 1][1]) state[variable] = word;
  }

  // The values, in words, of the state after so many steps.
  state(at) {
    let place = at - (at % EVERY);
    const state = this.kept[place / EVERY].slice();
    while (place < at) this.take(state, ++place);
    return state.map((word) => this.words[word]);
  }

  // The action of a step, the first being step 1.
  action(at) {
    return this.actions[this.steps[at - 1][0]];
  }

  // The numbers of the variables that a step changes.
  changed(at) {
    return at ? this.steps[at - 1][1].map(([variable]) => variable) : [];
  }

  // The messages of a step: from which lane to which, and whether it is only sent then, and arrives later.
  messages(at) {
    return this.arrows[this.steps[at - 1][2]];
  }

  // Whether a step is by or to one of these lanes, or changes a variable of theirs.
  concerns(at, lanes) {
    return lanes.has(this.action(at).by) || this.messages(at).some(([from, to]) => lanes.has(from) || lanes.has(to))
      || this.changed(at).some((variable) => this.variables[variable].of.some((lane) => lanes.has(lane)));
  }

  // What a property is in a state.
  word(property, at) {
    return newest(property.spans, at)[1];
  }

  // Why it is violated there, if its conditions tell that: since which step, of how many conditions, which are false.
  reason(property, at) {
    const found = this.word(property, at) === "violated" ? newest(property.reasons, at) : undefined;
    return found && { since: found[0], ...property.why[found[1]] };
  }

  repeats() {
    return this.loop !== null && this.loop.start < this.last;
  }
}

// The last of these rows, which begin with a place and are in order, that begins at this place or before.
function newest(rows, at) {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle][0] <= at) low = middle + 1;
    else high = middle;
  }
  return rows[low - 1];
}
