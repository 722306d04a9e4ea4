"""``str`` of columns beside Python's functions of each text, and pandas' tables of parts."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Callable

import pytest
from test_column import values
from test_table import divided, everywhere

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

TEXTS = [
    "plum pie", None, "", " Fig\t", "éa.b.c", "plum pie", "AXA", "x.y", "straße", "12", "-12.5", "+7", "²",
    "½", "\u0661\u0662",
    "Ab Cd", "AB", "ab", "a1", "\n", "日本", "a,b,,c", "Ⅷ", "e\u0301",
]  # fmt: skip

TRANSLATED = str.maketrans({"p": "b", "é": None, "x": "yy"})

FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[str], Any]]] = {
    **{
        name: (lambda s, name=name: getattr(s, name)(), lambda v, name=name: getattr(v, name)())
        for name in (
            "isalnum",
            "isalpha",
            "isascii",
            "isdecimal",
            "isdigit",
            "islower",
            "isnumeric",
            "isspace",
            "istitle",
            "isupper",
            "casefold",
        )
    },
    "swapcase": (lambda s: s.swapcase(), lambda v: v.swapcase().replace("SS", "ẞ")),
    "match": (lambda s: s.match("pl|A"), lambda v: re.match("pl|A", v) is not None),
    "match without case": (lambda s: s.match("a", case=False), lambda v: v[:1] in "aA" and v != ""),
    "match, with null as false": (lambda s: s.match("p").fillna(False), lambda v: v.startswith("p")),
    "fullmatch": (lambda s: s.fullmatch("[a-z]+|AX."), lambda v: re.fullmatch("[a-z]+|AX.", v) is not None),
    "fullmatch of lines": (lambda s: s.fullmatch("a?"), lambda v: re.fullmatch("a?", v) is not None),
    "contains by flags": (lambda s: s.contains("A.B", flags=re.I), lambda v: re.search("a.b", v, re.I) is not None),
    "contains what RE2 knows not": (lambda s: s.contains("l(?=u)"), lambda v: "lu" in v),
    "contains groups": (lambda s: s.contains(r"([a-z])\.\1?"), lambda v: re.search(r"[a-z]\.", v) is not None),
    "startswith one of several": (lambda s: s.startswith(("pl", "A")), lambda v: v.startswith(("pl", "A"))),
    "startswith one of none": (lambda s: s.startswith(()), lambda v: False),
    "endswith one of several": (lambda s: s.endswith(("e", "é", "")), lambda v: True),
    "first": (lambda s: s[0], lambda v: v[0] if v else None),
    "third last": (lambda s: s[-3], lambda v: v[-3] if len(v) > 2 else None),
    "some": (lambda s: s[1:3], lambda v: v[1:3]),
    "backwards": (lambda s: s[::-1], lambda v: v[::-1]),
    "from the end": (lambda s: s[-2:], lambda v: v[-2:]),
    "slice_replace": (lambda s: s.slice_replace(1, 3, "_"), lambda v: v[:1] + "_" + v[3:]),
    "slice_replace at the end": (lambda s: s.slice_replace(-1, None, "_"), lambda v: (v[:-1] if v else "") + "_"),
    "pad": (lambda s: s.pad(5), lambda v: v.rjust(5)),
    "pad behind": (lambda s: s.pad(5, "right", "*"), lambda v: v.ljust(5, "*")),
    "pad both": (lambda s: s.pad(5, side="both", fillchar="*"), lambda v: v.center(5, "*")),
    "center": (lambda s: s.center(4, "é"), lambda v: v.center(4, "é")),
    "ljust": (lambda s: s.ljust(4), lambda v: v.ljust(4)),
    "rjust of less": (lambda s: s.rjust(-1), lambda v: v),
    "zfill": (lambda s: s.zfill(4), lambda v: v.zfill(4)),
    "repeat": (lambda s: s.repeat(2), lambda v: v * 2),
    "repeat never": (lambda s: s.repeat(-1), lambda v: ""),
    "removeprefix": (lambda s: s.removeprefix("pl"), lambda v: v[2:] if v.startswith("pl") else v),
    "removesuffix": (lambda s: s.removesuffix("e"), lambda v: v[:-1] if v.endswith("e") else v),
    "removesuffix of nothing": (lambda s: s.removesuffix(""), lambda v: v),
    "find from a place on": (lambda s: s.find("p", 1), lambda v: v.find("p", 1)),
    "find before a place": (lambda s: s.find("i", 0, 3), lambda v: v.find("i", 0, 3)),
    "rfind": (lambda s: s.rfind("p"), lambda v: v.rfind("p")),
    "count of what may be empty": (lambda s: s.count("a*"), lambda v: len(re.findall("a*", v))),
    "count by flags": (lambda s: s.count("A", flags=re.I), lambda v: len(re.findall("a", v, re.I))),
    "findall": (lambda s: s.findall("[a-z]+"), lambda v: re.findall("[a-z]+", v)),
    "findall of a group": (lambda s: s.findall("([a-z])\\."), lambda v: re.findall("([a-z])\\.", v)),
    "normalize": (lambda s: s.normalize("NFC"), lambda v: unicodedata.normalize("NFC", v)),
    "translate": (lambda s: s.translate(TRANSLATED), lambda v: v.translate(TRANSLATED)),
    "replace by a function": (
        lambda s: s.replace("[a-c]", lambda m: m[0].upper() * 2, regex=True),
        lambda v: re.sub("[a-c]", lambda m: m[0].upper() * 2, v),
    ),
    "replace without case": (lambda s: s.replace("A", r"\1", case=False), lambda v: re.sub("[aA]", r"\\1", v)),
    "replace by named groups": (
        lambda s: s.replace("(?P<x>[a-c])", r"<\g<x>>", regex=True, n=1),
        lambda v: re.sub("([a-c])", r"<\1>", v, count=1),
    ),
    "replace several": (lambda s: s.replace({"p": "b", "b": "d"}), lambda v: v.replace("p", "b").replace("b", "d")),
    "split by white space": (lambda s: s.split(), lambda v: v.split()),
    "split by white space once": (lambda s: s.split(n=1), lambda v: v.split(None, 1)),
    "split by a pattern": (lambda s: s.split("[.,]"), lambda v: re.split("[.,]", v)),
    "split by a text": (lambda s: s.split("a.", regex=False), lambda v: v.split("a.")),
    "split by one pattern": (lambda s: s.split(".", regex=True), lambda v: re.split(".", v)),
    "rsplit": (lambda s: s.rsplit(",", 1), lambda v: v.rsplit(",", 1)),
    "rsplit by white space": (lambda s: s.rsplit(None, 1), lambda v: v.rsplit(None, 1)),
    "join": (lambda s: s.split(",").str.join("-"), lambda v: "-".join(v.split(","))),
    "join of characters": (lambda s: s.join("-"), "-".join),
    "first part": (lambda s: s.split(",").str[0], lambda v: v.split(",")[0]),
}


@pytest.mark.parametrize("dictionary", [False, True], ids=["texts", "categories"])
@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_text(ctx: dtl.Context, name: str, dictionary: bool) -> None:
    of_column, of_text = FUNCTIONS[name]
    texts = pa.array(TEXTS)
    column = divided(ctx, pa.table({"x": texts.dictionary_encode() if dictionary else texts}))["x"]
    wanted = [None if v is None else of_text(v) for v in TEXTS]
    if name.endswith("null as false"):
        wanted = [bool(each) for each in wanted]
    assert values(of_column(column.str)) == wanted
    assert values(of_column(column[:0].str)) == []


#: Of which RE2 finds others than Python in some texts: white space, letters and digits beside ASCII, ends of lines.
PATTERNS = [
    r"\s",
    r"\S+",
    r"\d",
    r"\w+",
    r"\b",
    r"\W",
    "b$",
    "^$",
    r"[\s,]",
    r"(?i)É",
    "É",
    "[^a]",
    r"\x61",
    "(.)\1",
    r"a\Z",
    "a.b",
]

SPACED = ["a\x0bb", "a b", "a\u2003b", "\u06612", "é", "aab", "b\n", "b\nb", "", None, "a,b", "\u017f", "K"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_are_pythons(ctx: dtl.Context, pattern: str) -> None:
    for texts in (SPACED, [text for text in SPACED if text is None or text.isascii()]):
        s = divided(ctx, pa.table({"x": texts}))["x"].str
        for flags in (0, re.IGNORECASE, re.MULTILINE | re.DOTALL):
            known = re.compile(pattern, flags)
            for f, g in (
                (lambda p: s.contains(p, flags=flags), lambda v: known.search(v) is not None),  # noqa: B023
                (lambda p: s.match(p, flags=flags), lambda v: known.match(v) is not None),  # noqa: B023
                (lambda p: s.fullmatch(p, flags=flags), lambda v: known.fullmatch(v) is not None),  # noqa: B023
                (lambda p: s.count(p, flags=flags), lambda v: len(known.findall(v))),  # noqa: B023
                (lambda p: s.replace(p, "_", flags=flags, regex=True), lambda v: known.sub("_", v)),  # noqa: B023
            ):
                wanted = [None if v is None else g(v) for v in texts]
                assert values(f(pattern)) == wanted
                assert values(f(known)) == wanted


TABLES: dict[str, tuple[Callable[[Any], Any], Callable[[str], Any]]] = {
    "partition": (lambda s: s.partition(","), lambda v: v.partition(",")),
    "rpartition": (lambda s: s.rpartition(), lambda v: v.rpartition(" ")),
    "split": (lambda s: s.split(",", expand=True), lambda v: [*v.split(","), None, None, None][:4]),
    "split once": (lambda s: s.split(n=1, expand=True), lambda v: [*v.split(None, 1), None, None][:2]),
    "extract": (
        lambda s: s.extract("([a-z])(?P<dot>[.])?"),
        lambda v: m.groups() if (m := re.search("([a-z])([.])?", v)) else (None, None),
    ),
}


@pytest.mark.parametrize("name", list(TABLES))
def test_tables_of_parts(ctx: dtl.Context, name: str) -> None:
    """Tables with as many columns on every rank, whoever has the text with the most parts."""
    f, of_text = TABLES[name]
    for order in ("even", "last"):
        made = everywhere(f(divided(ctx, pa.table({"x": TEXTS}), order)["x"].str))
        wanted = [[None] * made.num_columns if v is None else list(of_text(v)) for v in TEXTS]
        assert [list(row) for row in zip(*made.to_pydict().values())] == wanted
        assert made.column_names == (["0", "dot"] if name == "extract" else [str(i) for i in range(made.num_columns)])


def test_other_columns(ctx: dtl.Context) -> None:
    n = [i % 4 - 1 for i in range(len(TEXTS))]
    beside = [None if i % 5 == 0 else f"b{i}" for i in range(len(TEXTS))]
    table = divided(ctx, pa.table({"x": TEXTS, "n": n, "y": beside}))
    x = table["x"]
    assert values(x.str.repeat(table["n"])) == [None if v is None else v * k for v, k in zip(TEXTS, n)]
    both = [None if None in pair else "/".join(pair) for pair in zip(TEXTS, beside)]
    assert values(x.str.cat(table["y"], sep="/")) == both
    known = ["/".join("?" if v is None else v for v in (one, other, one)) for one, other in zip(TEXTS, beside)]
    assert values(x.str.cat([table["y"], x.astype("category")], sep="/", na_rep="?")) == known
    assert values(x.str.extract("(p)", expand=False)) == [None if v is None or "p" not in v else "p" for v in TEXTS]
    assert x.str.extract("(?P<p>p)").columns == ["p"]
    assert values(x.str.contains("p", na=True)) == [v is None or "p" in v for v in TEXTS]
    assert values(x.astype("category").str.endswith("e", na=False)) == [v is not None and v[-1:] == "e" for v in TEXTS]
    for kind in (pa.null(), pa.dictionary(pa.int32(), pa.null())):
        nothing = dtl.Table(ctx, {"x": pa.nulls(3, kind)})["x"]
        assert values(nothing.str.upper()) == [None] * 3
    assert values(x.str.partition(",", expand=False)) == [None if v is None else list(v.partition(",")) for v in TEXTS]
    assert values(x.str.split(re.compile("[.,]"))) == [None if v is None else re.split("[.,]", v) for v in TEXTS]


BAD: dict[str, tuple[Any, str, Callable[[Any], Any]]] = {
    "pattern": (dtl.InvalidArgumentError, "'\\('", lambda x: x.str.contains("(")),
    "flags": (dtl.InvalidTypeError, "flags", lambda x: x.str.count("a", flags="i")),
    "no group": (dtl.InvalidArgumentError, "no group", lambda x: x.str.extract("a")),
    "two groups": (dtl.InvalidArgumentError, "2 groups", lambda x: x.str.findall("(a)(b)")),
    "replacement": (dtl.InvalidArgumentError, "replacement", lambda x: x.str.replace("p", r"\g<y>", regex=True)),
    "replacement beside a mapping": (dtl.InvalidArgumentError, "mapping", lambda x: x.str.replace({"a": "b"}, "c")),
    "separator": (dtl.InvalidArgumentError, "empty", lambda x: x.str.split("")),
    "side": (dtl.InvalidArgumentError, "'top'", lambda x: x.str.pad(3, "top")),
    "fillchar": (dtl.InvalidArgumentError, "one character", lambda x: x.str.center(3, "ab")),
    "width": (dtl.InvalidTypeError, "width", lambda x: x.str.zfill("3")),
    "step": (dtl.InvalidArgumentError, "step", lambda x: x.str[::0]),
    "subscript": (dtl.InvalidTypeError, "'a'", lambda x: x.str["a"]),
    "form": (dtl.InvalidArgumentError, "NFX", lambda x: x.str.normalize("NFX")),
    "others of text": (dtl.InvalidTypeError, "column of the same table", lambda x: x.str.cat("a")),
    "all texts": (dtl.InvalidTypeError, "to_list", lambda x: x.str.cat(None)),
    "other rows": (dtl.InvalidArgumentError, "rows", lambda x: x.str.cat(x[:1])),
    "others of lists": (dtl.InvalidTypeError, "list", lambda x: x.str.cat(x.str.split())),
    "repeats of text": (dtl.InvalidTypeError, "integers", lambda x: x.str.repeat(x)),
    "na": (dtl.InvalidTypeError, "na", lambda x: x.str.contains("a", na="no")),
    "numbers": (dtl.InvalidTypeError, "of columns of text", lambda x: x.str.len().str.upper()),
}


@pytest.mark.parametrize("case", BAD)
def test_refused(ctx: dtl.Context, case: str) -> None:
    error, text, call = BAD[case]
    column = divided(ctx, pa.table({"x": ["plum", None]}), "last")["x"]
    with pytest.raises(error, match=text):
        call(column)


def test_what_pandas_has_and_str_has_not(ctx: dtl.Context) -> None:
    texts: Any = dtl.Table(ctx, {"x": ["a"]})["x"].str
    for name, hint in (("index", "find"), ("extractall", "findall"), ("uper", "upper"), ("__dict__", "__dict__")):
        with pytest.raises(AttributeError, match=hint):
            getattr(texts, name)


@pytest.mark.parametrize("flags", [True, -1, 1, 1 << 20])
def test_flags_that_there_are_not(ctx: dtl.Context, flags: int) -> None:
    column = dtl.Table(ctx, {"x": ["a"]})["x"]
    for call in (column.str.contains, column.str.count, column.str.extract, column.str.findall):
        with pytest.raises(ValueError, match=f"flags {flags} are not re.A"):
            call("(a)", flags=flags)


@pytest.mark.parametrize("n", [3, 2**32, 2**62])
def test_divided_at_most_so_often(ctx: dtl.Context, n: int) -> None:
    column = dtl.Table(ctx, {"x": ["a-b-c-d-e", "", None, "a"]})["x"]
    for name in ("split", "rsplit"):
        wanted = [None if text is None else getattr(text, name)("-", n) for text in ("a-b-c-d-e", "", None, "a")]
        assert values(getattr(column.str, name)("-", n)) == wanted
