"""The points of a sweep: a template, and the values of its parameters."""

from __future__ import annotations

import array
import functools
import hashlib
import itertools
import json
import random
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: The value of one parameter.
Value = str | int | float | bool

SAMPLINGS = ("grid", "latin-hypercube", "random")


@dataclass(frozen=True)
class Values:
    """The whole numbers, or the numbers, from ``low`` to ``high``, both included.

    >>> Values(1, 4).at(0.99)
    4
    >>> Values(0.5, 1.5).at(0.5)
    1.0
    """

    low: int | float
    high: int | float

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"no value is between {self.low} and {self.high}: the lower one comes first")

    def at(self, part: float) -> int | float:
        """The value at this part of the way, 0 to 1."""
        if isinstance(self.low, int) and isinstance(self.high, int):
            count = self.high - self.low + 1
            return self.low + min(int(part * count), count - 1)
        return self.low + part * (self.high - self.low)

    def all(self) -> Sequence[Value]:
        """Every whole number of them."""
        if isinstance(self.low, int) and isinstance(self.high, int):
            return range(self.low, self.high + 1)
        raise ValueError(f"a grid needs whole numbers or a list, not all numbers from {self.low} to {self.high}")


@dataclass(frozen=True)
class Space:
    """Experiments that differ by parameters.

    ``template`` is an experiment file in which ``${name}`` stands for a parameter; ``$$`` is a dollar
    sign. ``parameters`` gives each name a list, or :class:`Values`. ``sampling`` is

    - ``grid``: every combination, the last parameter first;
    - ``latin-hypercube``: ``points`` points, each parameter in as many equal parts, each part once;
    - ``random``: ``points`` independent points.

    The same space has the same points on every machine.

    >>> space = Space("seed = ${seed}", {"seed": Values(1, 3)})
    >>> len(space), space.text(2)
    (3, 'seed = 3')
    """

    template: str
    parameters: Mapping[str, Sequence[Value] | Values]
    sampling: str = "grid"
    points: int = 0
    seed: int = 1

    def __post_init__(self) -> None:
        if self.sampling not in SAMPLINGS:
            raise ValueError(f"no sampling {self.sampling!r}; there are {', '.join(SAMPLINGS)}")
        if self.sampling != "grid" and self.points < 1:
            raise ValueError(f"sampling {self.sampling!r} needs `points`, at least 1")
        if self.sampling == "grid" and self.points:
            raise ValueError("a grid has as many points as its values have combinations: leave `points` out")
        template = string.Template(self.template)
        if not template.is_valid():
            raise ValueError("a `$` in the template stands before no name: write `$$` for a dollar sign")
        named, known = set(template.get_identifiers()), set(self.parameters)
        if named - known:
            raise ValueError(f"the template has parameters without values: {', '.join(sorted(named - known))}")
        if known - named:
            raise ValueError(f"parameters that the template does not have: {', '.join(sorted(known - named))}")
        for name, values in self.parameters.items():
            if name in RESERVED:
                raise ValueError(f"`{name}` is a column of the result: give the parameter another name")
            if not isinstance(values, Values) and not len(values):
                raise ValueError(f"parameter `{name}` has no value")
            if self.sampling == "grid" and isinstance(values, Values):
                values.all()

    def __len__(self) -> int:
        if self.sampling != "grid":
            return self.points
        count = 1
        for values in self.parameters.values():
            count *= len(_listed(values))
        return count

    def point(self, index: int) -> dict[str, Value]:
        """The values of one point."""
        return self.points_between(index, index + 1)[0]

    def points_between(self, first: int, end: int) -> list[dict[str, Value]]:
        """The values of the points from ``first`` to before ``end``."""
        if not 0 <= first <= end <= len(self):
            raise IndexError(f"points {first} to {end} of {len(self)}")
        names = list(self.parameters)
        if self.sampling == "grid":
            lists = [_listed(values) for values in self.parameters.values()]
            return [dict(zip(names, _combination(lists, index))) for index in range(first, end)]
        if self.sampling == "random":
            return [self._drawn(names, _generator(self.seed, index)) for index in range(first, end)]
        columns = []
        for place, values in enumerate(self.parameters.values()):
            parts = _latin(self.points, self.seed, place)
            columns.append([_at(values, parts[n]) for n in range(first, end)])
        return [dict(zip(names, row)) for row in zip(*columns)]

    def _drawn(self, names: list[str], generator: random.Random) -> dict[str, Value]:
        return {name: _at(self.parameters[name], generator.random()) for name in names}

    def text(self, index: int) -> str:
        """The experiment file of one point."""
        return self.filled(self.point(index))

    def filled(self, point: Mapping[str, Value]) -> str:
        """The template with these values. Booleans are TOML's."""
        shown = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in point.items()}
        return string.Template(self.template).substitute(shown)

    def identity(self) -> str:
        """A digest of everything that decides the points."""
        parameters = [[name, _plain(values)] for name, values in self.parameters.items()]
        content: list[Any] = [self.template, parameters, self.sampling, self.points, self.seed]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


#: Columns of a result that are no parameters.
RESERVED = frozenset(
    ["point", "run", "limit_bps", "bps", "of_limit", "held_by", "not_predicted", "p5_bps", "median_bps", "p95_bps"]
    + ["delivered_bps", "cause"]
)


def _listed(values: Sequence[Value] | Values) -> Sequence[Value]:
    return values.all() if isinstance(values, Values) else values


def _combination(lists: list[Sequence[Value]], index: int) -> list[Value]:
    chosen = []
    for values in reversed(lists):
        index, place = divmod(index, len(values))
        chosen.append(values[place])
    return chosen[::-1]


def _at(values: Sequence[Value] | Values, part: float) -> Value:
    if isinstance(values, Values):
        return values.at(part)
    return values[min(int(part * len(values)), len(values) - 1)]


@functools.lru_cache(maxsize=64)
def _latin(points: int, seed: int, place: int) -> array.array[float]:
    """One place in each of as many equal parts as points, in random order."""
    order = list(range(points))
    generator = _generator(seed, -1 - place)
    generator.shuffle(order)
    return array.array("d", ((part + generator.random()) / points for part in order))


def _generator(seed: int, stream: int) -> random.Random:
    digest = hashlib.sha256(f"{seed}/{stream}".encode()).digest()
    return random.Random(int.from_bytes(digest[:8], "big"))


def _plain(values: Sequence[Value] | Values) -> list[Any]:
    if isinstance(values, Values):
        return ["from", values.low, "to", values.high]
    return list(itertools.chain(["list"], values))
