"""NumPy's distributions, by their names: containers where a size is given."""

from __future__ import annotations

from typing import Any

import numpy as np

from .sized import rows_second, rows_third, sized_first, sized_fourth, sized_second, sized_third
from .source import Source

Size = Any  # int | Sequence[int] | None

#: Above this, a size may not fit what the core counts with.
_MOST = 1 << 62


class Distributions(Source):
    """The methods that draw from one of NumPy's distributions."""

    @sized_first
    def random(self, /, size: Size = None, dtype: Any = np.float64, **divided: Any) -> Any:
        """Draw floats in [0, 1). See :meth:`numpy.random.Generator.random`."""
        if size.__class__ is int and dtype is np.float64 and not divided and 0 <= size < _MOST:  # what is called most
            return self.units(size)
        return self._draw("random", (), size, divided, {"dtype": dtype})

    @sized_first
    def standard_normal(self, /, size: Size = None, dtype: Any = np.float64, **divided: Any) -> Any:
        """Draw floats of the normal distribution of mean 0 and deviation 1.

        See :meth:`numpy.random.Generator.standard_normal`.
        """
        return self._draw("standard_normal", (), size, divided, {"dtype": dtype})

    @sized_first
    def standard_exponential(
        self, /, size: Size = None, dtype: Any = np.float64, method: str = "zig", **divided: Any
    ) -> Any:
        """Draw floats of the exponential distribution of scale 1.

        See :meth:`numpy.random.Generator.standard_exponential`.
        """
        return self._draw("standard_exponential", (), size, divided, {"dtype": dtype, "method": method})

    @sized_second
    def standard_gamma(self, /, shape: Any, size: Size = None, dtype: Any = np.float64, **divided: Any) -> Any:
        """Draw floats of the gamma distribution of scale 1. See :meth:`numpy.random.Generator.standard_gamma`."""
        return self._draw("standard_gamma", (shape,), size, divided, {"dtype": dtype})

    @sized_third
    def integers(
        self,
        /,
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

    @sized_third
    def uniform(self, /, low: Any = 0.0, high: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw floats in [low, high). See :meth:`numpy.random.Generator.uniform`."""
        return self._draw("uniform", (low, high), size, divided)

    @sized_third
    def normal(self, /, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the normal distribution of mean loc and deviation scale.

        See :meth:`numpy.random.Generator.normal`.
        """
        return self._draw("normal", (loc, scale), size, divided)

    @sized_second
    def exponential(self, /, scale: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the exponential distribution. See :meth:`numpy.random.Generator.exponential`."""
        return self._draw("exponential", (scale,), size, divided)

    @sized_third
    def gamma(self, /, shape: Any, scale: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the gamma distribution. See :meth:`numpy.random.Generator.gamma`."""
        return self._draw("gamma", (shape, scale), size, divided)

    @sized_third
    def beta(self, /, a: Any, b: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the beta distribution. See :meth:`numpy.random.Generator.beta`."""
        return self._draw("beta", (a, b), size, divided)

    @sized_third
    def binomial(self, /, n: Any, p: Any, size: Size = None, **divided: Any) -> Any:
        """Draw how many of n trials succeed, each with probability p. See :meth:`numpy.random.Generator.binomial`."""
        return self._draw("binomial", (n, p), size, divided)

    @sized_second
    def chisquare(self, /, df: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the chi-square distribution. See :meth:`numpy.random.Generator.chisquare`."""
        return self._draw("chisquare", (df,), size, divided)

    @sized_third
    def f(self, /, dfnum: Any, dfden: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the F distribution. See :meth:`numpy.random.Generator.f`."""
        return self._draw("f", (dfnum, dfden), size, divided)

    @sized_second
    def geometric(self, /, p: Any, size: Size = None, **divided: Any) -> Any:
        """Draw how many trials there are up to the first success. See :meth:`numpy.random.Generator.geometric`."""
        return self._draw("geometric", (p,), size, divided)

    @sized_third
    def gumbel(self, /, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the Gumbel distribution. See :meth:`numpy.random.Generator.gumbel`."""
        return self._draw("gumbel", (loc, scale), size, divided)

    @sized_fourth
    def hypergeometric(self, /, ngood: Any, nbad: Any, nsample: Any, size: Size = None, **divided: Any) -> Any:
        """Draw how many of a sample without replacement are good. See :meth:`numpy.random.Generator.hypergeometric`."""
        return self._draw("hypergeometric", (ngood, nbad, nsample), size, divided)

    @sized_third
    def laplace(self, /, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the Laplace distribution. See :meth:`numpy.random.Generator.laplace`."""
        return self._draw("laplace", (loc, scale), size, divided)

    @sized_third
    def logistic(self, /, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the logistic distribution. See :meth:`numpy.random.Generator.logistic`."""
        return self._draw("logistic", (loc, scale), size, divided)

    @sized_third
    def lognormal(self, /, mean: Any = 0.0, sigma: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw floats whose logarithm is of the normal distribution. See :meth:`numpy.random.Generator.lognormal`."""
        return self._draw("lognormal", (mean, sigma), size, divided)

    @sized_second
    def logseries(self, /, p: Any, size: Size = None, **divided: Any) -> Any:
        """Draw integers of the logarithmic series distribution. See :meth:`numpy.random.Generator.logseries`."""
        return self._draw("logseries", (p,), size, divided)

    @sized_third
    def negative_binomial(self, /, n: Any, p: Any, size: Size = None, **divided: Any) -> Any:
        """Draw how many trials fail before n succeed. See :meth:`numpy.random.Generator.negative_binomial`."""
        return self._draw("negative_binomial", (n, p), size, divided)

    @sized_third
    def noncentral_chisquare(self, /, df: Any, nonc: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the noncentral chi-square distribution.

        See :meth:`numpy.random.Generator.noncentral_chisquare`.
        """
        return self._draw("noncentral_chisquare", (df, nonc), size, divided)

    @sized_fourth
    def noncentral_f(self, /, dfnum: Any, dfden: Any, nonc: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the noncentral F distribution. See :meth:`numpy.random.Generator.noncentral_f`."""
        return self._draw("noncentral_f", (dfnum, dfden, nonc), size, divided)

    @sized_second
    def pareto(self, /, a: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the Pareto II distribution. See :meth:`numpy.random.Generator.pareto`."""
        return self._draw("pareto", (a,), size, divided)

    @sized_second
    def poisson(self, /, lam: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw integers of the Poisson distribution. See :meth:`numpy.random.Generator.poisson`."""
        return self._draw("poisson", (lam,), size, divided)

    @sized_second
    def power(self, /, a: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats in [0, 1] of the power distribution with exponent a - 1.

        See :meth:`numpy.random.Generator.power`.
        """
        return self._draw("power", (a,), size, divided)

    @sized_second
    def rayleigh(self, /, scale: Any = 1.0, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the Rayleigh distribution. See :meth:`numpy.random.Generator.rayleigh`."""
        return self._draw("rayleigh", (scale,), size, divided)

    @sized_first
    def standard_cauchy(self, /, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the Cauchy distribution. See :meth:`numpy.random.Generator.standard_cauchy`."""
        return self._draw("standard_cauchy", (), size, divided)

    @sized_second
    def standard_t(self, /, df: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of Student's t distribution. See :meth:`numpy.random.Generator.standard_t`."""
        return self._draw("standard_t", (df,), size, divided)

    @sized_fourth
    def triangular(self, /, left: Any, mode: Any, right: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the triangular distribution. See :meth:`numpy.random.Generator.triangular`."""
        return self._draw("triangular", (left, mode, right), size, divided)

    @sized_third
    def vonmises(self, /, mu: Any, kappa: Any, size: Size = None, **divided: Any) -> Any:
        """Draw angles in [-pi, pi] of the von Mises distribution. See :meth:`numpy.random.Generator.vonmises`."""
        return self._draw("vonmises", (mu, kappa), size, divided)

    @sized_third
    def wald(self, /, mean: Any, scale: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the Wald distribution. See :meth:`numpy.random.Generator.wald`."""
        return self._draw("wald", (mean, scale), size, divided)

    @sized_second
    def weibull(self, /, a: Any, size: Size = None, **divided: Any) -> Any:
        """Draw floats of the Weibull distribution of scale 1. See :meth:`numpy.random.Generator.weibull`."""
        return self._draw("weibull", (a,), size, divided)

    @sized_second
    def zipf(self, /, a: Any, size: Size = None, **divided: Any) -> Any:
        """Draw integers of the Zipf distribution. See :meth:`numpy.random.Generator.zipf`."""
        return self._draw("zipf", (a,), size, divided)

    @rows_third
    def multinomial(self, /, n: Any, pvals: Any, size: Size = None, **divided: Any) -> Any:
        """Draw how often each of several outcomes comes in n trials: rows of ``len(pvals)`` integers.

        See :meth:`numpy.random.Generator.multinomial`; n and pvals are one experiment's.
        """
        return self._draw("multinomial", (n, pvals), size, divided)

    @rows_third
    def multivariate_hypergeometric(
        self, /, colors: Any, nsample: Any, size: Size = None, method: str = "marginals", **divided: Any
    ) -> Any:
        """Draw how many of each color are in a sample without replacement: rows of ``len(colors)`` integers.

        See :meth:`numpy.random.Generator.multivariate_hypergeometric`.
        """
        return self._draw("multivariate_hypergeometric", (colors, nsample), size, divided, {"method": method})

    @rows_second
    def dirichlet(self, /, alpha: Any, size: Size = None, **divided: Any) -> Any:
        """Draw shares that add up to 1: rows of ``len(alpha)`` floats. See :meth:`numpy.random.Generator.dirichlet`."""
        return self._draw("dirichlet", (alpha,), size, divided)

    @rows_third
    def multivariate_normal(
        self,
        /,
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
        return self._draw("multivariate_normal", (mean, cov), size, divided, options)
