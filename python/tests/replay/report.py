"""The table of what came of the evaluations, the first examples of each class, and the limits that are held."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import Any

from calls import Call, shown

Results = dict[int, tuple[str, str]]

#: The classes of evaluations. Raw is an error that is neither NumPy's answer nor a refusal that says what is refused;
#: accepted is an answer where NumPy raises an error.
CLASSES = ("same", "refused", "raw", "wrong", "accepted", "hang", "crash", "disagree")

#: The least share of the evaluations that are not refused that give NumPy's answer, and the largest that is refused.
#: Hangs, crashes, disagreements and raw errors are not allowed.
SAME, REFUSED = 0.998, 0.03

#: Examples that are printed of each class.
EXAMPLES = 12


def counts(results: Results) -> Counter[str]:
    """Return how many evaluations there are of each class."""
    return Counter(found for found, _ in results.values() if found != "none")


def table(by_ranks: dict[int, Results]) -> str:
    """Return the table, a line for each number of ranks."""
    lines = ["| ranks | evaluations | " + " | ".join(CLASSES) + " | same of not refused | refused |"]
    lines.append("|---" * (len(CLASSES) + 4) + "|")
    for ranks, results in by_ranks.items():
        each = counts(results)
        same, refused = shares(each)
        numbers = " | ".join(str(each[name]) for name in CLASSES)
        lines.append(f"| {ranks} | {sum(each.values())} | {numbers} | {same:.2%} | {refused:.2%} |")
    return "\n".join(lines)


def shares(each: Counter[str]) -> tuple[float, float]:
    """Return the share of NumPy's answers in what is not refused, and that of what is refused."""
    total = sum(each.values()) or 1
    return each["same"] / ((total - each["refused"]) or 1), each["refused"] / total


def failures(each: Counter[str], on_disk: bool) -> list[str]:
    """Return which limits are not held. How much is refused is looked at where containers are not on disk."""
    same, refused = shares(each)
    found = [f"{each[name]} evaluations: {name}" for name in ("raw", "hang", "crash", "disagree") if each[name]]
    if same < SAME:
        found.append(f"{same:.2%} of what is not refused is NumPy's answer; the limit is {SAME:.1%}")
    if refused > REFUSED and not on_disk:
        found.append(f"{refused:.2%} is refused; the limit is {REFUSED:.1%}")
    return found


def examples(results: Results, evaluations: list[tuple[int, Call, str]], again: str, most: int = EXAMPLES) -> str:
    """Return the most frequent kinds of each class with an example of each, and how to repeat it."""
    lines = []
    for name in CLASSES[1:]:
        kinds: dict[Any, list[int]] = defaultdict(list)
        for index, (found, told) in sorted(results.items()):
            if found == name:
                kinds[evaluations[index][1].name, re.sub(r"[-\d.]+", "#", told)[:60]].append(index)
        for indices in sorted(kinds.values(), key=len, reverse=True)[:most]:
            _, call, way = evaluations[indices[0]]
            lines.append(f"{name}, {len(indices)} times: {shown(call)[:240]}")
            lines.append(f"    {results[indices[0]][1][:300]}")
            lines.append(f"    again, with containers {way}: {again} {indices[0]}")
    return "\n".join(lines)
