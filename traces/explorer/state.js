// The table of a state. A step changes few of its rows, and only those are drawn again.

class StateTable {
  constructor(table) {
    Object.assign(this, { table, names: "", rows: [] });
  }

  // Shows the state after a row of the timeline: the variables whose names have one of the terms, all of them or `only` those
  // that are marked, because the step changed them or because they differ between two traces. Returns how many there are.
  show(course, place, terms, only) {
    const two = course.sides.length === 2;
    const rows = (two ? differing(course, place) : changing(course, place))
      .filter((row) => named(row.name, terms) && (!only || row.marked));
    rows.forEach((row, number) => { row.again = number > 0 && rows[number - 1].family === row.family; });
    const names = JSON.stringify([two, rows.map((row) => row.name)]);
    if (names === this.names) {
      rows.forEach((row, number) => {
        if (JSON.stringify(row) !== JSON.stringify(this.rows[number])) this.table.tBodies[0].rows[number].replaceWith(rowTold(row, two));
      });
    } else {
      const titles = two ? ["", "variable", "first", "second"] : ["", "variable", "value"];
      const head = element("tr", {}, ...titles.map((text) => (text ? element("th", { scope: "col" }, text) : element("td"))));
      this.table.replaceChildren(element("thead", {}, head), element("tbody", {}, ...rows.map((row) => rowTold(row, two))));
    }
    Object.assign(this, { names, rows });
    return rows.length;
  }
}

// The variables of one trace, each with its value and the one before, marked if the step changed it.
function changing(course, place) {
  const [side] = course.sides;
  const state = side.state(place);
  const before = place ? side.state(place - 1) : state;
  return side.variables.map(({ name, family }, number) =>
    ({ name, family, marked: before[number] !== state[number], values: [before[number], state[number]] }));
}

// The variables of the first of two traces, each with its value in both, marked if it differs.
function differing(course, place) {
  const [one, other] = course.sides;
  const [mine, theirs] = course.sides.map((side, number) => side.state(course.states[place][number]));
  return one.variables.map(({ name, family }, number) => {
    const value = theirs[other.positions.get(name)];
    return { name, family, marked: value !== undefined && value !== mine[number], values: [mine[number], value ?? null] };
  });
}

function rowTold({ name, family, again, marked, values }, two) {
  const [sign, word] = two ? ["≠", "differs"] : ["●", "changed"];
  const mark = marked ? [element("span", { ariaHidden: "true" }, sign), element("span", { className: "unseen" }, word)] : [];
  const title = [element("span", { className: again ? "again" : "family" }, family), name.slice(family.length)];
  const code = (value) => (value === null ? element("span", { className: "quiet" }, "not there") : element("code", {}, value));
  const cells = two ? values.map((value) => [code(value)]) : [marked ? change(...values) : [code(values[1])]];
  const row = element("tr", { className: marked ? "marked" : "" }, element("td", { className: "mark" }, ...mark),
    element("th", { scope: "row", ariaLabel: name }, ...title), ...cells.map((cell) => element("td", {}, ...cell)));
  row.dataset.variable = name;
  return row;
}
