#!/bin/sh
# Guess: if a function raised, result() of its future raises the same, whatever the exception is: exception() has it.
#
# Seen: an exception that is false, such as one with __len__ that lists no rows, is taken for none: result() returns None, and so
# do map() and all executors whose futures are concurrent.futures', loky's among them. It tests `if self._exception:`.
# asyncio's future raises.
#
#   submit: exception() is Failures, result() None
#   map:    [None]
#   loky:   exception() is Failures, result() None
#   asyncio: raised Failures
#
# Versions: Python 3.8.18, 3.11.7, 3.12.1 and 3.13.0; loky 3.7.0, cloudpickle 3.1.2 with Python 3.11.7.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet loky==3.7.0 cloudpickle==3.1.2
cat >"$folder/program.py" <<'PROGRAM'
import asyncio
from concurrent.futures import ThreadPoolExecutor

import loky


class Failures(Exception):
    def __init__(self, rows=()):
        super().__init__(*rows)
        self.rows = list(rows)

    def __len__(self):
        return len(self.rows)


def fail(_=None):
    raise Failures()


def tell(name, future):
    print(f"{name}: exception() is {type(future.exception()).__name__}, result() {future.result()}")


with ThreadPoolExecutor(1) as executor:
    tell("submit", executor.submit(fail))
    print("map:", list(executor.map(fail, [0])))
with loky.ProcessPoolExecutor(1) as executor:
    tell("loky", executor.submit(fail))
future = asyncio.new_event_loop().create_future()
future.set_exception(Failures())
try:
    print("asyncio: result()", future.result())
except Failures as error:
    print("asyncio: raised", type(error).__name__)
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
submit: exception() is Failures, result() None
map: [None]
loky: exception() is Failures, result() None
asyncio: raised Failures
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
