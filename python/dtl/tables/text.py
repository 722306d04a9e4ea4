"""What columns of text have of their own: ``table["name"].str``."""

from __future__ import annotations

from typing import Any, Callable, Generic, TypeVar

from .._native.arguments import flag, integer
from ..exceptions import InvalidTypeError
from .arrow_types import is_text
from .elementwise import by_distinct
from .rows import Rows, arrow, arrows_errors

#: Column, which this module does not import: column.py imports it.
C = TypeVar("C")


class Texts(Generic[C]):
    """Functions of each text of a column, as ``table["name"].str``: pyarrow's, and named as pandas names them.

    None is collective. The result is null where the text is. Of categories, each is computed once.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     names = dtl.Table(ctx, {"name": ["Ada L.", None, "Bo"]})["name"]
    ...     print(names.str.upper().to_arrow().to_pylist(), names.str.contains("d").to_arrow().to_pylist())
    ['ADA L.', None, 'BO'] [True, None, False]
    """

    __slots__ = ("_made", "_rows")

    def __init__(self, rows: Rows, made: Callable[[Rows], C]) -> None:
        self._rows, self._made = rows, made

    def _mapped(self, f: Callable[[Any], Any], kind: Any) -> C:
        held = self._rows.schema.types[0]
        if not is_text(held):
            raise InvalidTypeError(f"str is of columns of text; {self._rows.names[0]!r} is of {held}")
        with arrows_errors(f"str of {self._rows.names[0]!r}"):
            f(arrow().array([""]))  # which refuses wrong arguments on ranks without rows, too
            made = by_distinct(self._rows.local.column(0), f, kind)
            table = arrow().table([made], names=self._rows.names)
        return self._made(self._rows.like(table))

    def _text(self, name: str, *args: Any, **kwargs: Any) -> C:
        pa = arrow()
        return self._mapped(lambda column: getattr(pa.compute, name)(column, *args, **kwargs), pa.string())

    def _truth(self, name: str, pattern: Any, **kwargs: Any) -> C:
        pa = arrow()
        checked = _checked("pat", pattern)
        return self._mapped(lambda column: getattr(pa.compute, name)(column, checked, **kwargs), pa.bool_())

    def lower(self) -> C:
        """Return the texts in lower case."""
        return self._text("utf8_lower")

    def upper(self) -> C:
        """Return the texts in upper case."""
        return self._text("utf8_upper")

    def capitalize(self) -> C:
        """Return the texts with the first character in upper case, and the others in lower case."""
        return self._text("utf8_capitalize")

    def title(self) -> C:
        """Return the texts with each word's first character in upper case."""
        return self._text("utf8_title")

    def strip(self, to_strip: str | None = None) -> C:
        """Return the texts without some characters, by default white space, at both ends."""
        return self._stripped("trim", to_strip)

    def lstrip(self, to_strip: str | None = None) -> C:
        """Return the texts without some characters, by default white space, at the beginning."""
        return self._stripped("ltrim", to_strip)

    def rstrip(self, to_strip: str | None = None) -> C:
        """Return the texts without some characters, by default white space, at the end."""
        return self._stripped("rtrim", to_strip)

    def _stripped(self, name: str, characters: Any) -> C:
        if characters is None:
            return self._text(f"utf8_{name}_whitespace")
        return self._text(f"utf8_{name}", _checked("to_strip", characters))

    def len(self) -> C:
        """Return the numbers of characters."""
        pa = arrow()
        return self._mapped(pa.compute.utf8_length, pa.int32())

    def contains(self, pat: str, *, case: bool = True, regex: bool = True) -> C:
        """Return whether a pattern is found in a text.

        Parameters
        ----------
        pat
            A regular expression of RE2.
        case
            Whether upper and lower case are different.
        regex
            Whether pat is a regular expression, and not the text itself.

        Raises
        ------
        InvalidArgumentError
            If the regular expression is none.
        """
        name = "match_substring_regex" if flag("regex", regex) else "match_substring"
        return self._truth(name, pat, ignore_case=not flag("case", case))

    def startswith(self, pat: str) -> C:
        """Return whether a text begins with another."""
        return self._truth("starts_with", pat)

    def endswith(self, pat: str) -> C:
        """Return whether a text ends with another."""
        return self._truth("ends_with", pat)

    def find(self, sub: str) -> C:
        """Return the place at which a text is first found, as of a str of Python's; -1 where it is not."""
        pa, wanted = arrow(), _checked("sub", sub)

        def places(column: Any) -> Any:
            found = pa.compute.find_substring(column, wanted)  # counts bytes
            characters = pa.compute.utf8_length(column)
            if pa.compute.all(pa.compute.equal(pa.compute.binary_length(column), characters)).as_py() is False:
                texts = column.to_pylist()
                found = pa.array([None if text is None else text.find(wanted) for text in texts], found.type)
            return found

        return self._mapped(places, pa.int32())

    def count(self, pat: str, *, regex: bool = True) -> C:
        """Return how often a pattern is found in a text, without overlaps."""
        pa, checked = arrow(), _checked("pat", pat)
        f = pa.compute.count_substring_regex if flag("regex", regex) else pa.compute.count_substring
        return self._mapped(lambda column: f(column, checked), pa.int32())

    def replace(self, pat: str, repl: str, *, n: int = -1, regex: bool = False) -> C:
        r"""Return the texts with one text in the places of another.

        Parameters
        ----------
        pat, repl
            What is replaced, and by what; with regex, RE2's ``\1`` is the first group.
        n
            How often at most; -1 for always.
        regex
            Whether pat is a regular expression of RE2.
        """
        name = "replace_substring_regex" if flag("regex", regex) else "replace_substring"
        most = integer("n", n)
        given = _checked("pat", pat), _checked("repl", repl)
        return self._text(name, *given, max_replacements=most if most >= 0 else None)

    def slice(self, start: int = 0, stop: int | None = None, step: int = 1) -> C:
        """Return a slice of each text, as of a str of Python's."""
        last = None if stop is None else integer("stop", stop)
        return self._text("utf8_slice_codeunits", integer("start", start), last, integer("step", step))

    def split(self, pat: str | None = None, n: int = -1) -> C:
        """Return lists of the parts of texts between separators: :meth:`get` takes one of them.

        Parameters
        ----------
        pat
            The separator; None for white space.
        n
            How often a text is split at most, from the left; -1 for always.
        """
        pa, most = arrow(), integer("n", n)
        options = {"max_splits": most if most > 0 else None}
        kind = pa.list_(pa.string())
        if pat is None:
            return self._mapped(lambda column: pa.compute.utf8_split_whitespace(column, **options), kind)
        checked = _checked("pat", pat)
        return self._mapped(lambda column: pa.compute.split_pattern(column, checked, **options), kind)

    def get(self, i: int) -> C:
        """Return one part of each list, as of :meth:`split`, or a character of each text; null of shorter ones.

        Parameters
        ----------
        i
            The number of the part; from the end if it is negative.
        """
        pa, place = arrow(), integer("i", i)
        kind = self._rows.schema.types[0]
        if not pa.types.is_list(kind):
            end = place + 1 if place != -1 else None

            def character(column: Any) -> Any:
                found = pa.compute.utf8_slice_codeunits(column, place, end)
                return pa.compute.if_else(pa.compute.equal(found, ""), None, found)

            return self._mapped(character, pa.string())
        column = self._rows.local.column(0)
        length = pa.compute.list_value_length(column)
        at = place if place >= 0 else pa.compute.add(length, place)
        there = pa.compute.and_(pa.compute.less(at, length), pa.compute.greater_equal(at, 0))
        chosen = column.filter(there)
        found = [_elements(chunk, place) for chunk in chosen.chunks]
        values = pa.chunked_array(found, kind.value_type).combine_chunks() if found else pa.array([], kind.value_type)
        index = pa.compute.subtract(pa.compute.cumulative_sum(there.fill_null(False).cast(pa.int64())), 1)
        index = pa.compute.if_else(there.fill_null(False), index, None)
        return self._made(self._rows.like(pa.table([values.take(index)], names=self._rows.names)))


def _elements(chunk: Any, place: int) -> Any:
    """Return the element at a place of each list, which all have it."""
    pa = arrow()
    ends = chunk.offsets[1:] if place < 0 else chunk.offsets[:-1]
    return chunk.values.take(pa.compute.add(ends, place))


def _checked(name: str, text: Any) -> str:
    if not isinstance(text, str):
        raise InvalidTypeError(f"{name} must be text, not {text!r}")
    return text
