"""NumPy's distributions, by their names: containers where a size is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .source import Source

if TYPE_CHECKING:
    from ..containers.sequences import DistributedVector
    from ..containers.tensor import DistributedTensor
    from ..containers.types import Extents, OneExtent, SomeExtents

Size = Any  # int | Sequence[int] | None

#: Above this, a size may not fit what the core counts with.
_MOST = 1 << 62


class Distributions(Source):
    """The methods that draw from one of NumPy's distributions."""

    @overload
    def random(self, size: None = ..., dtype: Any = ..., **divided: Any) -> Any: ...
    @overload
    def random(self, size: OneExtent = ..., dtype: Any = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def random(self, size: SomeExtents = ..., dtype: Any = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def random(self, size: Any = ..., dtype: Any = ..., **divided: Any) -> Any: ...
    def random(self, size: Size = None, dtype: Any = np.float64, **divided: Any) -> Any:
        """Draw floats in [0, 1). See :meth:`numpy.random.Generator.random`."""
        if size.__class__ is int and dtype is np.float64 and not divided and 0 <= size < _MOST:  # what is called most
            return self.units(size)
        return self._draw("random", (), size, divided, {"dtype": dtype})

    @overload
    def standard_normal(self, size: None = ..., dtype: Any = ..., **divided: Any) -> Any: ...
    @overload
    def standard_normal(self, size: OneExtent = ..., dtype: Any = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def standard_normal(self, size: SomeExtents = ..., dtype: Any = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def standard_normal(self, size: Any = ..., dtype: Any = ..., **divided: Any) -> Any: ...
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
    def standard_exponential(
        self, size: Size = None, dtype: Any = np.float64, method: str = "zig", **divided: Any
    ) -> Any:
        """Draw floats of the exponential distribution of scale 1.

        See :meth:`numpy.random.Generator.standard_exponential`.
        """
        return self._draw("standard_exponential", (), size, divided, {"dtype": dtype, "method": method})

    @overload
    def standard_gamma(self, shape: Any, size: None = ..., dtype: Any = ..., **divided: Any) -> Any: ...
    @overload
    def standard_gamma(
        self, shape: Any, size: OneExtent = ..., dtype: Any = ..., **divided: Any
    ) -> DistributedVector: ...
    @overload
    def standard_gamma(
        self, shape: Any, size: SomeExtents = ..., dtype: Any = ..., **divided: Any
    ) -> DistributedTensor: ...
    @overload
    def standard_gamma(self, shape: Any, size: Any = ..., dtype: Any = ..., **divided: Any) -> Any: ...
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
    def binomial(self, n: Any, p: Any, size: Size = None, **divided: Any) -> Any:
        """Draw how many of n trials succeed, each with probability p. See :meth:`numpy.random.Generator.binomial`."""
        return self._draw("binomial", (n, p), size, divided)

    @overload
    def chisquare(self, df: Any, size: None = ..., **divided: Any) -> Any: ...
    @overload
    def chisquare(self, df: Any, size: OneExtent = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def chisquare(self, df: Any, size: SomeExtents = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def chisquare(self, df: Any, size: Any = ..., **divided: Any) -> Any: ...
    def chisquare(self, df: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the chi-square distribution. See :meth:`numpy.random.Generator.chisquare`."""
        return self._draw("chisquare", (df,), size, divided)

    @overload
    def f(self, dfnum: Any, dfden: Any, size: None = ..., **divided: Any) -> Any: ...
    @overload
    def f(self, dfnum: Any, dfden: Any, size: OneExtent = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def f(self, dfnum: Any, dfden: Any, size: SomeExtents = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def f(self, dfnum: Any, dfden: Any, size: Any = ..., **divided: Any) -> Any: ...
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
    def geometric(self, p: Any, size: Size = None, **divided: Any) -> Any:
        """Draw how many trials there are up to the first success. See :meth:`numpy.random.Generator.geometric`."""
        return self._draw("geometric", (p,), size, divided)

    @overload
    def gumbel(self, loc: Any = ..., scale: Any = ..., size: None = ..., **divided: Any) -> Any: ...
    @overload
    def gumbel(self, loc: Any = ..., scale: Any = ..., size: OneExtent = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def gumbel(
        self, loc: Any = ..., scale: Any = ..., size: SomeExtents = ..., **divided: Any
    ) -> DistributedTensor: ...
    @overload
    def gumbel(self, loc: Any = ..., scale: Any = ..., size: Any = ..., **divided: Any) -> Any: ...
    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the Gumbel distribution. See :meth:`numpy.random.Generator.gumbel`."""
        return self._draw("gumbel", (loc, scale), size, divided)

    @overload
    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: None = ..., **divided: Any) -> Any: ...
    @overload
    def hypergeometric(
        self, ngood: Any, nbad: Any, nsample: Any, size: OneExtent = ..., **divided: Any
    ) -> DistributedVector: ...
    @overload
    def hypergeometric(
        self, ngood: Any, nbad: Any, nsample: Any, size: SomeExtents = ..., **divided: Any
    ) -> DistributedTensor: ...
    @overload
    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Any = ..., **divided: Any) -> Any: ...
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
    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the Laplace distribution. See :meth:`numpy.random.Generator.laplace`."""
        return self._draw("laplace", (loc, scale), size, divided)

    @overload
    def logistic(self, loc: Any = ..., scale: Any = ..., size: None = ..., **divided: Any) -> Any: ...
    @overload
    def logistic(
        self, loc: Any = ..., scale: Any = ..., size: OneExtent = ..., **divided: Any
    ) -> DistributedVector: ...
    @overload
    def logistic(
        self, loc: Any = ..., scale: Any = ..., size: SomeExtents = ..., **divided: Any
    ) -> DistributedTensor: ...
    @overload
    def logistic(self, loc: Any = ..., scale: Any = ..., size: Any = ..., **divided: Any) -> Any: ...
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
    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw floats whose logarithm is of the normal distribution. See :meth:`numpy.random.Generator.lognormal`."""
        return self._draw("lognormal", (mean, sigma), size, divided)

    @overload
    def logseries(self, p: Any, size: None = ..., **divided: Any) -> Any: ...
    @overload
    def logseries(self, p: Any, size: OneExtent = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def logseries(self, p: Any, size: SomeExtents = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def logseries(self, p: Any, size: Any = ..., **divided: Any) -> Any: ...
    def logseries(self, p: Any, size: Size = None, **divided: Any) -> Any:
        """Draw integers of the logarithmic series distribution. See :meth:`numpy.random.Generator.logseries`."""
        return self._draw("logseries", (p,), size, divided)

    @overload
    def negative_binomial(self, n: Any, p: Any, size: None = ..., **divided: Any) -> Any: ...
    @overload
    def negative_binomial(self, n: Any, p: Any, size: OneExtent = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def negative_binomial(self, n: Any, p: Any, size: SomeExtents = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def negative_binomial(self, n: Any, p: Any, size: Any = ..., **divided: Any) -> Any: ...
    def negative_binomial(self, n: Any, p: Any, size: Size = None, **divided: Any) -> Any:
        """Draw how many trials fail before n succeed. See :meth:`numpy.random.Generator.negative_binomial`."""
        return self._draw("negative_binomial", (n, p), size, divided)

    @overload
    def noncentral_chisquare(self, df: Any, nonc: Any, size: None = ..., **divided: Any) -> Any: ...
    @overload
    def noncentral_chisquare(self, df: Any, nonc: Any, size: OneExtent = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def noncentral_chisquare(
        self, df: Any, nonc: Any, size: SomeExtents = ..., **divided: Any
    ) -> DistributedTensor: ...
    @overload
    def noncentral_chisquare(self, df: Any, nonc: Any, size: Any = ..., **divided: Any) -> Any: ...
    def noncentral_chisquare(self, df: Any, nonc: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the noncentral chi-square distribution.

        See :meth:`numpy.random.Generator.noncentral_chisquare`.
        """
        return self._draw("noncentral_chisquare", (df, nonc), size, divided)

    @overload
    def noncentral_f(self, dfnum: Any, dfden: Any, nonc: Any, size: None = ..., **divided: Any) -> Any: ...
    @overload
    def noncentral_f(
        self, dfnum: Any, dfden: Any, nonc: Any, size: OneExtent = ..., **divided: Any
    ) -> DistributedVector: ...
    @overload
    def noncentral_f(
        self, dfnum: Any, dfden: Any, nonc: Any, size: SomeExtents = ..., **divided: Any
    ) -> DistributedTensor: ...
    @overload
    def noncentral_f(self, dfnum: Any, dfden: Any, nonc: Any, size: Any = ..., **divided: Any) -> Any: ...
    def noncentral_f(self, dfnum: Any, dfden: Any, nonc: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the noncentral F distribution. See :meth:`numpy.random.Generator.noncentral_f`."""
        return self._draw("noncentral_f", (dfnum, dfden, nonc), size, divided)

    @overload
    def pareto(self, a: Any, size: None = ..., **divided: Any) -> Any: ...
    @overload
    def pareto(self, a: Any, size: OneExtent = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def pareto(self, a: Any, size: SomeExtents = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def pareto(self, a: Any, size: Any = ..., **divided: Any) -> Any: ...
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
    def poisson(self, lam: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw integers of the Poisson distribution. See :meth:`numpy.random.Generator.poisson`."""
        return self._draw("poisson", (lam,), size, divided)

    @overload
    def power(self, a: Any, size: None = ..., **divided: Any) -> Any: ...
    @overload
    def power(self, a: Any, size: OneExtent = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def power(self, a: Any, size: SomeExtents = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def power(self, a: Any, size: Any = ..., **divided: Any) -> Any: ...
    def power(self, a: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats in [0, 1] of the power distribution with exponent a - 1.

        See :meth:`numpy.random.Generator.power`.
        """
        return self._draw("power", (a,), size, divided)

    @overload
    def rayleigh(self, scale: Any = ..., size: None = ..., **divided: Any) -> Any: ...
    @overload
    def rayleigh(self, scale: Any = ..., size: OneExtent = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def rayleigh(self, scale: Any = ..., size: SomeExtents = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def rayleigh(self, scale: Any = ..., size: Any = ..., **divided: Any) -> Any: ...
    def rayleigh(self, scale: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the Rayleigh distribution. See :meth:`numpy.random.Generator.rayleigh`."""
        return self._draw("rayleigh", (scale,), size, divided)

    @overload
    def standard_cauchy(self, size: None = ..., **divided: Any) -> Any: ...
    @overload
    def standard_cauchy(self, size: OneExtent = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def standard_cauchy(self, size: SomeExtents = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def standard_cauchy(self, size: Any = ..., **divided: Any) -> Any: ...
    def standard_cauchy(self, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the Cauchy distribution. See :meth:`numpy.random.Generator.standard_cauchy`."""
        return self._draw("standard_cauchy", (), size, divided)

    @overload
    def standard_t(self, df: Any, size: None = ..., **divided: Any) -> Any: ...
    @overload
    def standard_t(self, df: Any, size: OneExtent = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def standard_t(self, df: Any, size: SomeExtents = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def standard_t(self, df: Any, size: Any = ..., **divided: Any) -> Any: ...
    def standard_t(self, df: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of Student's t distribution. See :meth:`numpy.random.Generator.standard_t`."""
        return self._draw("standard_t", (df,), size, divided)

    @overload
    def triangular(self, left: Any, mode: Any, right: Any, size: None = ..., **divided: Any) -> Any: ...
    @overload
    def triangular(
        self, left: Any, mode: Any, right: Any, size: OneExtent = ..., **divided: Any
    ) -> DistributedVector: ...
    @overload
    def triangular(
        self, left: Any, mode: Any, right: Any, size: SomeExtents = ..., **divided: Any
    ) -> DistributedTensor: ...
    @overload
    def triangular(self, left: Any, mode: Any, right: Any, size: Any = ..., **divided: Any) -> Any: ...
    def triangular(self, left: Any, mode: Any, right: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the triangular distribution. See :meth:`numpy.random.Generator.triangular`."""
        return self._draw("triangular", (left, mode, right), size, divided)

    @overload
    def vonmises(self, mu: Any, kappa: Any, size: None = ..., **divided: Any) -> Any: ...
    @overload
    def vonmises(self, mu: Any, kappa: Any, size: OneExtent = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def vonmises(self, mu: Any, kappa: Any, size: SomeExtents = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def vonmises(self, mu: Any, kappa: Any, size: Any = ..., **divided: Any) -> Any: ...
    def vonmises(self, mu: Any, kappa: Any, size: Size = None, **divided: Any) -> Any:
        """Draw angles in [-pi, pi] of the von Mises distribution. See :meth:`numpy.random.Generator.vonmises`."""
        return self._draw("vonmises", (mu, kappa), size, divided)

    @overload
    def wald(self, mean: Any, scale: Any, size: None = ..., **divided: Any) -> Any: ...
    @overload
    def wald(self, mean: Any, scale: Any, size: OneExtent = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def wald(self, mean: Any, scale: Any, size: SomeExtents = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def wald(self, mean: Any, scale: Any, size: Any = ..., **divided: Any) -> Any: ...
    def wald(self, mean: Any, scale: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the Wald distribution. See :meth:`numpy.random.Generator.wald`."""
        return self._draw("wald", (mean, scale), size, divided)

    @overload
    def weibull(self, a: Any, size: None = ..., **divided: Any) -> Any: ...
    @overload
    def weibull(self, a: Any, size: OneExtent = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def weibull(self, a: Any, size: SomeExtents = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def weibull(self, a: Any, size: Any = ..., **divided: Any) -> Any: ...
    def weibull(self, a: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the Weibull distribution of scale 1. See :meth:`numpy.random.Generator.weibull`."""
        return self._draw("weibull", (a,), size, divided)

    @overload
    def zipf(self, a: Any, size: None = ..., **divided: Any) -> Any: ...
    @overload
    def zipf(self, a: Any, size: OneExtent = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def zipf(self, a: Any, size: SomeExtents = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def zipf(self, a: Any, size: Any = ..., **divided: Any) -> Any: ...
    def zipf(self, a: Any, size: Size = None, **divided: Any) -> Any:
        """Draw integers of the Zipf distribution. See :meth:`numpy.random.Generator.zipf`."""
        return self._draw("zipf", (a,), size, divided)

    @overload
    def multinomial(self, n: Any, pvals: Any, size: None = ..., **divided: Any) -> Any: ...
    @overload
    def multinomial(self, n: Any, pvals: Any, size: Extents = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def multinomial(self, n: Any, pvals: Any, size: Any = ..., **divided: Any) -> Any: ...
    def multinomial(self, n: Any, pvals: Any, size: Size = None, **divided: Any) -> Any:
        """Draw how often each of several outcomes comes in n trials: rows of ``len(pvals)`` integers.

        See :meth:`numpy.random.Generator.multinomial`; n and pvals are one experiment's.
        """
        return self._draw_rows("multinomial", (n, pvals), size, divided)

    @overload
    def multivariate_hypergeometric(
        self, colors: Any, nsample: Any, size: None = ..., method: str = ..., **divided: Any
    ) -> Any: ...
    @overload
    def multivariate_hypergeometric(
        self, colors: Any, nsample: Any, size: Extents = ..., method: str = ..., **divided: Any
    ) -> DistributedTensor: ...
    @overload
    def multivariate_hypergeometric(
        self, colors: Any, nsample: Any, size: Any = ..., method: str = ..., **divided: Any
    ) -> Any: ...
    def multivariate_hypergeometric(
        self, colors: Any, nsample: Any, size: Size = None, method: str = "marginals", **divided: Any
    ) -> Any:
        """Draw how many of each color are in a sample without replacement: rows of ``len(colors)`` integers.

        See :meth:`numpy.random.Generator.multivariate_hypergeometric`.
        """
        return self._draw_rows("multivariate_hypergeometric", (colors, nsample), size, divided, {"method": method})

    @overload
    def dirichlet(self, alpha: Any, size: None = ..., **divided: Any) -> Any: ...
    @overload
    def dirichlet(self, alpha: Any, size: Extents = ..., **divided: Any) -> DistributedTensor: ...
    @overload
    def dirichlet(self, alpha: Any, size: Any = ..., **divided: Any) -> Any: ...
    def dirichlet(self, alpha: Any, size: Size = None, **divided: Any) -> Any:
        """Draw shares that add up to 1: rows of ``len(alpha)`` floats. See :meth:`numpy.random.Generator.dirichlet`."""
        return self._draw_rows("dirichlet", (alpha,), size, divided)

    @overload
    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: None = ...,
        check_valid: str = ...,
        tol: float = ...,
        *,
        method: str = ...,
        **divided: Any,
    ) -> Any: ...
    @overload
    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: Extents = ...,
        check_valid: str = ...,
        tol: float = ...,
        *,
        method: str = ...,
        **divided: Any,
    ) -> DistributedTensor: ...
    @overload
    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: Any = ...,
        check_valid: str = ...,
        tol: float = ...,
        *,
        method: str = ...,
        **divided: Any,
    ) -> Any: ...
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
