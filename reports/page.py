"""The page: one self-contained HTML file that needs nothing from anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from .frame import rows_of, summary, worst_by_case
from .picture import level_of, svg

TEMPLATES = Path(__file__).parent / "templates"


def page(results: pd.DataFrame, about: Mapping[str, Any], classes: Mapping[str, str]) -> str:
    """The page for a frame of results.

    Args:
        results: from ``reports.frame.frame``.
        about: ``title``, ``gpu``, ``model``, ``summary`` sentence, and ``facts``: pairs shown at the top.
        classes: what each class of a verdict means.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["number"] = number
    rows = rows_of(results)
    by_case: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        row["level"] = level_of(row["result"], row["confirmed"])
        by_case.setdefault(row["case"], []).append(row)
    cases = []
    for worst in rows_of(worst_by_case(results)):
        worst["level"] = level_of(worst["result"], worst["confirmed"])
        outputs = by_case[worst["case"]]
        worst["outputs"] = outputs
        worst["search"] = " ".join([worst["case"], worst["result"], worst["level"], *worst["operations"]])
        worst["differing"] = sum(o["differing"] for o in outputs)
        cases.append(worst)
    counts = summary(results)
    levels = {
        name: sum(c["level"] == name for c in cases)
        for name in ("exact", "tolerance", "open", "differs", "none")
    }
    families = sorted({c["family"] for c in cases})
    return environment.get_template("page.html.j2").render(
        about=about,
        cases=cases,
        counts=counts,
        levels=levels,
        families=families,
        classes=classes,
        # The picture is markup that this package made, every text in it escaped.
        picture=jinja2_markup(svg(results)),
    )


def jinja2_markup(text: str) -> Any:
    """``text`` as markup that is not escaped again."""
    from markupsafe import Markup

    return Markup(text)


def number(value: Any) -> str:
    """A number as people read it; nothing for none."""
    if value is None or value == "":
        return ""
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, float):
        return f"{value:.0f}" if value == int(value) and abs(value) < 1e6 else f"{value:.3g}"
    return f"{value:,}".replace(",", "\u202f")
