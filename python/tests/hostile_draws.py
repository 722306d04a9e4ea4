"""What draws random numbers, with right arguments, in the manner of hostile.py."""

from __future__ import annotations

from typing import Any, Callable, Dict, Tuple

import numpy as np

import dtl

#: By the name of a call, what makes it, and its arguments.
Rows = Dict[str, Tuple[Callable[..., Any], Dict[str, Any]]]

#: The methods of a generator that draw, by name: their arguments besides size.
DRAWS: dict[str, dict[str, Any]] = {
    "beta": {"a": 1.0, "b": 2.0},
    "binomial": {"n": 5, "p": 0.5},
    "chisquare": {"df": 2.0},
    "choice": {"a": 9, "replace": True, "p": None, "axis": 0, "shuffle": True},
    "dirichlet": {"alpha": [1.0, 2.0]},
    "exponential": {"scale": 1.0},
    "f": {"dfnum": 2.0, "dfden": 3.0},
    "gamma": {"shape": 2.0, "scale": 1.0},
    "geometric": {"p": 0.5},
    "gumbel": {"loc": 0.0, "scale": 1.0},
    "hypergeometric": {"ngood": 5, "nbad": 5, "nsample": 3},
    "integers": {"low": 0, "high": 9, "dtype": np.int64, "endpoint": False},
    "laplace": {"loc": 0.0, "scale": 1.0},
    "logistic": {"loc": 0.0, "scale": 1.0},
    "lognormal": {"mean": 0.0, "sigma": 1.0},
    "logseries": {"p": 0.5},
    "multinomial": {"n": 5, "pvals": [0.5, 0.5]},
    "multivariate_hypergeometric": {"colors": [5, 5], "nsample": 3},
    "multivariate_normal": {"mean": [0.0, 0.0], "cov": [[1.0, 0.0], [0.0, 1.0]]},
    "negative_binomial": {"n": 5, "p": 0.5},
    "noncentral_chisquare": {"df": 2.0, "nonc": 1.0},
    "noncentral_f": {"dfnum": 2.0, "dfden": 3.0, "nonc": 1.0},
    "normal": {"loc": 0.0, "scale": 1.0},
    "pareto": {"a": 2.0},
    "poisson": {"lam": 2.0},
    "power": {"a": 2.0},
    "random": {"dtype": np.float64, "placement": "host"},
    "rayleigh": {"scale": 1.0},
    "standard_cauchy": {},
    "standard_exponential": {"dtype": np.float64, "method": "zig"},
    "standard_gamma": {"shape": 2.0, "dtype": np.float64},
    "standard_normal": {"dtype": np.float64},
    "standard_t": {"df": 2.0},
    "triangular": {"left": 0.0, "mode": 0.5, "right": 1.0},
    "uniform": {"low": 0.0, "high": 1.0},
    "vonmises": {"mu": 0.0, "kappa": 1.0},
    "wald": {"mean": 1.0, "scale": 1.0},
    "weibull": {"a": 2.0},
    "zipf": {"a": 2.0},
}


if tuple(int(part) for part in np.__version__.split(".")[:2]) < (1, 22):  # which never ends with an infinite parameter
    del DRAWS["vonmises"], DRAWS["zipf"]


def draws(ctx: dtl.Context) -> Rows:
    """Return what draws, each time from a generator of its own: one whose call failed on a rank is out of step.

    Size is right: without it, a rank draws a number by itself.
    """

    def drawn(name: str) -> Callable[..., Any]:
        def call(**given: Any) -> Any:
            return getattr(dtl.random.Generator(ctx, 1), name)(size=9, **given)

        return call

    return {f"random.{name}": (drawn(name), given) for name, given in DRAWS.items()}
