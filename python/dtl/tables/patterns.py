"""Regular expressions on columns of text: by RE2, or by Python's ``re`` where RE2 does not know them."""

from __future__ import annotations

import operator
import re
from typing import Any, Callable

from ..exceptions import InvalidArgumentError, InvalidTypeError
from .by_rows import as_chunked, by_lists
from .gather import combined
from .rows import arrow

#: The flags that RE2 has, too, and their letters.
_LETTERS = {re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s"}


#: The flags of expressions for text, and re.DEBUG, which a compiled one may have.
_FLAGS = int(re.ASCII | re.IGNORECASE | re.MULTILINE | re.DOTALL | re.UNICODE | re.VERBOSE | re.DEBUG)

#: What RE2 does not know, or knows otherwise than Python in texts of ASCII, too: ``\s``, references, assertions.
_OTHERWISE = re.compile(r"\\[^\WdDwWbB_]|\(\?(?![:P])|\(\?P[^<]|\[\[:|[*+?}]\+")

#: What RE2 finds among characters of ASCII alone.
_OF_ASCII = re.compile(r"\\[dDwWbB]")


def text_of(pat: Any, flags: Any) -> tuple[str, int]:
    """Return a regular expression, which may be compiled, as text, and its flags."""
    try:
        number = operator.index(flags)
    except TypeError:
        raise InvalidTypeError(f"flags must be those of the module re, not {flags!r}") from None
    if isinstance(flags, bool) or number & ~_FLAGS:
        raise InvalidArgumentError(
            f"flags {flags!r} are not re.A, re.I, re.M, re.S, re.U, re.X or several with | between"
        )
    if isinstance(pat, re.Pattern):
        return text_of(pat.pattern, number | pat.flags)
    if not isinstance(pat, str):
        raise InvalidTypeError(f"pat must be text, not {pat!r}")
    return pat, number


def of_python(pat: Any, flags: Any = 0, case: Any = True) -> re.Pattern[str]:
    """Return a regular expression of Python's."""
    text, number = text_of(pat, flags)
    try:
        return re.compile(text, number | (0 if case else re.IGNORECASE))
    except (re.error, ValueError, OverflowError, RecursionError) as error:
        raise InvalidArgumentError(f"pat {pat!r} is no regular expression: {error}") from None


class _Both:
    """A regular expression of Python's, and of RE2's where both find the same in some texts."""

    def __init__(self, pat: Any, flags: Any, case: Any, form: str = "{}") -> None:
        pa = arrow()
        text, number = text_of(pat, flags)
        self.python = of_python(text, number, case)
        wanted = self.python.flags
        known = wanted & ~int(re.UNICODE | re.IGNORECASE | re.MULTILINE | re.DOTALL)
        letters = "".join(letter for each, letter in _LETTERS.items() if wanted & each)
        made = form.format(f"(?{letters}:{text})" if letters else f"(?:{text})")
        self.re2: str | None = None if known or _OTHERWISE.search(text) else made
        self._only_ascii = bool(_OF_ASCII.search(text) or wanted & re.IGNORECASE)
        self._one_line = "$" in text
        #: Whether it may match no character, of which RE2 finds others.
        self.may_be_empty = self.python.search("") is not None or bool(re.search(r"\\[bB]", text))
        try:
            pa.compute.match_substring_regex(pa.array([""]), made)
        except pa.ArrowInvalid:
            self.re2 = None

    def is_re2(self, texts: Any) -> bool:
        """Say whether RE2 finds in texts what Python finds."""
        if self.re2 is None:
            return False
        compute = arrow().compute
        if self._only_ascii and compute.all(compute.string_is_ascii(texts)).as_py() is False:
            return False
        return not (self._one_line and compute.any(compute.match_substring(texts, "\n")).as_py())


def found(pat: Any, case: Any, flags: Any, how: str = "search") -> Callable[[Any], Any]:
    """Return a function that says of texts in which a regular expression is found, at the beginning, or as a whole.

    Parameters
    ----------
    how
        "search", "match" or "fullmatch".
    """
    pa = arrow()
    both = _Both(pat, flags, case, {"search": "{}", "match": "\\A{}", "fullmatch": "\\A{}\\z"}[how])
    finds = getattr(both.python, how)

    def truths(texts: Any) -> Any:
        if both.is_re2(texts):
            return pa.compute.match_substring_regex(texts, both.re2)
        return by_python(texts, lambda text: finds(text) is not None, pa.bool_())

    return truths


def counted(pat: Any, flags: Any) -> Callable[[Any], Any]:
    """Return a function that counts a regular expression in texts."""
    pa, both = arrow(), _Both(pat, flags, True)

    def numbers(texts: Any) -> Any:
        if not both.may_be_empty and both.is_re2(texts):
            return pa.compute.count_substring_regex(texts, both.re2)
        return by_python(texts, lambda text: sum(1 for _ in both.python.finditer(text)), pa.int32())

    return numbers


def replaced(pat: Any, repl: Any, most: int, case: Any, flags: Any) -> Callable[[Any], Any]:
    """Return a function that puts a text, or what a function makes of a match, where a regular expression is found."""
    pa, both = arrow(), _Both(pat, flags, case)
    alike = isinstance(repl, str) and both.re2 is not None and _is_of_re2(both.re2, repl)
    alike = alike and not both.may_be_empty
    options = {"max_replacements": most if most >= 0 else None}

    def one(text: str) -> str:
        try:
            return text if most == 0 else both.python.sub(repl, text, max(most, 0))
        except (re.error, IndexError) as error:
            raise InvalidArgumentError(f"repl {repl!r} is no replacement of {pat!r}: {error}") from None

    def texts_of(texts: Any) -> Any:
        if alike and both.is_re2(texts):
            return pa.compute.replace_substring_regex(texts, both.re2, repl, **options)
        return by_python(texts, one, pa.string())

    return texts_of


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

    def of_text(text: Any) -> Any:
        return None if text is None else f(text)

    def computed(distinct: Any) -> Any:
        return pa.concat_arrays(by_lists(distinct, of_text, lambda made: pa.array(made, kind)))

    if not isinstance(texts, pa.ChunkedArray):
        return computed(texts)
    encoded = as_chunked(combined(texts).dictionary_encode())
    return pa.chunked_array([computed(chunk.dictionary).take(chunk.indices) for chunk in encoded.chunks], kind)
