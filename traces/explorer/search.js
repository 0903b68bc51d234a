// The shortest way from a state to another, breadth first, in a worker. A worker runs machine.js and `searching`; the page, the rest.

// What the worker does: answers one request with how far it is, again and again, and in the end with the way, or that there is none.
function searching() {
  onmessage = async ({ data: { held, start, target, most } }) => {
    const machine = await Machine.of(held);
    const width = start.length;
    const at = held[target.step ? "steps" : "states"].indexOf(target.property);
    const wanted = (state) => {
      if (target.terms) return target.terms.every((term) => meets(unpacked(state, term.field), term));
      const holds = machine.observe(state).includes(at);
      if (target.kind === "deadlock") return !holds && !machine.enabled(state).length;
      return target.kind === "sometimes" ? holds : !holds;
    };
    const broken = (state, after) => !machine.observeStep(state, after).includes(at);
    let room = 1 << 12;
    let states = new Uint32Array(room * width);
    let parents = new Int32Array(room);
    let taken = new Int32Array(room);
    let table = new Int32Array(room * 2).fill(-1);
    let count = 0;
    const hash = (state) => {
      let mixed = 0x811c9dc5;
      for (const half of state) {
        mixed = Math.imul(mixed ^ half, 0x85ebca6b);
        mixed ^= mixed >>> 13;
      }
      return mixed >>> 0;
    };
    const stateOf = (number) => states.subarray(number * width, (number + 1) * width);
    const slot = (state) => {
      let place = hash(state) & (table.length - 1);
      while (table[place] >= 0 && !sameState(stateOf(table[place]), state)) place = (place + 1) & (table.length - 1);
      return place;
    };
    const longer = (array, length) => {
      const made = new array.constructor(length);
      made.set(array);
      return made;
    };
    const add = (state, parent, action) => {
      let place = slot(state);
      if (table[place] >= 0) return false;
      if (count === room) {
        room *= 2;
        [states, parents, taken] = [longer(states, room * width), longer(parents, room), longer(taken, room)];
        table = new Int32Array(room * 2).fill(-1);
        for (let number = 0; number < count; number++) table[slot(stateOf(number))] = number;
        place = slot(state);
      }
      table[place] = count;
      states.set(state, count * width);
      parents[count] = parent;
      taken[count++] = action;
      return true;
    };
    const way = (number, ...last) => {
      const actions = last;
      for (; parents[number] >= 0; number = parents[number]) actions.unshift(taken[number]);
      return actions;
    };
    add(start, -1, -1);
    if (!target.step && wanted(start)) return postMessage({ found: [], count, depth: 0 });
    let told = Date.now();
    for (let number = 0, depth = 0, level = 1; number < count; number++) {
      if (number === level) [depth, level] = [depth + 1, count];
      const state = stateOf(number).slice();
      for (const action of machine.enabled(state)) {
        const after = machine.apply(state, action);
        if (target.step && broken(state, after)) return postMessage({ found: way(number, action), count, depth: depth + 1 });
        if (add(after, number, action) && !target.step && wanted(after)) return postMessage({ found: way(count - 1), count, depth: depth + 1 });
      }
      if (count >= most) return postMessage({ cut: true, count, depth: depth + 1 });
      if (number % 256 === 0 && Date.now() - told > 150) {
        told = Date.now();
        postMessage({ count, depth: depth + 1 });
      }
    }
    return postMessage({ none: true, count });
  };

  function meets(raw, { relation, value }) {
    switch (relation) {
      case "=": return raw === value;
      case "!=": return raw !== value;
      case "<": return raw < value;
      case ">": return raw > value;
      case "has": return (raw & value) === value;
      default: return (raw & value) === 0n;
    }
  }
}

// Looks for the shortest way; `tell` gets each answer of the worker. Returns what stops it.
function search(model, start, target, most, tell) {
  const text = `"use strict";\n${$("engine").textContent}\n(${searching})();`;
  const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  const worker = new Worker(address);
  const stop = () => {
    worker.terminate();
    URL.revokeObjectURL(address);
  };
  worker.onmessage = ({ data }) => {
    if ("found" in data || data.none || data.cut) stop();
    tell(data);
  };
  worker.onerror = ({ message }) => {
    stop();
    tell({ error: message });
  };
  worker.postMessage({ held: model.held.machine, start, target, most });
  return stop;
}

// What is looked for where a reader writes conditions such as `status = closed, stored[b0] has e1`; throws an Error that says what is wrong.
function conditions(text, { held }) {
  const terms = text.split(/,(?![^[{]*[\]}])/).map((part) => part.trim()).filter(Boolean);
  if (!terms.length) throw new Error("name the variables, such as: status = closed, last < 1, stored[b0] has e0");
  return terms.map((part) => {
    const [, name, relation, told] = /^(.+?)\s*(!=|=|<|>|\bhas\b|\blacks\b)\s*(.+)$/.exec(part) ?? fail(`${part}: it has none of = != < > has lacks`);
    const variable = held.variables.find((one) => one.name.replace(/\s/g, "") === name.replace(/\s/g, "")) ?? fail(`there is no variable ${name}`);
    const { kind, values } = variable;
    if (kind === "subset" && (relation === "has" || relation === "lacks")) {
      const member = values.indexOf(told);
      return { field: variable.field, relation, value: 1n << BigInt(member < 0 ? fail(`${told} is none of ${values.join(", ")}`) : member) };
    }
    if (relation === "has" || relation === "lacks") fail(`${name} is no set`);
    if ((relation === "<" || relation === ">") && kind !== "number") fail(`${name} is no number`);
    return { field: variable.field, relation, value: readIn(variable, told) };
  });
}

// The value that a reader wrote; the inverse of `inWords`.
function readIn({ name, kind, values }, text) {
  if (kind === "flag" && ["yes", "no"].includes(text)) return BigInt(text === "yes");
  if (kind === "number" && /^-?\d+$/.test(text)) return BigInt(text);
  if (kind === "choice" && values.includes(text)) return BigInt(values.indexOf(text));
  const members = kind === "subset" && /^\{(.*)\}$/.exec(text)?.[1].split(",").map((one) => one.trim()).filter(Boolean);
  if (members && members.every((one) => values.includes(one))) return members.reduce((raw, one) => raw | (1n << BigInt(values.indexOf(one))), 0n);
  return fail(`${name} is never ${text}: it is ${{ flag: "yes or no", number: "a number", choice: values?.join(" or "), subset: `a set as {${values?.slice(0, 2).join(", ")}}` }[kind]}`);
}
