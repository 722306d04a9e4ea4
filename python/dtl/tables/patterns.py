"""Regular expressions on columns of text: by RE2, or by Python's ``re`` where RE2 does not know them."""

from __future__ import annotations

import re
from typing import Any, Callable

from .._native.arguments import integer
from ..exceptions import InvalidArgumentError, InvalidTypeError
from .elementwise import as_chunked, combined
from .rows import arrow

#: The flags that RE2 has, too, and their letters.
_LETTERS = {re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s"}


def of_python(pat: str, flags: Any = 0, case: Any = True) -> re.Pattern[str]:
    """Return a regular expression of Python's, of one whose last part may be RE2's end of the text."""
    try:
        number = int(flags)
    except (TypeError, ValueError):
        raise InvalidTypeError(f"flags must be those of the module re, not {flags!r}") from None
    try:
        return re.compile(re.sub(r"\\z\Z", r"\\Z", pat), number | (0 if case else re.IGNORECASE))
    except (re.error, ValueError, OverflowError) as error:
        raise InvalidArgumentError(f"pat {pat!r} is no regular expression: {error}") from None


def of_re2(pat: str, flags: Any, case: Any) -> str | None:
    """Return a regular expression with its flags as RE2 writes them; None if RE2 does not know it."""
    pa, number = arrow(), integer("flags", int(flags) if isinstance(flags, re.RegexFlag) else flags)
    wanted = number | (0 if case else re.IGNORECASE)
    known = wanted & ~int(re.UNICODE)
    for each in _LETTERS:
        known &= ~int(each)
    letters = "".join(letter for each, letter in _LETTERS.items() if wanted & each)
    made = f"(?{letters}){pat}" if letters else pat
    try:
        pa.compute.match_substring_regex(pa.array([""]), made)
    except pa.ArrowInvalid:
        known = 1
    return None if known else made


def found(pat: str, case: Any, flags: Any) -> Callable[[Any], Any]:
    """Return a function that says of an array of texts in which a regular expression is found."""
    pa, ready = arrow(), of_re2(pat, flags, case)
    if ready is not None:
        return lambda column: pa.compute.match_substring_regex(column, ready)
    search = of_python(pat, flags, case).search
    return lambda column: by_python(column, lambda text: search(text) is not None, pa.bool_())


def counted(pat: str, flags: Any) -> Callable[[Any], Any]:
    """Return a function that counts a regular expression in texts."""
    pa, ready = arrow(), of_re2(pat, flags, True)
    compiled = of_python(pat, flags) if ready is None or pa.compute.match_substring_regex("", ready).as_py() else None
    if compiled is None:
        return lambda column: pa.compute.count_substring_regex(column, ready)
    finds = compiled.finditer  # also of what matches nothing, of which RE2 counts others
    return lambda column: by_python(column, lambda text: sum(1 for _ in finds(text)), pa.int32())


def replaced(pat: str, repl: Any, most: int, case: Any, flags: Any) -> Callable[[Any], Any]:
    """Return a function that puts a text, or what a function makes of a match, where a regular expression is found."""
    pa, ready = arrow(), of_re2(pat, flags, case)
    if ready is not None and isinstance(repl, str) and _is_of_re2(ready, repl):
        options = {"max_replacements": most if most >= 0 else None}
        return lambda column: pa.compute.replace_substring_regex(column, ready, repl, **options)
    compiled = of_python(pat, flags, case)

    def one(text: str) -> str:
        try:
            return text if most == 0 else compiled.sub(repl, text, max(most, 0))
        except (re.error, IndexError) as error:
            raise InvalidArgumentError(f"repl {repl!r} is no replacement of {pat!r}: {error}") from None

    return lambda column: by_python(column, one, pa.string())


def _is_of_re2(pat: str, repl: str) -> bool:
    """Say whether RE2 makes of a replacement what ``re`` does: its escapes are digits alone."""
    pa = arrow()
    if re.search(r"\\[^0-9]", repl) or re.search(r"\\0|\\[0-9]{2}", repl):
        return False
    try:
        pa.compute.replace_substring_regex(pa.array([""]), pat, repl)
    except pa.ArrowInvalid:
        return False
    return True


def divided(pat: str, most: int) -> Callable[[Any], Any]:
    """Return a function that splits texts where a regular expression of Python's is found."""
    compiled, pa = of_python(pat), arrow()
    return lambda column: by_python(column, lambda text: compiled.split(text, most), pa.list_(pa.string()))


def by_python(texts: Any, f: Callable[[str], Any], kind: Any) -> Any:
    """Return a function of Python's of each text, computed once for texts that are equal."""
    pa = arrow()

    def computed(distinct: Any) -> Any:
        return pa.array([None if text is None else f(text) for text in distinct.to_pylist()], kind)

    if not isinstance(texts, pa.ChunkedArray):
        return computed(texts)
    encoded = as_chunked(combined(texts).dictionary_encode())
    return pa.chunked_array([computed(chunk.dictionary).take(chunk.indices) for chunk in encoded.chunks], kind)
