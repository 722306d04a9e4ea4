"""What columns of text have of their own: ``table["name"].str``."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any, Callable, Generic, Mapping, NoReturn, TypeVar

from .._native.arguments import flag, integer
from ..comm.objects import allgather_object
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, collective, local_step
from ..runtime.context import Context
from . import patterns
from .arrow_types import is_text, plain_type
from .by_rows import by_category, decoded, in_pieces, made_of_pieces
from .hints import missing_attribute
from .rows import HasRows, Rows, arrow, arrows_errors, as_table

#: Column, which this module does not import: column.py imports it.
C = TypeVar("C")

_FORMS = ("NFC", "NFKC", "NFD", "NFKD")


class Texts(Generic[C]):
    r"""Functions of each text of a column, as ``table["name"].str``: pyarrow's, and named as pandas names them.

    None is collective but ``split`` into columns. The result is null where the text is. Of categories, each is
    computed once. Regular expressions are Python's, also compiled ones: RE2 computes those of which it finds the same.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     names = dtl.Table(ctx, {"name": ["Ada L.", None, "Bo"]})["name"]
    ...     print(names.str.upper().to_arrow().to_pylist(), names.str.contains("d").to_arrow().to_pylist())
    ...     print(names.str[0].to_arrow().to_pylist(), names.str.extract(r"(?P<first>\w+)").to_arrow().to_pydict())
    ['ADA L.', None, 'BO'] [True, None, False]
    ['A', None, 'B'] {'first': ['Ada', None, 'Bo']}
    """

    __slots__ = ("_made", "_rows")

    def __init__(self, rows: Rows, made: Callable[[Rows], C]) -> None:
        self._rows, self._made = rows, made

    if not TYPE_CHECKING:  # a type checker knows the methods that there are

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_attribute("str", self, name)

    def __getitem__(self, key: Any) -> C:
        """Return a character of each text, or a part of each list; or a slice of each text."""
        if isinstance(key, slice):
            return self.slice(key.start, key.stop, key.step)
        return self.get(key)

    @property
    def _context(self) -> Context:
        """The ranks, which hear of a call that fails here."""
        return self._rows.context

    def _column(self) -> Any:
        """Return this rank's texts."""
        held, pa = self._rows.schema.types[0], arrow()
        column = self._rows.local.column(0)
        if pa.types.is_null(plain_type(held)):
            return pa.chunked_array([pa.nulls(len(column), pa.string())], pa.string())
        if not is_text(held):
            raise InvalidTypeError(f"str is of columns of text; {self._rows.names[0]!r} is of {held}")
        return column

    def _mapped(self, f: Callable[[Any], Any], kind: Any) -> C:
        column = self._column()
        with arrows_errors(f"str of {self._rows.names[0]!r}"):
            f(arrow().array([""]))  # which refuses wrong arguments on ranks without rows, too
            return self._of(self._computed(column, f))

    def _computed(self, column: Any, f: Callable[[Any], Any], of_null: bool | None = None) -> Any:
        """Return a function of each text of a column, as a column."""
        return by_category(self._rows, f"str of {self._rows.names[0]!r}", column, f, of_null)

    def _of(self, made: Any) -> C:
        return self._made(self._rows.like(arrow().table([made], names=self._rows.names)))

    def _each(self, f: Callable[[str], Any], kind: Any = None) -> C:
        """Return a function of Python's of each text, computed once for texts that are equal."""
        return self._mapped(
            lambda column: patterns.by_python(column, f, kind or arrow().string()), kind or arrow().string()
        )

    def _text(self, name: str, *args: Any, **kwargs: Any) -> C:
        pa = arrow()
        return self._mapped(lambda column: getattr(pa.compute, name)(column, *args, **kwargs), pa.string())

    def _is(self, name: str) -> C:
        pa = arrow()
        return self._mapped(getattr(pa.compute, name), pa.bool_())

    def _truth(self, f: Callable[[Any], Any], na: Any) -> C:
        """Return a function that is true or false, with another value than null for nulls if there is one."""
        pa = arrow()
        if na is None:
            return self._mapped(f, pa.bool_())
        value = bool(flag("na", na))
        column = self._column()
        with arrows_errors(f"str of {self._rows.names[0]!r}"):
            f(pa.array([""]))
            return self._of(self._computed(column, f, value))

    def _table(self, columns: Mapping[str, Any]) -> Any:
        return as_table(self._rows.like(arrow().table(dict(columns))))

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
        return self._text(f"utf8_{name}", _text_argument("to_strip", characters))

    def len(self) -> C:
        """Return the numbers of characters."""
        pa = arrow()
        return self._mapped(pa.compute.utf8_length, pa.int32())

    def contains(self, pat: str, *, case: bool = True, flags: int = 0, na: Any = None, regex: bool = True) -> C:
        """Return whether a pattern is found in a text.

        Parameters
        ----------
        pat
            A regular expression.
        case
            Whether upper and lower case are different.
        flags
            Flags of the module ``re``: IGNORECASE, MULTILINE and DOTALL.
        na
            True or False, for nulls; None leaves them null.
        regex
            Whether pat is a regular expression, and not the text itself.

        Raises
        ------
        InvalidArgumentError
            If the regular expression is none.
        """
        sensitive = flag("case", case)
        if flag("regex", regex):
            return self._truth(patterns.found(pat, sensitive, flags), na)
        pa, checked = arrow(), _text_argument("pat", pat)
        return self._truth(lambda c: pa.compute.match_substring(c, checked, ignore_case=not sensitive), na)

    def match(self, pat: str, *, case: bool = True, flags: int = 0, na: Any = None) -> C:
        """Return whether a regular expression matches the beginning of a text. As :meth:`contains`."""
        return self._truth(patterns.found(pat, flag("case", case), flags, "match"), na)

    def fullmatch(self, pat: str, *, case: bool = True, flags: int = 0, na: Any = None) -> C:
        """Return whether a regular expression matches a whole text. As :meth:`contains`."""
        return self._truth(patterns.found(pat, flag("case", case), flags, "fullmatch"), na)

    def startswith(self, pat: str | tuple[str, ...], *, na: Any = None) -> C:
        """Return whether a text begins with another, or with one of a tuple. ``na`` is as of :meth:`contains`."""
        return self._ends("starts_with", pat, na)

    def endswith(self, pat: str | tuple[str, ...], *, na: Any = None) -> C:
        """Return whether a text ends with another, or with one of a tuple. ``na`` is as of :meth:`contains`."""
        return self._ends("ends_with", pat, na)

    def _ends(self, name: str, pat: Any, na: Any) -> C:
        pa = arrow()
        f = getattr(pa.compute, name)
        ends = [_text_argument("pat", each) for each in (pat if isinstance(pat, tuple) else (pat,))]

        def ended(column: Any) -> Any:
            made = pa.compute.and_(column.is_valid(), False) if not ends else f(column, ends[0])
            for end in ends[1:]:
                made = pa.compute.or_(made, f(column, end))
            return made if ends else pa.compute.if_else(column.is_valid(), made, None)

        return self._truth(ended, na)

    def isalnum(self) -> C:
        """Return whether all characters are letters or digits, and there is one. As of a str of Python's."""
        return self._is("utf8_is_alnum")

    def isalpha(self) -> C:
        """Return whether all characters are letters, and there is one."""
        return self._is("utf8_is_alpha")

    def isascii(self) -> C:
        """Return whether all characters are of ASCII."""
        return self._is("string_is_ascii")

    def isdecimal(self) -> C:
        """Return whether all characters are digits of decimal numbers, and there is one."""
        return self._is("utf8_is_decimal")

    def isdigit(self) -> C:
        """Return whether all characters are digits, and there is one."""
        return self._each(str.isdigit, arrow().bool_())

    def islower(self) -> C:
        """Return whether all letters are in lower case, and there is one."""
        return self._is("utf8_is_lower")

    def isnumeric(self) -> C:
        """Return whether all characters stand for numbers, and there is one."""
        return self._is("utf8_is_numeric")

    def isspace(self) -> C:
        """Return whether all characters are white space, and there is one."""
        return self._is("utf8_is_space")

    def istitle(self) -> C:
        """Return whether each word begins with a letter in upper case, and has no other, and there is one."""
        return self._is("utf8_is_title")

    def isupper(self) -> C:
        """Return whether all letters are in upper case, and there is one."""
        return self._is("utf8_is_upper")

    def find(self, sub: str, start: int = 0, end: int | None = None) -> C:
        """Return the place at which a text is first found, as of a str of Python's; -1 where it is not."""
        pa, wanted = arrow(), _text_argument("sub", sub)
        if integer("start", start) or end is not None:
            last = None if end is None else integer("end", end)
            return self._each(lambda text: text.find(wanted, start, last), pa.int32())

        def places(column: Any) -> Any:
            found = pa.compute.find_substring(column, wanted)  # counts bytes
            characters = pa.compute.utf8_length(column)
            if pa.compute.all(pa.compute.equal(pa.compute.binary_length(column), characters)).as_py() is False:
                texts = column.to_pylist()
                found = pa.array([None if text is None else text.find(wanted) for text in texts], found.type)
            return found

        return self._mapped(places, pa.int32())

    def rfind(self, sub: str, start: int = 0, end: int | None = None) -> C:
        """Return the place at which a text is last found, as of a str of Python's; -1 where it is not."""
        wanted, first = _text_argument("sub", sub), integer("start", start)
        last = None if end is None else integer("end", end)
        return self._each(lambda text: text.rfind(wanted, first, last), arrow().int32())

    def count(self, pat: str, *, flags: int = 0, regex: bool = True) -> C:
        """Return how often a pattern is found in a text, without overlaps. As :meth:`contains`."""
        pa = arrow()
        if flag("regex", regex):
            return self._mapped(patterns.counted(pat, flags), pa.int32())
        checked = _text_argument("pat", pat)
        return self._mapped(lambda column: pa.compute.count_substring(column, checked), pa.int32())

    def findall(self, pat: str, *, flags: int = 0) -> C:
        """Return lists of what a regular expression of Python's matches, or its group if it has one."""
        pa, found = arrow(), patterns.of_python(pat, flags)
        if found.groups > 1:
            raise InvalidArgumentError(f"pat {pat!r} has {found.groups} groups; findall has one list for each text")
        return self._each(found.findall, pa.list_(pa.string()))

    def extract(self, pat: str, *, flags: int = 0, expand: bool = True) -> Any:
        r"""Return a table of the groups of the first match of a regular expression of Python's.

        Parameters
        ----------
        pat
            The regular expression: each group is a column, called by its name or its number, from "0" on. Where
            nothing matches, it is null.
        flags
            Flags of the module ``re``.
        expand
            Whether one group is a table, too, and not a column.

        Raises
        ------
        InvalidArgumentError
            If the regular expression is none, or has no group.
        """
        found, pa = patterns.of_python(pat, flags), arrow()
        if not found.groups:
            raise InvalidArgumentError(f"pat {pat!r} has no group in parentheses, of which extract makes columns")
        names = {number: name for name, number in found.groupindex.items()}
        width = found.groups

        def groups(text: str) -> Any:
            match = found.search(text)
            return (None,) * width if match is None else match.groups()

        columns = self._columns(groups, width)
        if width == 1 and not flag("expand", expand):
            return self._made(self._rows.like(pa.table(columns, names=[names.get(1, self._rows.names[0])])))
        return self._table({names.get(i + 1, str(i)): column for i, column in enumerate(columns)})

    def partition(self, sep: str = " ", *, expand: bool = True) -> Any:
        """Return a table of what is before the first separator, the separator, and what is behind it; or lists."""
        checked = _separator(sep)
        return self._parts(lambda text: text.partition(checked), expand)

    def rpartition(self, sep: str = " ", *, expand: bool = True) -> Any:
        """Return a table of what is before the last separator, the separator, and what is behind it; or lists."""
        checked = _separator(sep)
        return self._parts(lambda text: text.rpartition(checked), expand)

    def _parts(self, f: Callable[[str], tuple[str, ...]], expand: Any) -> Any:
        if not flag("expand", expand):
            return self._each(f, arrow().list_(arrow().string()))
        return self._table({str(i): column for i, column in enumerate(self._columns(f, 3))})

    def _columns(self, f: Callable[[str], tuple[Any, ...]], width: int) -> list[Any]:
        """Return columns of the texts that a function makes of each text."""
        pa = arrow()
        kind = pa.struct([(str(i), pa.string()) for i in range(width)])
        made = self._computed(self._column(), lambda texts: patterns.by_python(texts, f, kind))
        return list(made.flatten())

    def replace(
        self, pat: Any, repl: Any = None, *, n: int = -1, case: bool = True, flags: int = 0, regex: bool = False
    ) -> C:
        r"""Return the texts with one text in the places of another.

        Parameters
        ----------
        pat, repl
            What is replaced, and by what; with regex, ``\1`` is the first group, and repl may be a function of Python's
            match. Or a mapping of texts to others, which are replaced one after the other.
        n
            How often at most; -1 for always.
        case, flags
            As for :meth:`contains`.
        regex
            Whether pat is a regular expression.
        """
        most = integer("n", n)
        if isinstance(pat, Mapping):
            if repl is not None:
                raise InvalidArgumentError(
                    f"pat is a mapping of texts to others, beside which repl {repl!r} has no use"
                )
            made: Any = self._made(self._rows)
            for old, new in pat.items():
                made = Texts(made.rows, self._made).replace(old, new, n=n, case=case, flags=flags, regex=regex)
            return made  # type: ignore[no-any-return]
        if not flag("regex", regex) and flag("case", case):
            given = _text_argument("pat", pat), _text_argument("repl", repl)
            return self._text("replace_substring", *given, max_replacements=most if most >= 0 else None)
        if not regex:
            literal = _text_argument("repl", repl)
            return self._mapped(
                patterns.replaced(re.escape(_text_argument("pat", pat)), lambda _: literal, most, False, flags),
                arrow().string(),
            )
        new = repl if callable(repl) else _text_argument("repl", repl)
        f = patterns.replaced(pat, new, most, flag("case", case), flags)
        return self._mapped(f, arrow().string())

    def removeprefix(self, prefix: str) -> C:
        """Return the texts without a text at the beginning, where it is."""
        checked = _text_argument("prefix", prefix)
        return self._each(lambda text: text[len(checked) :] if text.startswith(checked) else text)

    def removesuffix(self, suffix: str) -> C:
        """Return the texts without a text at the end, where it is."""
        checked = _text_argument("suffix", suffix)
        return self._each(lambda text: text[: len(text) - len(checked)] if text.endswith(checked) else text)

    def repeat(self, repeats: Any) -> C:
        """Return the texts so often, one after the other: an integer, or a column of them."""
        pa = arrow()
        if not isinstance(repeats, HasRows):
            number = max(integer("repeats", repeats), 0)
            return self._mapped(lambda column: pa.compute.binary_repeat(column, number), pa.string())
        numbers = _column_of_same_table(self._rows, "repeats", repeats)
        if not pa.types.is_integer(numbers.type):
            raise InvalidTypeError(f"repeats is of {numbers.type}, and not of integers")
        texts = self._column()
        with arrows_errors("str.repeat"):
            return self._of(in_pieces(self._rows, "str.repeat", [texts, numbers], _repeated))

    def cat(self, others: Any, sep: str = "", na_rep: str | None = None) -> C:
        """Return the texts with those of other columns of the table behind them.

        Parameters
        ----------
        others
            A column of text, or a list of them.
        sep
            What is put between two texts.
        na_rep
            What is put for nulls; None for null where one of the texts is.
        """
        pa, between = arrow(), _text_argument("sep", sep)
        if others is None:
            raise InvalidTypeError(
                "cat joins columns of text; all texts of one are joined by ''.join(column.to_list())"
            )
        columns = [self._column()]
        for each in others if isinstance(others, (list, tuple)) else [others]:
            beside = _column_of_same_table(self._rows, "others", each)
            if not is_text(beside.type):
                raise InvalidTypeError(f"others has a column of {beside.type}, and not of text")
            columns.append(beside)
        options: dict[str, Any] = {"null_handling": "emit_null"}
        if na_rep is not None:
            options = {"null_handling": "replace", "null_replacement": _text_argument("na_rep", na_rep)}

        def joined(*some: Any) -> Any:
            return pa.compute.binary_join_element_wise(*map(decoded, some), between, **options)

        return self._of(in_pieces(self._rows, "str.cat", columns, joined))

    def join(self, sep: str) -> C:
        """Return the texts of each list as one, with a separator between them; of a text, its characters."""
        pa, between = arrow(), _text_argument("sep", sep)
        kind = self._rows.schema.types[0]
        if not pa.types.is_list(kind):
            return self._each(between.join)
        if not pa.types.is_string(kind.value_type):
            raise InvalidTypeError(f"str.join is of lists of text; {self._rows.names[0]!r} is of {kind}")
        column = self._rows.local.column(0)
        return self._of(in_pieces(self._rows, "str.join", [column], lambda some: pa.compute.binary_join(some, between)))

    def swapcase(self) -> C:
        """Return the texts with letters of upper case in lower case, and the other way round."""
        return self._text("utf8_swapcase")

    def casefold(self) -> C:
        """Return the texts in the form in which case makes no difference."""
        return self._each(str.casefold)

    def normalize(self, form: str) -> C:
        """Return the texts in a normal form of Unicode: NFC, NFKC, NFD or NFKD."""
        wanted: Any = _text_argument("form", form)
        if wanted not in _FORMS:
            raise InvalidArgumentError(f"form {form!r} is none of {', '.join(_FORMS)}")
        return self._each(lambda text: unicodedata.normalize(wanted, text))

    def translate(self, table: Any) -> C:
        """Return the texts with other characters, as of a mapping that ``str.maketrans`` makes."""
        if not isinstance(table, Mapping):
            raise InvalidTypeError(f"table must be a mapping of characters, as of str.maketrans, not {table!r}")
        return self._each(lambda text: text.translate(table))

    def pad(self, width: int, side: str = "left", fillchar: str = " ") -> C:
        """Return the texts with characters on one side, or on both, so that they have a width."""
        sides = {"left": self.rjust, "right": self.ljust, "both": self.center}
        if side not in sides:
            raise InvalidArgumentError(f"side {side!r} is none of {', '.join(sides)}")
        return sides[side](width, fillchar)

    def center(self, width: int, fillchar: str = " ") -> C:
        """Return the texts with characters on both sides, so that they have a width."""
        most, one = integer("width", width), _character(fillchar)
        return self._each(lambda text: text.center(most, one))

    def ljust(self, width: int, fillchar: str = " ") -> C:
        """Return the texts with characters behind them, so that they have a width."""
        return self._text("utf8_rpad", max(integer("width", width), 0), _character(fillchar))

    def rjust(self, width: int, fillchar: str = " ") -> C:
        """Return the texts with characters before them, so that they have a width."""
        return self._text("utf8_lpad", max(integer("width", width), 0), _character(fillchar))

    def zfill(self, width: int) -> C:
        """Return the texts with zeros before them, behind a sign, so that they have a width."""
        most = integer("width", width)
        return self._each(lambda text: text.zfill(most))

    def slice(self, start: int | None = None, stop: int | None = None, step: int | None = None) -> C:
        """Return a slice of each text, as of a str of Python's."""
        given = {"start": start, "stop": stop, "step": step}
        chosen = slice(*(None if each is None else integer(name, each) for name, each in given.items()))
        if chosen.step == 0:
            raise InvalidArgumentError("step is 0")
        if (chosen.step or 1) < 0:
            return self._each(lambda text: text[chosen])
        return self._text("utf8_slice_codeunits", chosen.start or 0, chosen.stop, chosen.step or 1)

    def slice_replace(self, start: int | None = None, stop: int | None = None, repl: str | None = None) -> C:
        """Return the texts with another text in the place of a slice."""
        first = 0 if start is None else integer("start", start)
        last = None if stop is None else integer("stop", stop)
        new = "" if repl is None else _text_argument("repl", repl)

        def replaced(text: str) -> str:
            begin, end, _ = slice(first, last).indices(len(text))
            return text[:begin] + new + text[max(begin, end) :]

        return self._each(replaced)

    def split(self, pat: Any = None, n: int | None = -1, *, expand: bool = False, regex: bool | None = None) -> Any:
        """Return lists of the parts of texts between separators: :meth:`get` takes one of them.

        Parameters
        ----------
        pat
            The separator; None for white space.
        n
            How often a text is split at most, from the left; 0 and -1 for always.
        expand
            Return a table instead, with a column for each part, called "0", "1" and so on; null where a text has fewer
            parts. Collective.
        regex
            Whether pat is a regular expression. None, as for pandas: if it has more than one character.
        """
        given = (pat, n, regex, False)
        return self._split(*given) if flag("expand", expand) else self._lists(*given)

    def rsplit(self, pat: str | None = None, n: int | None = -1, *, expand: bool = False) -> Any:
        """Return lists of the parts of texts between separators, split from the right. As :meth:`split`."""
        given = (pat, n, False, True)
        return self._split(*given) if flag("expand", expand) else self._lists(*given)

    @collective
    def _split(self, pat: Any, n: Any, regex: Any, reverse: bool) -> Any:
        made: Any = self._lists(pat, n, regex, reverse)
        return _columns_of_lists(made.rows, f"by {pat!r}, n {n}, regex {regex}")

    def _lists(self, pat: Any, n: Any, regex: Any, reverse: bool) -> C:
        pa, most = arrow(), -1 if n is None else integer("n", n)
        kind = pa.list_(pa.string())
        if pat is None:
            made = self._each(
                lambda text: (text.rsplit if reverse else text.split)(None, most if most > 0 else -1), kind
            )
        elif _is_pattern(pat, regex):
            made = self._mapped(patterns.divided(pat, max(most, 0)), kind)
        else:
            checked = _separator(pat)

            def divided(column: Any) -> Any:
                # pyarrow makes room for so many parts, and ends the process where there is none.
                longest = pa.compute.max(pa.compute.binary_length(column)).as_py() or 0
                splits = min(most, longest + 1) if most > 0 else None
                return pa.compute.split_pattern(column, checked, max_splits=splits, reverse=reverse)

            made = self._mapped(divided, kind)
        return made

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
        return self._of(_parts(self._rows, place))


def _columns_of_lists(rows: Rows, words: str) -> Any:
    """Return a table with a column for each part of lists. Collective."""
    pa, column = arrow(), rows.local.column(0)
    agree(rows.context, "split", words)
    with local_step(rows.context, "split"):
        mine = max(made_of_pieces([column], _longest))
    width = max(1, *allgather_object(rows.context, mine), 1)
    return as_table(rows.like(pa.table({str(i): _parts(rows, i) for i in range(width)})))


def _parts(rows: Rows, place: int) -> Any:
    """Return one value of each list of a column; null of shorter ones. Not collective."""
    return in_pieces(rows, "str.get", [rows.local.column(0)], lambda column: _part(column, place))


def _part(column: Any, place: int) -> Any:
    """Return one value of each list; null of shorter ones."""
    pa, kind = arrow(), column.type
    length = pa.compute.list_value_length(column)
    at = place if place >= 0 else pa.compute.add(length, place)
    there = pa.compute.and_(pa.compute.less(at, length), pa.compute.greater_equal(at, 0))
    chosen = column.filter(there)
    found = [_elements(chunk, place) for chunk in chosen.chunks]
    values = pa.chunked_array(found, kind.value_type).combine_chunks() if found else pa.array([], kind.value_type)
    index = pa.compute.subtract(pa.compute.cumulative_sum(there.fill_null(False).cast(pa.int64())), 1)
    index = pa.compute.if_else(there.fill_null(False), index, None)
    return values.take(index)


def _elements(chunk: Any, place: int) -> Any:
    """Return the element at a place of each list, which all have it."""
    pa = arrow()
    ends = chunk.offsets[1:] if place < 0 else chunk.offsets[:-1]
    return chunk.values.take(pa.compute.add(ends, place))


def _longest(lists: Any) -> int:
    """Return how many values a list has at most."""
    compute = arrow().compute
    return compute.max(compute.list_value_length(lists)).as_py() or 0


def _repeated(texts: Any, numbers: Any) -> Any:
    """Return texts so often, one after the other."""
    pa = arrow()
    times = pa.compute.max_element_wise(numbers.cast(pa.int64()), 0, skip_nulls=False)
    return pa.compute.binary_repeat(decoded(texts), times)


def _column_of_same_table(rows: Rows, name: str, other: Any) -> Any:
    """Return the values of another column of the same table."""
    if not isinstance(other, HasRows):
        raise InvalidTypeError(f"{name} must be a column of the same table, not {other!r}")
    beside = other.rows
    if beside.context is not rows.context or beside.counts != rows.counts:
        raise InvalidArgumentError(
            f"{name} has {list(beside.counts)} rows on the ranks, and {rows.names[0]!r} has {list(rows.counts)}"
        )
    return beside.local.column(0)


def _text_argument(name: str, text: Any) -> str:
    if not isinstance(text, str):
        raise InvalidTypeError(f"{name} must be text, not {text!r}")
    return text


def _separator(sep: Any) -> str:
    if not _text_argument("sep", sep):
        raise InvalidArgumentError("the separator is empty")
    return str(sep)


def _is_pattern(pat: Any, regex: Any) -> bool:
    """Say whether a separator is a regular expression: by default, if it has more than one character."""
    if regex is not None:
        return bool(flag("regex", regex))
    return isinstance(pat, re.Pattern) or len(_text_argument("pat", pat)) > 1


def _character(text: Any) -> str:
    if len(_text_argument("fillchar", text)) != 1:
        raise InvalidArgumentError(f"fillchar must be one character, not {text!r}")
    return str(text)
