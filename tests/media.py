"""Tables of pictures and of texts with planted wrong labels: digits as files, docstrings of packages."""

import importlib
import inspect
import warnings

import numpy as np
import pandas as pd
from PIL import Image
from sklearn.datasets import load_digits

PACKAGES = (
    *("numpy.ma", "numpy.polynomial.chebyshev", "numpy.random", "numpy.testing", "scipy.integrate"),
    *("scipy.interpolate", "scipy.linalg", "scipy.ndimage", "scipy.optimize", "scipy.signal", "scipy.sparse"),
    *("scipy.spatial", "scipy.special", "scipy.stats", "sklearn.cluster", "sklearn.datasets"),
    *("sklearn.ensemble", "sklearn.linear_model", "sklearn.metrics", "sklearn.preprocessing"),
)


def with_wrong_labels(right, n_wrong, n_unlabeled, seed=0):
    """Return the labels with some changed and some missing, and which were changed."""
    rng = np.random.default_rng(seed)
    classes, given = np.unique(right), np.array(right, dtype=object)
    chosen = rng.choice(len(right), n_wrong + n_unlabeled, replace=False)
    wrong = np.sort(chosen[:n_wrong])
    for row in wrong:
        given[row] = rng.choice(classes[classes != right[row]])
    given[chosen[n_wrong:]] = None
    return given, wrong


def write_digits(folder, n_rows=500, n_wrong=25, n_unlabeled=40, seed=0):
    """Write digits as PNG files and a table that names them, with their pixels; returns it and the truth."""
    digits = load_digits()
    rows = np.random.default_rng(seed).permutation(len(digits.target))[:n_rows]
    (folder / "pictures").mkdir(parents=True)
    names = [f"pictures/{k:04d}.png" for k in range(n_rows)]
    for name, row in zip(names, rows, strict=True):
        pixels = np.uint8(255 - np.round(digits.images[row] * 255 / 16))
        Image.fromarray(pixels).save(folder / name)
    right = np.array([f"digit {target}" for target in digits.target[rows]], dtype=object)
    given, wrong = with_wrong_labels(right, n_wrong, n_unlabeled, seed)
    columns = {f"pixel {j // 8},{j % 8}": digits.data[rows, j] for j in range(64)}
    frame = pd.DataFrame({"file": names, **columns, "digit": given})
    frame.to_csv(folder / "digits.csv", index=False)
    return frame, right, wrong


def docstrings(most=40):
    """Return the first sentences of the docstrings of twenty packages, and which package each is from."""
    found = []
    for package in PACKAGES:
        module, seen = importlib.import_module(package), set()
        for name in sorted(dir(module)):
            text = _first_sentences(module, name)
            if len(text) >= 60 and text not in seen and len(seen) < most:
                seen.add(text)
                found.append((text, package))
    return pd.DataFrame(found, columns=["text", "package"])


def _first_sentences(module, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Names that are about to go.
        thing = getattr(module, name, None)
        text = inspect.getdoc(thing) if callable(thing) and not name.startswith("_") else None
    return " ".join(" ".join((text or "").split("\n\n")[:2]).split())[:300]


def write_docstrings(path, n_wrong=36, n_unlabeled=30, seed=0):
    """Write the docstrings with some labels wrong; returns the table and the truth."""
    frame = docstrings()
    right = frame["package"].to_numpy(dtype=object)
    given, wrong = with_wrong_labels(right, n_wrong, n_unlabeled, seed)
    frame = frame.assign(package=given)
    frame.to_csv(path, index=False)
    return frame, right, wrong
