"""Fourier transforms along any dimensions: along one that is not divided NumPy's, else after an exchange, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

from .._native.arguments import integer
from .._native.kinds import kind_of
from .._native.objects import refuse_closed
from .._native.threads import threads
from ..algorithms.along import as_many_dimensions
from ..algorithms.exchange import share
from ..algorithms.layouts import container_of, dimensions, redivided
from ..containers.base import DistributedContainer, check_container
from ..containers.interior import division_of, is_limited, is_where_divided
from ..containers.layout import BLOCK, Division, integers
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..policies import Partition
from ..runtime.scheduler import algorithm
from . import bands, lines, long_vectors

if TYPE_CHECKING:
    pass

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

_NORMS = (None, "backward", "ortho", "forward")


class _Step(NamedTuple):
    """A transform along one dimension: NumPy's name of it, and how many elements it takes and gives."""

    name: str
    axis: int
    n: int
    extent: int


@as_many_dimensions
@algorithm
def fft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """Return the discrete Fourier transform along a dimension. Collective.

    Parameters
    ----------
    a
        A container, divided in any way.
    n
        How many elements along the dimension are transformed: it is cut, or zeros are appended. None for all.
    axis
        The dimension.
    norm
        Where the result is divided by n: ``"backward"`` (None) in inverse transforms, ``"forward"`` in the others,
        ``"ortho"`` in both, by its root.

    Returns
    -------
    container
        Divided as a is; by blocks, where a has local sizes that do not fit any more. Of complex128, or of complex64
        where the elements are of float32 or complex64.

    Raises
    ------
    InvalidTypeError
        If a is no container. On every rank.
    BoundsError, InvalidArgumentError
        If there is no such dimension, n is less than 1, or norm is another. On every rank.
    MemoryError
        If a rank has no room for its part of what is in between. On every rank.

    Notes
    -----
    Along a dimension that is not divided, nothing moves. Else the elements move twice: to a division of another
    dimension, and back. A vector is transformed as a matrix, by columns and by rows (Bailey 1990, "FFTs in external or
    hierarchical memory"), one of a length with a large prime factor as a convolution (Bluestein 1970).

    With a limit of memory, what is on disk is transformed by bands of lines, each of a 32nd of the limit, of which
    NumPy has three: a tensor is read and written once for each dimension. A vector is read once and written twice on
    one rank, by ``fft`` and ``ifft`` of a length with two factors of at least 8; on several ranks it is written four to
    six times. ``rfft`` and ``ihfft`` of an even length are those of half as many complex elements, and write five to
    seven times as many bytes as the real ones have. The other real transforms are those of as many complex elements,
    and write up to 10 times as many bytes as the real ones have on one rank, and some 15 to 20 times on several. Other
    transforms of vectors need memory for all elements. The last bits of vectors depend on the limit.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     v = dtl.DistributedVector.from_numpy(ctx, np.array([1.0, 0.0, -1.0, 0.0]))
    ...     print(np.round(dtl.fft.fft(v)[...].gather_to().real + 0.0, 3))
    [0. 2. 0. 2.]
    """
    return _transformed_along(a, "fft", n, axis, norm)


@as_many_dimensions
@algorithm
def ifft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """Return the inverse of :func:`fft`. Collective.

    Parameters and errors are those of :func:`fft`.
    """
    return _transformed_along(a, "ifft", n, axis, norm)


@as_many_dimensions
@algorithm
def rfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """Return the transform of real elements: the half of it from which the other one follows. Collective.

    Parameters and errors are those of :func:`fft`. The result has
    ``n // 2 + 1`` elements along the dimension.
    """
    return _transformed_along(a, "rfft", n, axis, norm)


@as_many_dimensions
@algorithm
def irfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """Return the inverse of :func:`rfft`, of real elements. Collective.

    Parameters and errors are those of :func:`fft`. n is how many there are, which the half
    does not say: None for the even number.
    """
    return _transformed_along(a, "irfft", n, axis, norm)


@as_many_dimensions
@algorithm
def hfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """Return the real transform of what a half of it says that is Hermitian. Collective.

    Parameters and errors are those of :func:`fft`. n is as of :func:`irfft`.
    """
    return _transformed_along(a, "hfft", n, axis, norm)


@as_many_dimensions
@algorithm
def ihfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """Return the inverse of :func:`hfft`. Collective.

    Parameters and errors are those of :func:`fft`. The result is as of :func:`rfft`.
    """
    return _transformed_along(a, "ihfft", n, axis, norm)


@as_many_dimensions
@algorithm
def fftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Any:
    """Return the transform along several dimensions. Collective.

    Parameters
    ----------
    a, norm
        As of :func:`fft`.
    s
        How many elements are transformed along each of the axes, as n of :func:`fft`; None for all.
    axes
        The dimensions; None for all, or the last ``len(s)``.

    Returns
    -------
    container
        As of :func:`fft`.

    Raises
    ------
    InvalidTypeError, BoundsError, InvalidArgumentError, MemoryError
        As of :func:`fft`.
    """
    return _transformed_along_several(a, "fftn", s, axes, norm)


@as_many_dimensions
@algorithm
def ifftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Any:
    """Return the inverse of :func:`fftn`. Collective.

    Parameters, result and errors are those of :func:`fftn`.
    """
    return _transformed_along_several(a, "ifftn", s, axes, norm)


@as_many_dimensions
@algorithm
def rfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Any:
    """Return the transform along several dimensions of real elements. Collective.

    Parameters and errors are those of :func:`fftn`. The last of the axes is halved, as by :func:`rfft`.
    """
    return _transformed_along_several(a, "rfftn", s, axes, norm)


@as_many_dimensions
@algorithm
def irfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Any:
    """Return the inverse of :func:`rfftn`. Collective.

    Parameters and errors are those of :func:`fftn`. The last of the axes was halved: how many elements there are along
    it is as of :func:`irfft`.
    """
    return _transformed_along_several(a, "irfftn", s, axes, norm)


@as_many_dimensions
@algorithm
def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Any:
    """Return the transform along two dimensions. Collective.

    Parameters, result and errors are those of :func:`fftn`.
    """
    return _transformed_along_several(a, "fft2", s, axes, norm)


@as_many_dimensions
@algorithm
def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Any:
    """Return the inverse of :func:`fft2`. Collective.

    Parameters, result and errors are those of :func:`fftn`.
    """
    return _transformed_along_several(a, "ifft2", s, axes, norm)


@as_many_dimensions
@algorithm
def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Any:
    """Return the transform along two dimensions of real elements. Collective.

    Parameters, result and errors are those of :func:`rfftn`.
    """
    return _transformed_along_several(a, "rfft2", s, axes, norm)


@as_many_dimensions
@algorithm
def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Any:
    """Return the inverse of :func:`rfft2`. Collective.

    Parameters, result and errors are those of :func:`irfftn`.
    """
    return _transformed_along_several(a, "irfft2", s, axes, norm)


#: NumPy's transforms, each with the one of the last dimension, and of the others.
_SEVERAL = {"fft": ("fft", "fft"), "ifft": ("ifft", "ifft"), "rfft": ("rfft", "fft"), "irfft": ("irfft", "ifft")}


def _check_transform(a: Any, norm: Any, real: bool) -> None:
    check_container("a", a)
    refuse_closed(a)
    if norm not in _NORMS:
        raise InvalidArgumentError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    if real and kind_of(a.dtype).is_complex:
        raise InvalidTypeError(f"elements of {a.dtype} are not real")


def _step(name: str, axis: int, extent: int, n: Any) -> _Step:
    """Return the step of a transform."""
    halved = name in ("irfft", "hfft")
    number = (2 * (extent - 1) if halved else extent) if n is None else integer("n", n)
    if number < 1:
        raise InvalidArgumentError(f"Invalid number of FFT data points ({number}) specified.")
    return _Step(name, axis, number, number // 2 + 1 if name in ("rfft", "ihfft") else number)


def _transformed_along(a: Any, name: str, n: Any, axis: Any, norm: Any) -> Any:
    _check_transform(a, norm, name in ("rfft", "ihfft"))
    (d,) = dimensions(integer("axis", axis), a.ndim)
    step = _step(name, d, a.shape[d], n)
    share(a, name, f"n {step.n}, axis {d}, norm {norm}")
    return _transformed(a, [step], norm)


def _transformed_along_several(a: Any, name: str, s: Any, axes: Any, norm: Any) -> Any:
    _check_transform(a, norm, name.startswith("r"))
    if axes is None:
        chosen = list(range(a.ndim)) if s is None else list(range(a.ndim - len(integers("s", s)), a.ndim))
    else:
        chosen = list(integers("axes", axes))
    dimensions(chosen, a.ndim)
    chosen = [d % a.ndim for d in chosen]
    numbers: Sequence[Any] = [None] * len(chosen) if s is None else integers("s", s)
    if len(numbers) != len(chosen):
        raise InvalidArgumentError("Shape and axes have different lengths.")
    if not chosen:
        raise InvalidArgumentError("at least 1 axis must be transformed")
    last, others = _SEVERAL[name.rstrip("n2")]
    steps = [_step(others, d, a.shape[d], n) for d, n in zip(chosen[:-1], numbers[:-1])]
    end = _step(last, chosen[-1], a.shape[chosen[-1]], numbers[-1])
    share(a, name, f"{steps}, {end}, norm {norm}")
    return _transformed(a, [*steps, end] if last == "irfft" else [end, *steps], norm)


def _transformed(a: Any, steps: list[_Step], norm: Any) -> Any:
    """Return what some transforms in turn make of a container. Collective."""
    if a.ndim == 1:
        return long_vectors.transformed(
            a, steps[0].name, steps[0].n, norm, lines.result_dtype(steps[0].name, a.dtype), _kept(a, steps)
        )
    fixed = steps[:1] if steps[0].name == "rfft" else []
    end = steps[-1:] if steps[-1].name == "irfft" and len(steps) > 1 else []
    free = steps[len(fixed) : len(steps) - len(end)]
    final = _kept(a, steps)
    c = a
    for group in (fixed, free, end):
        left = sorted(group, key=lambda step: _is_divided(a, step.axis))
        while left:
            now = [step for step in left if not _is_divided(c, step.axis)]
            if not now:
                c = _replaced(c, a, redivided(c, _elsewhere(c, left)))
                continue
            c = _replaced(c, a, _local(c, now, norm))
            left = [step for step in left if step not in now]
    return c if _lies(c, final) else _replaced(c, a, redivided(c, final))


def _replaced(old: Any, given: Any, new: Any) -> Any:
    """Close the container that a step has replaced, unless it is the caller's."""
    if old is not given:
        old.close()
    return new


def _is_divided(c: DistributedContainer, axis: int) -> bool:
    """Say whether ranks have different indices of a dimension. A copy of a span is needed anyway."""
    if not is_where_divided(c):
        return True
    if c.partition_policy is Partition.REPLICATED:
        return False
    return axis == 0 if c.partition_policy is not Partition.BLOCK else c.grid[axis] > 1


def _kept(a: Any, steps: Sequence[_Step]) -> Division:
    """Return how the result is divided: as a is, if that can be."""
    divided: Division = division_of(a)
    if not is_where_divided(a):
        return BLOCK
    if divided.partition is Partition.EXPLICIT and any(s.axis == 0 and s.extent != a.shape[0] for s in steps):
        return BLOCK
    return divided


def _lies(c: Any, division: Division) -> bool:
    return bool(division_of(c) == division or (division == BLOCK and _blocks(c)))


def _blocks(c: Any) -> bool:
    return bool(c.partition_policy is Partition.BLOCK and c.grid[0] == c.context.size)


def _elsewhere(c: DistributedContainer, steps: Sequence[_Step]) -> Division:
    """Return a division of a dimension that is not to be transformed, or not first."""
    axes = [step.axis for step in steps]
    others = [d for d in range(c.ndim) if d != axes[0]]
    best = max(others, key=lambda d: (d not in axes, c.shape[d]))
    return Division(Partition.BLOCK, grid=tuple(c.context.size if d == best else 1 for d in range(c.ndim)))


def _local(c: DistributedContainer, steps: Sequence[_Step], norm: Any) -> DistributedContainer:
    """Return what NumPy makes of each rank's part. Collective."""
    shape, dtype = list(c.shape), c.dtype
    for step in steps:
        shape[step.axis] = step.extent
        dtype = lines.result_dtype(step.name, dtype)
    divided = division_of(c)
    if divided.partition is Partition.EXPLICIT and any(step.axis == 0 for step in steps):
        divided = BLOCK
    if len(steps) > 1 and is_limited(c):
        for number, step in enumerate(steps):
            before, c = c, _local(c, [step], norm)
            if number:
                before.close()
        return c
    x, number = c.local_view(), threads(c.execution_policy)
    for step in steps[:-1]:
        x = lines.transformed(step.name, x, step.n, step.axis, norm, number)
    last = steps[-1]
    made = container_of(c, tuple(shape), dtype, divided, blank=True)
    if is_limited(made) and x.size:
        bands.along(
            lambda band: lines.transformed(last.name, band, last.n, last.axis, norm), x, last.axis, made.local_view()
        )
    elif last.name in lines.WRITING and dtype == lines.result_dtype(last.name, x.dtype):
        lines.transformed(last.name, x, last.n, last.axis, norm, number, made.local_view())
    else:
        made.local_view()[...] = lines.transformed(last.name, x, last.n, last.axis, norm)
    return made
