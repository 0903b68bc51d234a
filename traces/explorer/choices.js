// What can happen in a state: actions to choose from, by who takes them, and why the others cannot happen.

// Draws them; `take` gets the number of the action that the reader chooses, `next` is the one that the run takes there.
function drawChoices(panel, model, state, next, take) {
  const { actions, budgets, lanes, variables } = model.held;
  const enabled = new Set(model.machine.enabled(state));
  const opened = new Set([...panel.querySelectorAll("details[open]")].map((one) => one.dataset.name));
  const values = model.shown(state);
  const button = (number) => element("button", {
    type: "button", className: actions[number].fault ? "choice fault" : "choice", title: actions[number].doc,
    onclick: () => take(number), ...(actions[number].hears ? { "data-hears": actions[number].hears } : {}), ...(number === next ? { "aria-current": "step" } : {}),
  }, actions[number].label, number === next ? element("span", { className: "unseen" }, ", which the run takes here") : null);
  const grouped = (fault) => {
    const by = new Map();
    for (const number of enabled) {
      const { actor, fault: is } = actions[number];
      if (is === fault) by.set(actor, [...(by.get(actor) ?? []), number]);
    }
    const order = ([one], [other]) => lanes.indexOf(one) - lanes.indexOf(other);
    return [...by].sort(order).map(([actor, numbers]) => element("div", { className: "by", role: "group", ariaLabel: fault ? `faults of ${actor}` : actor },
      element("span", { className: "actor" }, actor), element("span", { className: "of" }, ...numbers.map(button))));
  };
  const steps = grouped(false);
  const faults = grouped(true);
  const spent = budgets.filter(([, limit]) => limit).map(([name, limit]) => {
    const used = values[variables.findIndex((variable) => variable.name === name)];
    return element("li", {}, element("code", {}, name), ` ${used} of ${limit} spent`);
  });
  panel.replaceChildren(
    ...(steps.length ? steps : [element("p", { className: "quiet" }, faults.length ? "Nothing but faults." : "Nothing: the run ends here.")]),
    ...(faults.length || spent.length ? [element("h3", {}, "Faults"), ...faults] : []),
    ...(faults.length === 0 && spent.length ? [element("p", { className: "quiet" }, "None can happen.")] : []),
    ...(spent.length ? [element("ul", { className: "budgets quiet" }, ...spent)] : []),
    disabledTold(model, state, enabled, opened));
}

// The actions that cannot happen; which of the conditions of one are false is found when it is opened.
function disabledTold(model, state, enabled, opened) {
  const { actions } = model.held;
  const others = actions.flatMap((action, number) => (enabled.has(number) ? [] : [number]));
  if (!others.length) return null;
  const told = (number) => later(actions[number].label, element("code", {}, actions[number].label), opened, () => {
    const { conditions, false: parts } = model.whyNot(number, state);
    const what = conditions === 1 ? "Its one condition does not hold:"
      : `${parts.length} of the ${conditions} conditions of its guard ${parts.length === 1 ? "does" : "do"} not hold:`;
    return [element("p", { className: "quiet" }, what), falseParts(parts)];
  });
  const summary = `${others.length} ${others.length === 1 ? "action" : "actions"} cannot happen here`;
  const list = later("", summary, opened, () => [element("ul", {}, ...others.map((number) => element("li", {}, told(number))))]);
  list.classList.add("disabled");
  return list;
}

// Details whose content is made when they are opened first.
function later(name, summary, opened, make) {
  const made = element("details", {}, element("summary", {}, summary));
  made.dataset.name = name;
  made.addEventListener("toggle", () => { if (made.open && made.children.length === 1) made.append(...make()); });
  made.open = opened.has(name);
  return made;
}
