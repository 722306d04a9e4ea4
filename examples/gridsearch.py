"""A grid search of scikit-learn, each model on the rank that has nothing to do.

    python examples/gridsearch.py
    python -m dtl run -n 3 examples/gridsearch.py

Root runs the program, and the other ranks fit the models: scikit-learn asks joblib for that, and joblib asks DTL.
"""

from __future__ import annotations

import joblib
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score

import dtl


def main() -> None:
    """Find the best penalty, and print how well a model with it does."""
    dtl.register_joblib()
    with dtl.Context() as ctx, dtl.Executor(ctx) as executor:
        if executor is None:
            return  # root has left its block: all models are fitted
        digits, labels = load_digits(return_X_y=True)
        with joblib.parallel_backend("dtl"):
            search = GridSearchCV(RidgeClassifier(), {"alpha": np.logspace(-2, 5, 8)}, cv=4).fit(digits, labels)
            scores = cross_val_score(search.best_estimator_, digits, labels, cv=10)
        print(f"best penalty {search.best_params_['alpha']:g}, {search.best_score_:.4f} of the digits known in 4 parts")
        print(f"{scores.mean():.4f} known in 10 parts, {scores.min():.4f} in the hardest")


if __name__ == "__main__":
    main()
