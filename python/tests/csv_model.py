"""Files of CSV as other programs write them, drawn from a seed, and a reader that is as simple as it can be.

The reader goes through the characters one by one, and finds the type of a column by Python's own means. Python's module
``csv`` says whether it has the right rows.
"""

from __future__ import annotations

import csv
import io
import random
import re
from datetime import date, datetime, timedelta, timezone
from typing import Any, Callable, NamedTuple

NULLS = ("", "NA", "N/A", "null", "NULL", "None")

BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}

Field = Any  # tuple[str, bool]: the text, and whether it is in quotes


class Drawn(NamedTuple):
    """A file, and what its values are divided by."""

    text: str
    delimiter: str
    encoding: str


# ---- The reader ----


def rows_of(text: str, delimiter: str) -> list[list[Field]]:
    """Return the rows of a text, those without characters left out."""
    rows: list[list[Field]] = []
    row: list[Field] = []
    value, quoted, at = "", False, 0
    while at < len(text):
        char = text[at]
        at += 1
        if char == '"' and not value and not quoted:  # a quoted field, up to the quote that closes it
            quoted = True
            while at < len(text):
                if text[at] == '"' and text[at + 1 : at + 2] != '"':
                    at += 1
                    break
                at += text[at] == '"'
                value += text[at]
                at += 1
        elif char == delimiter:
            row.append((value, quoted))
            value, quoted = "", False
        elif char in "\r\n":
            at += text[at - 1 : at + 1] == "\r\n"
            if row or value or quoted:
                rows.append([*row, (value, quoted)])
            row, value, quoted = [], "", False
        else:
            value += char
    return [*rows, [*row, (value, quoted)]] if row or value or quoted else rows


def python_rows(text: str, delimiter: str) -> list[list[str]]:
    """Return the rows of a text that Python's csv finds."""
    return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]


# ---- The types ----


def _integer(text: str) -> int | None:
    text = text.strip(" \t")
    if re.fullmatch("0[xX][0-9a-fA-F]{1,16}", text):
        return int(text, 16)
    return int(text) if re.fullmatch("-?[0-9]+", text) else None


def _between(low: int, high: int) -> Callable[[str], int | None]:
    def made(text: str) -> int | None:
        number = _integer(text)
        return number if number is not None and low <= number < high else None

    return made


def _float(text: str) -> float | None:
    text = text.strip(" \t")
    number = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf|nan)"
    return float(text) if re.fullmatch(number, text) else None


_DAY = r"\d{4}-\d\d-\d\d"


def _date(text: str) -> date | None:
    return date.fromisoformat(text) if re.fullmatch(_DAY, text) else None


def _time(unit: int, zone: bool) -> Callable[[str], int | None]:
    """Return what makes seconds or nanoseconds since 1970 of a text."""

    def made(text: str) -> int | None:
        found = re.fullmatch(rf"({_DAY})(?:[ T](\d\d:\d\d:\d\d)(\.\d{{1,9}})?(Z|[+-]\d\d:\d\d)?)?", text)
        if not found or bool(found[4]) is not zone or (found[3] and unit == 1):
            return None
        moment = datetime.fromisoformat(f"{found[1]} {found[2] or '00:00:00'}").replace(tzinfo=timezone.utc)
        seconds = (moment - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(seconds=1)
        if zone and found[4] != "Z":
            seconds -= int(found[4][0] + "1") * (int(found[4][1:3]) * 3600 + int(found[4][4:]) * 60)
        return seconds * unit + int((found[3] or ".")[1:].ljust(9, "0")) * unit // 10**9

    return made


#: The types, in the order in which they are tried, and what makes a value of a text; None where it is of another type.
TYPES: dict[str, Callable[[str], Any]] = {
    "int64": _between(-(2**63), 2**63),
    "uint64": _between(0, 2**64),
    "string": lambda text: text if re.fullmatch("[ \t]*-?[0-9]+[ \t]*", text) else None,
    "bool": BOOLS.get,
    "date32[day]": _date,
    "timestamp[s]": _time(1, False),
    "timestamp[s, tz=UTC]": _time(1, True),
    "timestamp[ns]": _time(10**9, False),
    "timestamp[ns, tz=UTC]": _time(10**9, True),
    "double": _float,
}


def column_of(fields: list[Field]) -> tuple[str, list[Any]]:
    """Return the type of a column, "null" where all values are missing, and its values."""
    there = [text for text, quoted in fields if quoted or text not in NULLS]
    if not there:
        return "null", [None] * len(fields)
    texts = [text for text in there if text not in NULLS]
    for kind, value_of in TYPES.items() if texts else ():
        if all(value_of(text) is not None for text in texts) and kind != "string":
            return kind, [None if text in NULLS else value_of(text) for text, _ in fields]
        if kind == "string" and all(value_of(text) is not None for text in texts):
            break
    return "string", [None if text in NULLS and not quoted else text for text, quoted in fields]


def table_of(drawn: Drawn) -> dict[str, tuple[str, list[Any]]]:
    """Return the columns of a file by their names: their types and values."""
    header, *rows = rows_of(drawn.text, drawn.delimiter)
    return {name: column_of([row[place] for row in rows]) for place, (name, _) in enumerate(header)}


def read_by(table: Any) -> dict[str, tuple[str, list[Any]]]:
    """Return the columns of a table of pyarrow as those of ``table_of`` are."""
    found = {}
    for name in table.column_names:
        column = table[name]
        times = str(column.type).startswith("timestamp")
        values = (column.cast("int64") if times else column).to_pylist()
        found[name] = ("null" if column.null_count == len(column) else str(column.type), values)
    return found


# ---- The writers ----

WORDS = (
    "plum",
    "élan",
    "fig tree",
    "",
    'say "hi"',
    "a,b;c\td",
    "two\nlines",
    "x\r\ny",
    '"',
    '""',
    "NA",
    "None",
    " ",
    "\ufeffmark",
)


def _words(rng: random.Random) -> str:
    return rng.choice(WORDS)


def _stamp(rng: random.Random) -> str:
    return f"20{rng.randrange(10, 99)}-0{rng.randrange(1, 9)}-1{rng.randrange(9)}"


KINDS: dict[str, Callable[[random.Random], str]] = {
    "words": _words,
    "integers": lambda rng: str(rng.choice([0, 7, -3, 2**31, rng.randrange(10**6), -(2**63), 2**63 - 1])),
    "small": lambda rng: str(rng.randrange(10)),
    "unsigned": lambda rng: str(rng.choice([0, 5, 2**63, 2**64 - 1])),
    "long": lambda rng: str(rng.choice([2**64, -(2**63) - 1, 10**21, 12])),
    "hex": lambda rng: rng.choice(["0x10", "0XfF", "0xdeadbeef", "12"]),
    "wide hex": lambda rng: rng.choice(["0xdeadbeefcafebabe", "0x8000000000000000", "0x1"]),
    "floats": lambda rng: rng.choice([repr(rng.random()), "1.", ".5", "-2e10", "3E+2", "inf", "nan", "+4"]),
    "bools": lambda rng: rng.choice(list(BOOLS)),
    "dates": _stamp,
    "seconds": lambda rng: _stamp(rng) + rng.choice([" 10:00:00", "T23:59:59"]),
    "fractions": lambda rng: _stamp(rng) + rng.choice([" 10:00:00.5", "T01:02:03.123456789"]),
    "UTC": lambda rng: _stamp(rng) + rng.choice(["T10:00:00Z", " 23:59:59+01:00", "T00:00:00-05:30"]),
    "UTC fractions": lambda rng: _stamp(rng) + rng.choice(["T10:00:00.25Z", " 23:59:59.000001+01:00"]),
    "clock": lambda rng: rng.choice(["12:30:00", "00:00:01"]),
    "empty": lambda rng: "",
}

#: What may follow in a column, so that its type is another one than its first rows have.
PAIRS = (
    ("dates", "UTC"),
    ("dates", "seconds"),
    ("seconds", "fractions"),
    ("UTC", "UTC fractions"),
    ("seconds", "UTC"),
    ("fractions", "UTC"),
    ("floats", "hex"),
    ("small", "floats"),
    ("small", "unsigned"),
    ("integers", "unsigned"),
    ("unsigned", "hex"),
    ("integers", "wide hex"),
    ("unsigned", "floats"),
    ("long", "floats"),
    ("integers", "dates"),
    ("bools", "small"),
    ("empty", "integers"),
    ("empty", "clock"),
    ("small", "words"),
)


def _column(rng: random.Random, rows: int) -> list[str]:
    """Return the texts of a column."""
    kinds: Any = (rng.choice(list(KINDS)),) if rng.random() < 0.5 else rng.choice(PAIRS)[:: rng.choice([1, -1])]
    start = rng.choice([0, rng.randrange(rows + 1), rows - 1])
    missing = rng.choice([0, 0, 0.1, 0.9])
    found = []
    for row in range(rows):
        kind = kinds[0] if row < start or rng.random() < 0.1 else kinds[-1]
        found.append(rng.choice(["", "", "NA"]) if rng.random() < missing else KINDS[kind](rng))
    return found


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _by_python(rng: random.Random, names: list[str], rows: list[list[str]]) -> Drawn:
    out, delimiter = io.StringIO(), rng.choice(",;\t| ")
    writer = csv.writer(
        out,
        delimiter=delimiter,
        lineterminator=rng.choice(["\r\n", "\n", "\r"]),
        quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    )
    writer.writerows([names, *rows])
    return Drawn(out.getvalue(), delimiter, "utf-8")


def _by_pandas(rng: random.Random, names: list[str], rows: list[list[str]]) -> Drawn:
    import pandas as pd

    frame = pd.DataFrame(rows, columns=names).replace({"": None})
    for name in names:
        if rng.random() < 0.5:
            try:
                frame[name] = pd.to_numeric(frame[name])
            except (ValueError, TypeError):
                continue
    text = frame.to_csv(
        index=rng.random() < 0.3,
        sep=",",
        na_rep=rng.choice(["", "NA", "null"]),
        quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
        lineterminator=rng.choice(["\n", "\r\n"]),
    )
    return Drawn(text, ",", "utf-8")


def _by_polars(rng: random.Random, names: list[str], rows: list[list[str]]) -> Drawn:
    try:
        import polars as pl
    except ImportError:  # where it is not, Python's own writer has one more turn
        return _by_python(rng, names, rows)
    columns = {name: [row[place] or None for row in rows] for place, name in enumerate(names)}
    style: Any = rng.choice(["necessary", "always", "non_numeric"])
    text = pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String)).write_csv(
        include_bom=rng.random() < 0.3, quote_style=style, line_terminator=rng.choice(["\n", "\r\n"])
    )
    return Drawn(text[text[:1] == "\ufeff" :], ",", "utf-8-sig" if text[:1] == "\ufeff" else "utf-8")


def _by_r(rng: random.Random, names: list[str], rows: list[list[str]]) -> Drawn:
    """As R's write.csv and write.csv2 do: names and texts in quotes, NA, and a first column of row names."""
    delimiter, numbered = rng.choice(",;"), rng.random() < 0.5
    plain = [all(re.fullmatch("-?[0-9.]*|NA", row[place]) for row in rows) for place in range(len(names))]
    lines = [delimiter.join(_quoted(name) for name in ([""] if numbered else []) + names)]
    for number, row in enumerate(rows):
        values = [_quoted(str(number + 1))] if numbered else []
        for text, bare in zip(row, plain):
            values.append("NA" if text in ("", "NA") else text if bare else _quoted(text))
        lines.append(delimiter.join(values))
    return Drawn("\n".join(lines) + "\n", delimiter, "utf-8")


def _by_spreadsheet(rng: random.Random, names: list[str], rows: list[list[str]]) -> Drawn:
    """As spreadsheets export: with a mark at the beginning, and empty cells at the end of each row."""
    delimiter = rng.choice(",;\t")
    lines = []
    for row in [names, *rows]:
        cells = [_quoted(text) if re.search(f'["\r\n{delimiter}]', text) else text for text in row]
        lines.append(delimiter.join(cells) + delimiter)
    return Drawn("\r\n".join(lines) + "\r\n", delimiter, rng.choice(["utf-8-sig", "utf-8"]))


def _by_hand(rng: random.Random, names: list[str], rows: list[list[str]]) -> Drawn:
    """As programs write that know little of quotes: with stray ones, empty lines, and no end of the last line."""
    text = rng.choice(["", "\n", "\r\n\r\n"])
    for number, row in enumerate([names, *rows]):
        cells = []
        for value in row:
            plain = re.sub("[,\r\n]", " ", value)
            stray = ['5" disk', 'a""b', '"x"y', '"x"y"z', '"p""q"r', "x'y", f'{plain or "n"}"', _quoted(value)]
            cells.append(rng.choice(stray) if number and rng.random() < 0.3 else _quoted(value))
        text += ",".join(cells) + rng.choice(["\n", "\n", "\r\n", "\r", "\n\n", "\r\n\r"])
    return Drawn(text.rstrip("\r\n") if rng.random() < 0.5 else text, ",", "utf-8")


WRITERS = (_by_python, _by_pandas, _by_polars, _by_r, _by_spreadsheet, _by_hand)


def drawn(rng: random.Random, most: int) -> Drawn:
    """Return a file that one of the writers makes, of at most so many rows."""
    names = [
        rng.choice(["a", "price in €", 'size "5"', "n,m", "two\nlines"]) + str(i) for i in range(rng.randrange(1, 6))
    ]
    columns = [_column(rng, rng.choice([1, 3, most // 4, most])) for _ in names[:1]]
    columns += [_column(rng, len(columns[0])) for _ in names[1:]]
    rows = [list(row) for row in zip(*columns)]
    while True:
        found = rng.choice(WRITERS)(rng, names, rows)
        if len({len(row) for row in rows_of(found.text, found.delimiter)}) == 1:
            return found
