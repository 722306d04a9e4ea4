"""The picture of what calls take on many ranks is of the forms as they are, and of operations that the forms have."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[3] / "docs"

pytestmark = [
    pytest.mark.alone("the sources are the same on every rank"),
    pytest.mark.skipif(not (DOCS / "scale.py").exists(), reason="the documentation is not here; runs in a clone"),
]


def picture() -> Any:
    """Return docs/scale.py as a module."""
    spec = importlib.util.spec_from_file_location("scale", DOCS / "scale.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_picture_is_of_the_forms() -> None:
    module = picture()
    assert module.DRAWING.read_text(encoding="utf-8") == module.draw(), "run: python docs/scale.py"


def test_what_is_drawn_exists() -> None:
    forms = json.loads((DOCS / "scale.json").read_text(encoding="utf-8"))
    assert set(picture().DRAWN) <= {operation["Name"] for operation in forms["Operations"]}


def test_a_form_is_the_sum_of_its_parts() -> None:
    at = picture().at
    assert at({"Fixed": 1, "PerDigit": 10, "PerRank": 100, "PerRankDigit": 1000, "PerDigits": 5}, 8) == 24876
    assert at({"PerDigit": 1}, 9) == 4


def test_a_step_costs_latency_and_overheads() -> None:
    link = {"Latency": 100, "Overhead": 10, "Gap": 20, "PerByte": 0.5}
    network = {"Within": link, "Between": link, "PerNode": 4}
    operation = {"Steps": {"Fixed": 2}, "Messages": {"Fixed": 5}, "Bytes": {"Fixed": 1000}}
    took = (2 * 120 + 3 * 20 + 500) * 1e-9
    assert picture().seconds(network, operation, 4) == pytest.approx(took)
    # Four ranks a node share its link to the others.
    assert picture().seconds(network, operation, 8) == pytest.approx(took + 1500e-9)
