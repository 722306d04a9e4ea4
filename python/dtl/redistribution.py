"""Redistributions that are planned, and what they move."""

from __future__ import annotations

from .containers.redistribution import RedistributionPlan, Traffic

__all__ = ["RedistributionPlan", "Traffic"]
