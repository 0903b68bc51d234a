// Elements, and a list of any length of which only what is in view is in the page.

// An element with properties and children; texts stay texts.
function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

class Rows {
  // `draw` makes the content of a row, `height` is that of each in pixels.
  constructor(list, height, draw) {
    Object.assign(this, { list, height, draw, count: 0, chosen: -1, drawn: new Map() });
    this.space = element("div", { className: "space", role: "presentation" });
    list.append(this.space);
    list.addEventListener("scroll", () => this.show(), { passive: true });
    new ResizeObserver(() => this.show()).observe(list);
  }

  reset(count) {
    this.count = count;
    this.space.style.height = `${count * this.height}px`;
    for (const row of this.drawn.values()) row.remove();
    this.drawn.clear();
    this.show();
  }

  show() {
    const spare = 8;
    const from = Math.max(0, Math.floor(this.list.scrollTop / this.height) - spare);
    const to = Math.min(this.count, Math.ceil((this.list.scrollTop + this.list.clientHeight) / this.height) + spare);
    for (const [place, row] of this.drawn) {
      if ((place < from || place >= to) && place !== this.chosen) {
        row.remove();
        this.drawn.delete(place);
      }
    }
    for (let place = from; place < to; place++) this.row(place);
  }

  row(place) {
    if (!this.drawn.has(place)) {
      const row = element("div", { id: `row-${place}`, className: "row", role: "option" });
      row.setAttribute("aria-posinset", place + 1);
      row.setAttribute("aria-setsize", this.count);
      row.setAttribute("aria-selected", place === this.chosen);
      row.style.top = `${place * this.height}px`;
      row.dataset.place = place;
      this.draw(row, place);
      this.drawn.set(place, row);
      this.space.append(row);
    }
    return this.drawn.get(place);
  }

  // Chooses a row, or none (-1), and brings it into view.
  choose(place) {
    this.drawn.get(this.chosen)?.setAttribute("aria-selected", "false");
    this.chosen = place;
    if (place < 0) {
      this.list.removeAttribute("aria-activedescendant");
      return;
    }
    const top = place * this.height;
    const margin = Math.min(3 * this.height, this.list.clientHeight / 4);
    if (top - margin < this.list.scrollTop) this.list.scrollTop = top - margin;
    const below = top + this.height + margin - this.list.clientHeight;
    if (below > this.list.scrollTop) this.list.scrollTop = below;
    this.row(place).setAttribute("aria-selected", "true");
    this.list.setAttribute("aria-activedescendant", `row-${place}`);
    this.show();
  }
}
