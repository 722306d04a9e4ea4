"""Calls of scikit-learn's estimators and functions that its page on the array API lists."""

from __future__ import annotations

from typing import Any, Callable

import calls
import numpy as np
import sklearn
from sklearn import (
    calibration,
    cluster,
    decomposition,
    discriminant_analysis,
    kernel_approximation,
    linear_model,
    metrics,
    mixture,
    model_selection,
    naive_bayes,
    preprocessing,
)
from sklearn.metrics import pairwise

sklearn.set_config(array_api_dispatch=True)

_random = np.random.RandomState(0)
_X = _random.rand(40, 4)
_T = _X @ np.array([1.0, -2.0, 0.5, 3.0]) + 0.1 * _random.rand(40)
_C = (np.arange(40) % 3 + (_X[:, 0] > 0.5)) % 3
_B = (_X[:, 1] + 0.3 * _random.rand(40) > 0.6).astype(np.int64)
_P = np.clip(_X[:, 1], 0.01, 0.99)
_GUESS = np.where(_random.rand(40) > 0.2, _C, (_C + 1) % 3)
_BGUESS = np.where(_random.rand(40) > 0.2, _B, 1 - _B)
_L = (_random.rand(12, 3) > 0.5).astype(np.int64)
_LGUESS = (_random.rand(12, 3) > 0.5).astype(np.int64)
_Q3 = np.abs(_random.rand(40, 3)) + 0.1
_Q3 /= _Q3.sum(axis=1, keepdims=True)


def _fitted(estimator: Callable[[], Any], of: Callable[[Any, Any], Any], y: Any = None) -> calls.Call:
    """Fit an estimator to the table, and return what a function takes of it and of the table."""

    def call(make: calls.Make) -> Any:
        x = make(_X)
        fitted = estimator().fit(x) if y is None else estimator().fit(x, make(y))
        return of(fitted, x)

    return call


def _transform(fitted: Any, x: Any) -> Any:
    return fitted.transform(x)


def _predict(fitted: Any, x: Any) -> Any:
    return fitted.predict(x)


def _probabilities(fitted: Any, x: Any) -> Any:
    return fitted.predict(x), fitted.predict_proba(x)


def _scored(function: Callable[..., Any], y: Any, guess: Any, **options: Any) -> calls.Call:
    return lambda make: function(make(y), make(guess), **options)


ESTIMATORS: dict[str, calls.Call] = {
    "StandardScaler": _fitted(preprocessing.StandardScaler, _transform),
    "MinMaxScaler": _fitted(preprocessing.MinMaxScaler, _transform),
    "MaxAbsScaler": _fitted(preprocessing.MaxAbsScaler, _transform),
    "Normalizer": _fitted(preprocessing.Normalizer, _transform),
    "Binarizer": _fitted(lambda: preprocessing.Binarizer(threshold=0.5), _transform),
    "KernelCenterer": lambda make: preprocessing.KernelCenterer().fit_transform(make(_X @ _X.T)),
    "PolynomialFeatures": _fitted(lambda: preprocessing.PolynomialFeatures(2), _transform),
    "LabelEncoder": lambda make: preprocessing.LabelEncoder().fit_transform(make(_C)),
    "LabelBinarizer": lambda make: preprocessing.LabelBinarizer().fit_transform(make(_C)),
    "PCA": _fitted(
        lambda: decomposition.PCA(2, svd_solver="full"), lambda f, x: (f.explained_variance_, np_abs(f.transform(x)))
    ),
    "PCA, covariance_eigh": _fitted(
        lambda: decomposition.PCA(2, svd_solver="covariance_eigh"), lambda f, x: np_abs(f.transform(x))
    ),
    "PCA, randomized": _fitted(
        lambda: decomposition.PCA(2, svd_solver="randomized", power_iteration_normalizer="QR", random_state=0),
        lambda f, x: np_abs(f.transform(x)),
    ),
    "Nystroem": _fitted(
        lambda: kernel_approximation.Nystroem("rbf", gamma=0.5, n_components=5, random_state=0), _transform
    ),
    "LinearRegression": _fitted(linear_model.LinearRegression, _predict, _T),
    "Ridge": _fitted(lambda: linear_model.Ridge(solver="svd"), _predict, _T),
    "RidgeCV": _fitted(linear_model.RidgeCV, _predict, _T),
    "RidgeClassifier": _fitted(lambda: linear_model.RidgeClassifier(solver="svd"), _predict, _B),
    "RidgeClassifierCV": _fitted(linear_model.RidgeClassifierCV, _predict, _B),
    "LogisticRegression": _fitted(lambda: linear_model.LogisticRegression(tol=1e-9), _probabilities, _C),
    "PoissonRegressor": _fitted(lambda: linear_model.PoissonRegressor(tol=1e-9), _predict, np.abs(_T)),
    "LinearDiscriminantAnalysis": _fitted(
        lambda: discriminant_analysis.LinearDiscriminantAnalysis(solver="svd"), _probabilities, _C
    ),
    "GaussianNB": _fitted(naive_bayes.GaussianNB, _probabilities, _C),
    "GaussianMixture": _fitted(
        lambda: mixture.GaussianMixture(2, init_params="random_from_data", random_state=0), _predict
    ),
    "KMeans": _fitted(lambda: cluster.KMeans(2, n_init=1, random_state=0), _predict),
    "CalibratedClassifierCV": _fitted(
        lambda: calibration.CalibratedClassifierCV(
            discriminant_analysis.LinearDiscriminantAnalysis(), method="temperature", cv=2
        ),
        _probabilities,
        _C,
    ),
    "GridSearchCV": _fitted(
        lambda: model_selection.GridSearchCV(
            linear_model.Ridge(solver="svd"), {"alpha": [0.1, 1.0]}, cv=2, error_score="raise"
        ),
        _predict,
        _T,
    ),
    "cross_val_predict": lambda make: model_selection.cross_val_predict(
        linear_model.Ridge(solver="svd"), make(_X), make(_T), cv=2
    ),
    "train_test_split": lambda make: model_selection.train_test_split(make(_X), make(_T), random_state=0),
}


def np_abs(x: Any) -> Any:
    """Return the absolute values: the signs of components are arbitrary."""
    return x.__array_namespace__().abs(x)


METRICS: dict[str, calls.Call] = {
    **{
        name: _scored(getattr(metrics, name), _C, _GUESS)
        for name in (
            "accuracy_score",
            "balanced_accuracy_score",
            "cohen_kappa_score",
            "confusion_matrix",
            "hamming_loss",
            "multilabel_confusion_matrix",
            "zero_one_loss",
        )
    },
    **{
        f"{name}, macro": _scored(getattr(metrics, name), _C, _GUESS, average="macro")
        for name in ("f1_score", "jaccard_score", "precision_score", "recall_score")
    },
    "f1_score": _scored(metrics.f1_score, _B, _BGUESS),
    "fbeta_score": _scored(metrics.fbeta_score, _B, _BGUESS, beta=2.0),
    "precision_recall_fscore_support": _scored(metrics.precision_recall_fscore_support, _C, _GUESS, average="weighted"),
    "matthews_corrcoef": _scored(metrics.matthews_corrcoef, _C, _GUESS),
    "log_loss": _scored(metrics.log_loss, _C, _Q3),
    "brier_score_loss": _scored(metrics.brier_score_loss, _B, _P),
    "d2_brier_score": _scored(metrics.d2_brier_score, _B, _P),
    "d2_log_loss_score": _scored(metrics.d2_log_loss_score, _B, _P),
    "average_precision_score": _scored(metrics.average_precision_score, _B, _P),
    "roc_auc_score": _scored(metrics.roc_auc_score, _B, _P),
    "roc_curve": lambda make: metrics.roc_curve(make(_B), make(_P))[:2],
    "det_curve": _scored(metrics.det_curve, _B, _P),
    "precision_recall_curve": _scored(metrics.precision_recall_curve, _B, _P),
    **{
        name: _scored(getattr(metrics, name), np.abs(_T) + 0.1, np.abs(_T) * 1.1 + 0.2)
        for name in (
            "d2_absolute_error_score",
            "d2_pinball_score",
            "d2_tweedie_score",
            "explained_variance_score",
            "max_error",
            "mean_absolute_error",
            "mean_absolute_percentage_error",
            "mean_gamma_deviance",
            "mean_pinball_loss",
            "mean_poisson_deviance",
            "mean_squared_error",
            "mean_squared_log_error",
            "mean_tweedie_deviance",
            "median_absolute_error",
            "r2_score",
            "root_mean_squared_error",
            "root_mean_squared_log_error",
        )
    },
    **{
        name: _scored(getattr(pairwise, name), _X, _X[:5])
        for name in (
            "additive_chi2_kernel",
            "chi2_kernel",
            "cosine_distances",
            "cosine_similarity",
            "euclidean_distances",
            "laplacian_kernel",
            "linear_kernel",
            "manhattan_distances",
            "pairwise_distances",
            "pairwise_kernels",
            "polynomial_kernel",
            "rbf_kernel",
            "sigmoid_kernel",
        )
    },
    "paired_cosine_distances": _scored(pairwise.paired_cosine_distances, _X, _X + 0.1),
    "paired_euclidean_distances": _scored(pairwise.paired_euclidean_distances, _X, _X + 0.1),
}

CALLS = {**ESTIMATORS, **METRICS}
