"""The generator of random numbers: NumPy's distributions, whose numbers do not depend on the number of ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence, overload

import numpy as np

from .._native.arguments import integer
from .._native.values import fingerprint
from ..comm import collectives
from ..containers.base import DistributedContainer, linear_indices
from ..containers.indexing.regions import move_all
from ..containers.layout import BLOCK, Division, integers
from ..containers.sequences import DistributedVector
from ..containers.tensor import DistributedTensor
from ..exceptions import InvalidArgumentError
from ..policies import Partition
from ..runtime.agreement import agree, check_context, collective
from ..runtime.context import Context
from ..runtime.scheduler import blocking
from . import permutations, streams
from .arguments import by_numpy, division_of, parameter

if TYPE_CHECKING:
    from ..containers.types import OneExtent, Owned, SomeExtents

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript
Size = Any  # int | Sequence[int] | None

#: The distributions that NumPy writes to an array that it is given.
_WITH_OUT = ("random", "standard_normal", "standard_exponential", "standard_gamma")


class Generator:
    """A source of random numbers that are the same for every number of ranks, and however they are divided.

    The methods are those of :class:`numpy.random.Generator`. With ``size`` they return a container: a
    :class:`~dtl.DistributedVector` of so many numbers, or a :class:`~dtl.DistributedTensor` of that shape. Without,
    they return one number, the same on every rank, and communicate nothing. Every rank makes the same calls in the
    same order.

    Parameters
    ----------
    ctx
        The ranks. Collective.
    seed
        A non-negative integer or a sequence of them, or a :class:`numpy.random.SeedSequence`; the same on every rank.
        None takes one from the operating system of rank 0.

    Raises
    ------
    InvalidTypeError
        If ctx is no context, or seed nothing to seed with. On every rank.
    InvalidArgumentError
        If seed is negative. On every rank.
    CollectiveMismatchError
        If ranks pass different seeds.

    Notes
    -----
    Every method that takes ``size`` takes these keywords, too: ``partition``, ``block_size`` and ``grid``, as of
    :class:`~dtl.DistributedTensor`. It is collective where it returns a container, and raises on every rank
    InvalidArgumentError and InvalidTypeError where NumPy raises ValueError and TypeError, and CollectiveMismatchError
    if ranks pass different arguments. Parameters of distributions are numbers, or NumPy arrays that are the same on
    every rank and spread over size; for parameters in containers, scale and shift what a standard distribution
    returned.

    Each call is a stream of its own, which is cut into blocks of 65,536 numbers. A rank draws the blocks that its part
    touches with NumPy's own generator, each from its first number on; SFC64 starts in each of them where Philox says,
    which the seed, the call and the block choose. The numbers are not those of ``np.random.default_rng(seed)``. They
    stay the same as long as NumPy's distributions do.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     rng = dtl.random.Generator(ctx, 7)
    ...     sample = rng.normal(10.0, 2.0, size=100_000)
    ...     print(sample.shape, round(float(sample.mean()), 1), round(float(sample.std()), 1))
    (100000,) 10.0 2.0
    """

    __module__ = "dtl.random"

    @collective
    def __init__(self, ctx: Context, seed: Any = None) -> None:
        check_context(ctx)
        self._context = ctx
        if seed is None:
            own = np.random.SeedSequence().generate_state(4, np.uint32)
            seed = collectives.broadcast(ctx, own, 0).tolist()
        self._seed = seed if isinstance(seed, np.random.SeedSequence) else by_numpy(np.random.SeedSequence, seed)
        agree(ctx, "Generator", f"seed {self._seed.entropy}, spawn_key {self._seed.spawn_key}")
        self._begin()

    def _begin(self) -> None:
        self._streams = streams.Streams(self._seed)
        self._calls = 0

    @property
    def context(self) -> Context:
        """The ranks."""
        return self._context

    def __repr__(self) -> str:
        return f"Generator(seed {self._seed.entropy}, spawn_key {self._seed.spawn_key}, {self._calls} calls)"

    @blocking
    def spawn(self, n_children: int) -> list[Generator]:
        """Return new generators, which are independent of this one and of each other. Collective.

        Parameters
        ----------
        n_children
            How many; the same on every rank.

        Raises
        ------
        InvalidTypeError, InvalidArgumentError
            If n_children is no integer, or negative. On every rank.
        CollectiveMismatchError
            If ranks ask for different numbers of them.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     one, other = dtl.random.Generator(ctx, 1).spawn(2)
        ...     one.random() == other.random()
        False
        """
        number = integer("n_children", n_children)
        if number < 0:
            raise InvalidArgumentError(f"n_children {number} is negative")
        agree(self._context, "spawn", f"{number} of {self!r}")
        return [self._child(seed) for seed in self._seed.spawn(number)]

    def _child(self, seed: np.random.SeedSequence) -> Generator:
        made = Generator.__new__(Generator)
        made._context, made._seed = self._context, seed
        made._begin()
        return made

    def _next(self) -> int:
        """Return the number of a call, which is that of its stream."""
        self._calls += 1
        return self._calls

    @blocking
    def bytes(self, length: int) -> bytes:
        """Return random bytes, the same on every rank. Communicates nothing."""
        return bytes(by_numpy(self._streams.at(self._next()).bytes, length))

    @overload
    def random(self, size: None = ..., dtype: Any = ..., **divided: Any) -> Any: ...
    @overload
    def random(self, size: OneExtent = ..., dtype: Any = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def random(self, size: SomeExtents = ..., dtype: Any = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def random(self, size: Any = ..., dtype: Any = ..., **divided: Any) -> Any: ...
    @blocking
    def random(self, size: Size = None, dtype: Any = np.float64, **divided: Any) -> Any:
        """Draw floats in [0, 1). See :meth:`numpy.random.Generator.random`."""
        return self._draw("random", (), size, divided, {"dtype": dtype})

    @overload
    def standard_normal(self, size: None = ..., dtype: Any = ..., **divided: Any) -> Any: ...
    @overload
    def standard_normal(self, size: OneExtent = ..., dtype: Any = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def standard_normal(self, size: SomeExtents = ..., dtype: Any = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def standard_normal(self, size: Any = ..., dtype: Any = ..., **divided: Any) -> Any: ...
    @blocking
    def standard_normal(self, size: Size = None, dtype: Any = np.float64, **divided: Any) -> Any:
        """Draw floats of the normal distribution of mean 0 and deviation 1.

        See :meth:`numpy.random.Generator.standard_normal`.
        """
        return self._draw("standard_normal", (), size, divided, {"dtype": dtype})

    @overload
    def standard_exponential(self, size: None = ..., dtype: Any = ..., method: str = ..., **divided: Any) -> Any: ...
    @overload
    def standard_exponential(
        self, size: OneExtent = ..., dtype: Any = ..., method: str = ..., **divided: Any
    ) -> DistributedVector: ...
    @overload
    def standard_exponential(
        self, size: SomeExtents = ..., dtype: Any = ..., method: str = ..., **divided: Any
    ) -> DistributedTensor: ...
    @overload
    def standard_exponential(self, size: Any = ..., dtype: Any = ..., method: str = ..., **divided: Any) -> Any: ...
    @blocking
    def standard_exponential(
        self, size: Size = None, dtype: Any = np.float64, method: str = "zig", **divided: Any
    ) -> Any:
        """Draw floats of the exponential distribution of scale 1.

        See :meth:`numpy.random.Generator.standard_exponential`.
        """
        return self._draw("standard_exponential", (), size, divided, {"dtype": dtype, "method": method})

    @blocking
    def standard_gamma(self, shape: Any, size: Size = None, dtype: Any = np.float64, **divided: Any) -> Any:
        """Draw floats of the gamma distribution of scale 1. See :meth:`numpy.random.Generator.standard_gamma`."""
        return self._draw("standard_gamma", (shape,), size, divided, {"dtype": dtype})

    @overload
    def integers(
        self, low: Any, high: Any = ..., size: None = ..., dtype: Any = ..., endpoint: bool = ..., **divided: Any
    ) -> Any: ...
    @overload
    def integers(
        self, low: Any, high: Any = ..., size: OneExtent = ..., dtype: Any = ..., endpoint: bool = ..., **divided: Any
    ) -> DistributedVector: ...
    @overload
    def integers(
        self, low: Any, high: Any = ..., size: SomeExtents = ..., dtype: Any = ..., endpoint: bool = ..., **divided: Any
    ) -> DistributedTensor: ...
    @overload
    def integers(
        self, low: Any, high: Any = ..., size: Any = ..., dtype: Any = ..., endpoint: bool = ..., **divided: Any
    ) -> Any: ...
    @blocking
    def integers(
        self,
        low: Any,
        high: Any = None,
        size: Size = None,
        dtype: Any = np.int64,
        endpoint: bool = False,
        **divided: Any,
    ) -> Any:
        """Draw integers in [low, high), or in [0, low) without high; high itself, too, with endpoint.

        See :meth:`numpy.random.Generator.integers`.
        """
        return self._draw(
            "integers", (low,) if high is None else (low, high), size, divided, {"dtype": dtype, "endpoint": endpoint}
        )

    @overload
    def uniform(self, low: Any = ..., high: Any = ..., size: None = ..., **divided: Any) -> Any: ...
    @overload
    def uniform(self, low: Any = ..., high: Any = ..., size: OneExtent = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def uniform(
        self, low: Any = ..., high: Any = ..., size: SomeExtents = ..., **divided: Any
    ) -> DistributedTensor: ...
    @overload
    def uniform(self, low: Any = ..., high: Any = ..., size: Any = ..., **divided: Any) -> Any: ...
    @blocking
    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw floats in [low, high). See :meth:`numpy.random.Generator.uniform`."""
        return self._draw("uniform", (low, high), size, divided)

    @overload
    def normal(self, loc: Any = ..., scale: Any = ..., size: None = ..., **divided: Any) -> Any: ...
    @overload
    def normal(self, loc: Any = ..., scale: Any = ..., size: OneExtent = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def normal(
        self, loc: Any = ..., scale: Any = ..., size: SomeExtents = ..., **divided: Any
    ) -> DistributedTensor: ...
    @overload
    def normal(self, loc: Any = ..., scale: Any = ..., size: Any = ..., **divided: Any) -> Any: ...
    @blocking
    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the normal distribution of mean loc and deviation scale.

        See :meth:`numpy.random.Generator.normal`.
        """
        return self._draw("normal", (loc, scale), size, divided)

    @overload
    def exponential(self, scale: Any = ..., size: None = ..., **divided: Any) -> Any: ...
    @overload
    def exponential(self, scale: Any = ..., size: OneExtent = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def exponential(self, scale: Any = ..., size: SomeExtents = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def exponential(self, scale: Any = ..., size: Any = ..., **divided: Any) -> Any: ...
    @blocking
    def exponential(self, scale: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the exponential distribution. See :meth:`numpy.random.Generator.exponential`."""
        return self._draw("exponential", (scale,), size, divided)

    @overload
    def gamma(self, shape: Any, scale: Any = ..., size: None = ..., **divided: Any) -> Any: ...
    @overload
    def gamma(self, shape: Any, scale: Any = ..., size: OneExtent = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def gamma(self, shape: Any, scale: Any = ..., size: SomeExtents = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def gamma(self, shape: Any, scale: Any = ..., size: Any = ..., **divided: Any) -> Any: ...
    @blocking
    def gamma(self, shape: Any, scale: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the gamma distribution. See :meth:`numpy.random.Generator.gamma`."""
        return self._draw("gamma", (shape, scale), size, divided)

    @overload
    def beta(self, a: Any, b: Any, size: None = ..., **divided: Any) -> Any: ...
    @overload
    def beta(self, a: Any, b: Any, size: OneExtent = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def beta(self, a: Any, b: Any, size: SomeExtents = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def beta(self, a: Any, b: Any, size: Any = ..., **divided: Any) -> Any: ...
    @blocking
    def beta(self, a: Any, b: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the beta distribution. See :meth:`numpy.random.Generator.beta`."""
        return self._draw("beta", (a, b), size, divided)

    @overload
    def binomial(self, n: Any, p: Any, size: None = ..., **divided: Any) -> Any: ...
    @overload
    def binomial(self, n: Any, p: Any, size: OneExtent = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def binomial(self, n: Any, p: Any, size: SomeExtents = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def binomial(self, n: Any, p: Any, size: Any = ..., **divided: Any) -> Any: ...
    @blocking
    def binomial(self, n: Any, p: Any, size: Size = None, **divided: Any) -> Any:
        """Draw how many of n trials succeed, each with probability p. See :meth:`numpy.random.Generator.binomial`."""
        return self._draw("binomial", (n, p), size, divided)

    @blocking
    def chisquare(self, df: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the chi-square distribution. See :meth:`numpy.random.Generator.chisquare`."""
        return self._draw("chisquare", (df,), size, divided)

    @blocking
    def f(self, dfnum: Any, dfden: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the F distribution. See :meth:`numpy.random.Generator.f`."""
        return self._draw("f", (dfnum, dfden), size, divided)

    @overload
    def geometric(self, p: Any, size: None = ..., **divided: Any) -> Any: ...
    @overload
    def geometric(self, p: Any, size: OneExtent = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def geometric(self, p: Any, size: SomeExtents = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def geometric(self, p: Any, size: Any = ..., **divided: Any) -> Any: ...
    @blocking
    def geometric(self, p: Any, size: Size = None, **divided: Any) -> Any:
        """Draw how many trials there are up to the first success. See :meth:`numpy.random.Generator.geometric`."""
        return self._draw("geometric", (p,), size, divided)

    @blocking
    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the Gumbel distribution. See :meth:`numpy.random.Generator.gumbel`."""
        return self._draw("gumbel", (loc, scale), size, divided)

    @blocking
    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Size = None, **divided: Any) -> Any:
        """Draw how many of a sample without replacement are good. See :meth:`numpy.random.Generator.hypergeometric`."""
        return self._draw("hypergeometric", (ngood, nbad, nsample), size, divided)

    @overload
    def laplace(self, loc: Any = ..., scale: Any = ..., size: None = ..., **divided: Any) -> Any: ...
    @overload
    def laplace(self, loc: Any = ..., scale: Any = ..., size: OneExtent = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def laplace(
        self, loc: Any = ..., scale: Any = ..., size: SomeExtents = ..., **divided: Any
    ) -> DistributedTensor: ...
    @overload
    def laplace(self, loc: Any = ..., scale: Any = ..., size: Any = ..., **divided: Any) -> Any: ...
    @blocking
    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the Laplace distribution. See :meth:`numpy.random.Generator.laplace`."""
        return self._draw("laplace", (loc, scale), size, divided)

    @blocking
    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the logistic distribution. See :meth:`numpy.random.Generator.logistic`."""
        return self._draw("logistic", (loc, scale), size, divided)

    @overload
    def lognormal(self, mean: Any = ..., sigma: Any = ..., size: None = ..., **divided: Any) -> Any: ...
    @overload
    def lognormal(
        self, mean: Any = ..., sigma: Any = ..., size: OneExtent = ..., **divided: Any
    ) -> DistributedVector: ...
    @overload
    def lognormal(
        self, mean: Any = ..., sigma: Any = ..., size: SomeExtents = ..., **divided: Any
    ) -> DistributedTensor: ...
    @overload
    def lognormal(self, mean: Any = ..., sigma: Any = ..., size: Any = ..., **divided: Any) -> Any: ...
    @blocking
    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw floats whose logarithm is of the normal distribution. See :meth:`numpy.random.Generator.lognormal`."""
        return self._draw("lognormal", (mean, sigma), size, divided)

    @blocking
    def logseries(self, p: Any, size: Size = None, **divided: Any) -> Any:
        """Draw integers of the logarithmic series distribution. See :meth:`numpy.random.Generator.logseries`."""
        return self._draw("logseries", (p,), size, divided)

    @blocking
    def negative_binomial(self, n: Any, p: Any, size: Size = None, **divided: Any) -> Any:
        """Draw how many trials fail before n succeed. See :meth:`numpy.random.Generator.negative_binomial`."""
        return self._draw("negative_binomial", (n, p), size, divided)

    @blocking
    def noncentral_chisquare(self, df: Any, nonc: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the noncentral chi-square distribution.

        See :meth:`numpy.random.Generator.noncentral_chisquare`.
        """
        return self._draw("noncentral_chisquare", (df, nonc), size, divided)

    @blocking
    def noncentral_f(self, dfnum: Any, dfden: Any, nonc: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the noncentral F distribution. See :meth:`numpy.random.Generator.noncentral_f`."""
        return self._draw("noncentral_f", (dfnum, dfden, nonc), size, divided)

    @blocking
    def pareto(self, a: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the Pareto II distribution. See :meth:`numpy.random.Generator.pareto`."""
        return self._draw("pareto", (a,), size, divided)

    @overload
    def poisson(self, lam: Any = ..., size: None = ..., **divided: Any) -> Any: ...
    @overload
    def poisson(self, lam: Any = ..., size: OneExtent = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def poisson(self, lam: Any = ..., size: SomeExtents = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def poisson(self, lam: Any = ..., size: Any = ..., **divided: Any) -> Any: ...
    @blocking
    def poisson(self, lam: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw integers of the Poisson distribution. See :meth:`numpy.random.Generator.poisson`."""
        return self._draw("poisson", (lam,), size, divided)

    @blocking
    def power(self, a: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats in [0, 1] of the power distribution with exponent a - 1.

        See :meth:`numpy.random.Generator.power`.
        """
        return self._draw("power", (a,), size, divided)

    @blocking
    def rayleigh(self, scale: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the Rayleigh distribution. See :meth:`numpy.random.Generator.rayleigh`."""
        return self._draw("rayleigh", (scale,), size, divided)

    @blocking
    def standard_cauchy(self, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the Cauchy distribution. See :meth:`numpy.random.Generator.standard_cauchy`."""
        return self._draw("standard_cauchy", (), size, divided)

    @blocking
    def standard_t(self, df: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of Student's t distribution. See :meth:`numpy.random.Generator.standard_t`."""
        return self._draw("standard_t", (df,), size, divided)

    @blocking
    def triangular(self, left: Any, mode: Any, right: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the triangular distribution. See :meth:`numpy.random.Generator.triangular`."""
        return self._draw("triangular", (left, mode, right), size, divided)

    @blocking
    def vonmises(self, mu: Any, kappa: Any, size: Size = None, **divided: Any) -> Any:
        """Draw angles in [-pi, pi] of the von Mises distribution. See :meth:`numpy.random.Generator.vonmises`."""
        return self._draw("vonmises", (mu, kappa), size, divided)

    @blocking
    def wald(self, mean: Any, scale: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the Wald distribution. See :meth:`numpy.random.Generator.wald`."""
        return self._draw("wald", (mean, scale), size, divided)

    @blocking
    def weibull(self, a: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the Weibull distribution of scale 1. See :meth:`numpy.random.Generator.weibull`."""
        return self._draw("weibull", (a,), size, divided)

    @blocking
    def zipf(self, a: Any, size: Size = None, **divided: Any) -> Any:
        """Draw integers of the Zipf distribution. See :meth:`numpy.random.Generator.zipf`."""
        return self._draw("zipf", (a,), size, divided)

    @blocking
    def multinomial(self, n: Any, pvals: Any, size: Size = None, **divided: Any) -> Any:
        """Draw how often each of several outcomes comes in n trials: rows of ``len(pvals)`` integers.

        See :meth:`numpy.random.Generator.multinomial`; n and pvals are one experiment's.
        """
        return self._draw_rows("multinomial", (n, pvals), size, divided)

    @blocking
    def multivariate_hypergeometric(
        self, colors: Any, nsample: Any, size: Size = None, method: str = "marginals", **divided: Any
    ) -> Any:
        """Draw how many of each color are in a sample without replacement: rows of ``len(colors)`` integers.

        See :meth:`numpy.random.Generator.multivariate_hypergeometric`.
        """
        return self._draw_rows("multivariate_hypergeometric", (colors, nsample), size, divided, {"method": method})

    @blocking
    def dirichlet(self, alpha: Any, size: Size = None, **divided: Any) -> Any:
        """Draw shares that add up to 1: rows of ``len(alpha)`` floats. See :meth:`numpy.random.Generator.dirichlet`."""
        return self._draw_rows("dirichlet", (alpha,), size, divided)

    @blocking
    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: Size = None,
        check_valid: str = "warn",
        tol: float = 1e-8,
        *,
        method: str = "svd",
        **divided: Any,
    ) -> Any:
        """Draw rows of the normal distribution of several dimensions, with a mean and a covariance matrix.

        See :meth:`numpy.random.Generator.multivariate_normal`.
        """
        options = {"check_valid": check_valid, "tol": tol, "method": method}
        return self._draw_rows("multivariate_normal", (mean, cov), size, divided, options)

    @blocking
    def choice(
        self,
        a: Any,
        size: Size = None,
        replace: bool = True,
        p: Any = None,
        axis: int = 0,
        shuffle: bool = True,
        **divided: Any,
    ) -> Any:
        """Draw elements, each as likely as the others or with given probabilities. Collective.

        Parameters
        ----------
        a
            What to draw from: an integer n for the numbers [0, n), a container, whose elements or rows they are, or a
            NumPy array that is the same on every rank.
        size
            How many, or the shape of the result; None for one.
        replace
            Whether an element can be drawn more than once.
        p
            The probability of each, as a NumPy array that is the same on every rank; None for all alike.
        axis
            The dimension of a to draw along.
        shuffle
            Accepted as NumPy does; elements drawn without replacement always come in a random order.

        Returns
        -------
        container, scalar or ndarray
            The elements; without size, one of them, the same on every rank.

        Raises
        ------
        InvalidArgumentError
            If there is nothing to draw from, fewer elements than are drawn without replacement, or p does not fit.

        Notes
        -----
        Many without replacement are the first of all, sorted by a random number each, which with p is divided by the
        probability (Efraimidis and Spirakis 2006). Where a container has several dimensions, drawing is by rows, which
        move in two exchanges.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     drawn = dtl.random.Generator(ctx, 3).choice(1000, size=1000, replace=False)
        ...     int(drawn.sum()) == sum(range(1000))
        True
        """
        return permutations.choice(self, a, size, replace, p, axis, divided)

    @overload
    def permutation(self, x: int, axis: int = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def permutation(self, x: Owned, axis: int = ..., **divided: Any) -> Owned: ...
    @overload
    def permutation(self, x: Any, axis: int = ..., **divided: Any) -> Any: ...
    @blocking
    def permutation(self, x: Any, axis: int = 0, **divided: Any) -> Any:
        """Return the numbers [0, x) in a random order, or a copy of a container with its rows in one. Collective.

        Each order is as likely as the others, but for numbers of 64 bits that are equal by chance.

        Parameters
        ----------
        x
            An integer, or a container.
        axis
            The dimension of a container along which the order changes.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     order = dtl.random.Generator(ctx, 3).permutation(5)
        ...     print(sorted(order[...].gather_to().tolist()))
        [0, 1, 2, 3, 4]
        """
        return permutations.permutation(self, x, axis, divided)

    @blocking
    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Put the elements of a vector, or the rows of a tensor, in a random order, in place. Collective.

        Parameters
        ----------
        x
            A container.
        axis
            The dimension along which the order changes.

        Raises
        ------
        InvalidTypeError
            If x is no container. On every rank.
        BoundsError
            If there is no such dimension. On every rank.
        MemoryError
            If a rank has no room for another copy of its part. On every rank.
        """
        permutations.shuffle(self, x, axis)

    def _draw(
        self,
        name: str,
        args: tuple[Any, ...],
        size: Size,
        divided: dict[str, Any],
        options: dict[str, Any] | None = None,
    ) -> Any:
        """Return numbers of one of NumPy's distributions: a container, or a scalar without size."""
        options = options or {}
        wanted = division_of(divided)
        args = tuple(parameter(value) for value in args)
        arrays = any(isinstance(value, np.ndarray) for value in args)
        shape = None if size is None else integers("size", size)
        call = self._next()
        f = getattr(self._streams.at(call), name)
        sample = by_numpy(f, *args, size=None if arrays or not shape else 1, **options)
        if shape is None and arrays:
            shape = np.shape(sample)
        if not shape:
            return sample
        if arrays and _spread(np.shape(sample), shape) != shape:
            raise InvalidArgumentError(
                f"Output size {shape} is not compatible with broadcast dimensions of inputs {np.shape(sample)}."
            )
        self._agree(name, call, shape, (*args, *options.values()))

        def draw(generator: np.random.Generator, first: int, number: int) -> Array:
            if arrays:
                own = [np.broadcast_to(value, shape).flat[first : first + number] for value in args]
                return np.asarray(getattr(generator, name)(*own, **options))
            return np.asarray(getattr(generator, name)(*args, size=number, **options))

        def draw_into(generator: np.random.Generator, out: Array) -> None:
            getattr(generator, name)(*args, out=out, **options)

        into = draw_into if name in _WITH_OUT and not arrays else None
        return self.made(call, shape, np.asarray(sample).dtype, wanted, draw, draw_into=into)

    def _draw_rows(
        self,
        name: str,
        args: tuple[Any, ...],
        size: Size,
        divided: dict[str, Any],
        options: dict[str, Any] | None = None,
    ) -> Any:
        """Return rows of numbers of one of NumPy's distributions: a container, or one row without size."""
        options = options or {}
        wanted = division_of(divided)
        args = tuple(parameter(value) for value in args)
        shape = () if size is None else integers("size", size)
        call = self._next()
        sample = by_numpy(getattr(self._streams.at(call), name), *args, **options)
        if np.ndim(sample) != 1:
            raise InvalidArgumentError(f"{name} draws from one distribution here, not from {np.shape(sample)[:-1]}")
        if not shape:
            return sample
        self._agree(name, call, shape, (*args, *options.values()))
        if name == "multivariate_normal":
            mean, root = (
                np.asarray(args[0], np.float64),
                _square_root(np.asarray(args[1], np.float64), options["method"]),
            )

        def draw(generator: np.random.Generator, first: int, number: int) -> Array:
            if name == "multivariate_normal":
                return generator.standard_normal((number, len(mean))) @ root + mean
            return np.asarray(getattr(generator, name)(*args, size=number, **options))

        return self.made(call, shape, sample.dtype, wanted, draw, sample.shape)

    def _agree(self, name: str, call: int, shape: tuple[int, ...], arguments: Sequence[Any]) -> None:
        """Raise on every rank if ranks draw differently."""
        words = [
            f"an array with fingerprint {fingerprint(v)}" if isinstance(v, np.ndarray) else repr(v) for v in arguments
        ]
        agree(self._context, name, f"size {shape}, draw {call} from seed {self._seed.entropy}: {', '.join(words)}")

    def made(
        self,
        call: int,
        shape: tuple[int, ...],
        dtype: Any,
        divided: Division,
        draw: streams.Draw,
        row: tuple[int, ...] = (),
        draw_into: streams.DrawInto | None = None,
    ) -> Any:
        """Return a container of the numbers of a call, or of rows of a shape. Collective."""
        kind: Any = DistributedVector if len(shape) + len(row) == 1 else DistributedTensor
        result = kind._created(self._context, (*shape, *row), dtype, divided)
        rows = int(np.prod(shape, dtype=np.int64))
        width = int(np.prod(row, dtype=np.int64))
        block = max(streams.BLOCK // max(width, 1), 1)
        total = rows if row else None
        if _is_one_run(result):
            start = 0 if divided.partition is Partition.REPLICATED else _before(result, len(shape))
            part = result.local_view().reshape(-1, *row)
            streams.fill(self._streams, call, draw, part, start, block, total, draw_into)
        elif rows * width <= streams.BLOCK:
            whole = np.empty((rows, *row), dtype)
            streams.fill(self._streams, call, draw, whole, 0, block, total, draw_into)
            result.local_view()[...] = whole.reshape(-1)[linear_indices(result)]
        else:
            with kind._created(self._context, (*shape, *row), dtype, BLOCK) as lines:
                part, start = lines.local_view().reshape(-1, *row), _before(lines, len(shape))
                streams.fill(self._streams, call, draw, part, start, block, total, draw_into)
                move_all(result, lines)
        return result


def _spread(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the shape that two shapes spread to; None if they do not fit."""
    try:
        return np.broadcast(np.broadcast_to(0, one), np.broadcast_to(0, other)).shape
    except ValueError:
        return None


def _is_one_run(c: DistributedContainer) -> bool:
    """Say whether this rank's elements follow each other in the order of all."""
    if c.context.size == 1 or c.partition_policy in (Partition.EXPLICIT, Partition.REPLICATED):
        return True
    return c.partition_policy is Partition.BLOCK and c.grid[0] == c.context.size


def _before(c: DistributedContainer, dims: int) -> int:
    """Return how many numbers come before this rank's first, in rows of all but the first dims dimensions."""
    return c.local_offset * int(np.prod(c.shape[1:dims], dtype=np.int64))


def _square_root(cov: Array, method: str) -> Array:
    """Return a matrix whose product with its transpose, from the left, is a covariance matrix."""
    if method == "cholesky":
        return np.linalg.cholesky(cov).T
    if method == "eigh":
        values, vectors = np.linalg.eigh(cov)
        return (vectors * np.sqrt(np.abs(values))).T
    _, values, vectors = np.linalg.svd(cov)
    return np.sqrt(values)[:, np.newaxis] * vectors
