"""Drawings as SVG, for a light and for a dark page: what is drawn says what it is, and one style sheet has the colours."""

from __future__ import annotations

from string import Template
from xml.etree.ElementTree import Element, SubElement, indent, tostring

SIZE, SMALL = 13, 12
"""Sizes of text, in pixels."""

_LIGHT = {
    "page": "#ffffff",
    "ink": "#1f2328",
    "muted": "#59636e",
    "line": "#d1d9e0",
    "band": "#f6f8fa",
    "act": "#e7f0ff",
    "acts": "#2f6fd0",
    "fault": "#ffebe9",
    "faults": "#c9252d",
    "loops": "#8250df",
}
_DARK = {
    "page": "#0d1117",
    "ink": "#e6edf3",
    "muted": "#9198a1",
    "line": "#3d444d",
    "band": "#151b23",
    "act": "#12294a",
    "acts": "#6cb0ff",
    "fault": "#40171b",
    "faults": "#ff8078",
    "loops": "#b993ff",
}
_RULES = Template(
    """
  .page { fill: $page }
  text { fill: $ink }
  text.muted { fill: $muted }
  text.bad { fill: $faults }
  text.loop { fill: $loops }
  .line { stroke: $line }
  .band { fill: $band; stroke: none }
  .actor { fill: $band; stroke: $line }
  .act { fill: $act; stroke: $acts }
  .fault { fill: $fault; stroke: $faults }
  .plain { fill: $muted; stroke: $muted }
  circle.act.full { fill: $acts }
  circle.fault { fill: $faults }
  circle.open { fill: $page }
  .arrow { fill: none; stroke: $acts }
  .arrow.bad { stroke: $faults }
  .arrow.muted { stroke: $muted }
  .tip { fill: $acts; stroke: none }
  .tip.bad { fill: $faults; stroke: none }
  .cross { fill: none; stroke: $faults }
  .tip.open { fill: none; stroke: $acts }
  .tip.muted { fill: $muted; stroke: none }
  rect.loop { fill: none; stroke: $loops }
"""
)
_FONT = f"""
  text {{ font: {SIZE}px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace }}
  text.small {{ font-size: {SMALL}px }}
  text.strong {{ font-weight: bold }}
  .arrow {{ stroke-width: 1.5 }}
  .arrow.bad {{ stroke-width: 2 }}
  .arrow.sent {{ stroke-dasharray: 5 4 }}
  .far {{ stroke-width: 1; opacity: 0.55 }}
  circle {{ stroke-width: 2 }}
  rect.loop {{ stroke-width: 1.5; stroke-dasharray: 6 4 }}
"""
STYLE = f"{_FONT}{_RULES.substitute(_LIGHT)}  @media (prefers-color-scheme: dark) {{{_RULES.substitute(_DARK)}  }}\n"


def width_of(text: str, size: int = SIZE) -> float:
    """The width of a text in pixels: the font is monospaced."""
    return len(text) * size * 0.602


def drawing(width: float, height: float, title: str, description: str) -> Element:
    """An empty drawing of that many pixels, with what a screen reader says of it and the tips of arrows."""
    svg = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img", "aria-labelledby": "title description"})
    svg.set("viewBox", f"0 0 {_shown(width)} {_shown(height)}")
    svg.set("width", _shown(width))
    svg.set("height", _shown(height))
    SubElement(svg, "title", id="title").text = title
    SubElement(svg, "desc", id="description").text = description
    SubElement(svg, "style").text = STYLE
    defined = SubElement(svg, "defs")
    _tip(defined, "tip", "tip", "M0,0 L10,5 L0,10 z")
    _tip(defined, "tip-muted", "tip muted", "M0,0 L10,5 L0,10 z")
    _tip(defined, "tip-bad", "tip bad", "M0,0 L10,5 L0,10 z")
    _tip(defined, "open", "tip open", "M2,0 L10,5 L2,10")
    _tip(defined, "cross", "cross", "M3,1 L11,9 M3,9 L11,1")
    box(svg, 0, 0, width, height, "page", round_=0)
    return svg


def text(parent: Element, x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> Element:
    """A line of text with its base line at ``y``; ``kind`` are classes of the style sheet."""
    element = SubElement(parent, "text", {"x": _shown(x), "y": _shown(y), "text-anchor": anchor, "class": kind})
    element.text = words.replace("  ", "\u00a0 ")  # which otherwise would be drawn as one
    return element


def box(parent: Element, x: float, y: float, width: float, height: float, kind: str, *, round_: float = 6) -> Element:
    """A rectangle; ``round_`` is the radius of its corners."""
    places = {"x": x, "y": y, "width": width, "height": height, "rx": round_}
    return SubElement(parent, "rect", {"class": kind, **{name: _shown(value) for name, value in places.items()}})


def circle(parent: Element, x: float, y: float, radius: float, kind: str) -> Element:
    """A circle around a point."""
    return SubElement(parent, "circle", {"class": kind, "cx": _shown(x), "cy": _shown(y), "r": _shown(radius)})


def path(parent: Element, way: str, kind: str, tip: str = "") -> Element:
    """A line along an SVG path; ``tip`` is the tip at its end: ``tip``, ``tip-muted``, ``tip-bad``, ``open`` or ``cross``."""
    element = SubElement(parent, "path", {"class": kind, "d": way})
    if tip:
        element.set("marker-end", f"url(#{tip})")
    return element


def group(parent: Element, title: str) -> Element:
    """A part of the drawing that has a name, which shows where a pointer rests on it."""
    element = SubElement(parent, "g")
    SubElement(element, "title").text = title
    return element


def point(*numbers: float) -> str:
    """Coordinates as a path has them."""
    return " ".join(_shown(number) for number in numbers)


def rendered(svg: Element) -> str:
    """The drawing as a file."""
    indent(svg, " ")
    return tostring(svg, encoding="unicode") + "\n"


def _tip(parent: Element, name: str, kind: str, way: str) -> None:
    marker = SubElement(parent, "marker", {"id": name, "viewBox": "0 0 12 10", "refX": "10", "refY": "5"})
    for key, value in {"markerWidth": "9", "markerHeight": "8", "orient": "auto-start-reverse"}.items():
        marker.set(key, value)
    SubElement(marker, "path", {"class": kind, "d": way, "stroke-width": "2"})


def _shown(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
