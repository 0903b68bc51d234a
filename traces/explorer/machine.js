// The machine of a protocol: its module of WebAssembly, which alone knows what may happen, and packed states as it takes them.
// A worker runs this text, too.

class Machine {
  // A state is an array of 32-bit halves of its words, the lower half first.
  static async of({ words, masks, code }) {
    const bytes = Uint8Array.from(atob(code), (letter) => letter.charCodeAt(0));
    const longest = Math.max(words, ...Object.values(masks));
    const memory = new WebAssembly.Memory({ initial: Math.ceil((3 * longest + 1) * 8 / 65536) });
    const { instance } = await WebAssembly.instantiate(bytes, { env: { __linear_memory: memory } });
    return Object.assign(new Machine(), {
      words, masks, functions: instance.exports, halves: new Uint32Array(memory.buffer),
      before: 8, after: 8 * (longest + 1), mask: 8 * (2 * longest + 1),
    });
  }

  put(state, address) {
    this.halves.set(state, address / 4);
  }

  // The numbers of the bits that a function sets in a bit set.
  bits(name) {
    const found = [];
    const start = this.mask / 4;
    for (let half = 0; half < 2 * this.masks[name]; half++) {
      for (let rest = this.halves[start + half]; rest; rest &= rest - 1) found.push(32 * half + 31 - Math.clz32(rest & -rest));
    }
    return found;
  }

  // The numbers of the actions that may happen.
  enabled(state) {
    this.put(state, this.before);
    this.functions.enabled(this.before, this.mask);
    return this.bits("enabled");
  }

  // The state after an action that may happen.
  apply(state, action) {
    this.put(state, this.before);
    this.functions.apply(this.before, BigInt(action), this.after);
    return this.halves.slice(this.after / 4, this.after / 4 + 2 * this.words);
  }

  // The numbers of the formulas that hold in a state.
  observe(state) {
    this.put(state, this.before);
    this.functions.observe(this.before, this.mask);
    return this.bits("observe");
  }

  // The numbers of the formulas that hold of a step.
  observeStep(state, after) {
    this.put(state, this.before);
    this.put(after, this.after);
    this.functions.observe_step(this.before, this.after, this.mask);
    return this.bits("observe_step");
  }
}

// The value of a variable in a packed state, as its `field` of the layout has it: word, place, width, and what is packed as zero.
function unpacked(state, [word, shift, bits, low]) {
  const whole = (BigInt(state[2 * word + 1]) << 32n) | BigInt(state[2 * word]);
  return ((whole >> BigInt(shift)) & ((1n << BigInt(bits)) - 1n)) + BigInt(low);
}

// Values, one for each field, as a packed state.
function packed(values, fields, words) {
  const made = new BigUint64Array(words);
  fields.forEach(([word, shift, , low], place) => { made[word] |= (values[place] - BigInt(low)) << BigInt(shift); });
  return new Uint32Array(made.buffer);
}

function sameState(one, other) {
  return one.every((half, place) => half === other[place]);
}
