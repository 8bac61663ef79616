"""Wrong labels of pictures
========================

400 handwritten digits of scikit-learn as PNG files, and a table that names the files and their labels; one
label in twenty is wrong. People look at the pictures in the page; to judge them, LabelCut is given a vector
for each. Here these are simply the pixels; of photographs a network's last layer but one tells far more.

The page stands in one file, pictures and all: the picture of the row, large, beside those of the nearest rows
with their labels.

Run ``python examples/digits_as_pictures.py``, with a file name as argument for a picture.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from sklearn.datasets import load_digits

import labelcut


def write_pictures(
    folder: Path, n_rows: int = 400, wrong: float = 0.05, seed: int = 0
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Write the pictures; returns the table, the vectors and the true digits."""
    digits = load_digits()
    rng = np.random.default_rng(seed)
    rows = rng.permutation(digits.target.size)[:n_rows]
    truth = digits.target[rows]
    given = np.where(rng.random(n_rows) < wrong, (truth + rng.integers(1, 10, n_rows)) % 10, truth)
    names = [f"{row:04d}.png" for row in rows]
    for name, row in zip(names, rows, strict=True):
        Image.fromarray(np.uint8(255 - 15 * digits.images[row])).save(folder / name)
    table = pd.DataFrame({"file": names, "digit": [f"digit {label}" for label in given]})
    return table, digits.data[rows], truth


def main() -> None:
    """Audit the labels by the vectors, and save the page with the pictures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, vectors, truth = write_pictures(folder)
        audit = labelcut.audit(
            table, label="digit", id="file", image="file", image_root=folder, embedding=vectors
        )
        is_wrong = table["digit"].to_numpy() != np.array([f"digit {digit}" for digit in truth])
        found = audit.issues["row"].to_numpy() - 1
        print(f"{is_wrong.sum()} of {is_wrong.size} labels are wrong")
        print(f"{found.size} are suspect, {is_wrong[found].sum()} of them wrong")
        page = folder / "report.html"
        audit.save(folder)
        print(f"the page holds {audit.summary['pictures']['suspects_shown']} suspects with their pictures,")
        print(f"in one file of {page.stat().st_size / 1e3:.0f} kB")
        if len(sys.argv) > 1:
            draw(folder, audit.issues, sys.argv[1])


def draw(folder: Path, issues: pd.DataFrame, file: str) -> None:
    """Save the first suspects with the given and the suggested label."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 6, figsize=(6.4, 2.8), layout="constrained")
    for axis in axes.flat:
        axis.axis("off")
    for axis, issue in zip(axes.flat, issues.to_dict("records"), strict=False):
        axis.imshow(np.asarray(Image.open(folder / issue["id"])), cmap="gray", interpolation="bilinear")
        given, suggested = (issue[part].removeprefix("digit ") for part in ("given_label", "predicted_label"))
        axis.set_title(f"{given} → {suggested}", fontsize=10)
    figure.savefig(file, dpi=100)


if __name__ == "__main__":
    main()
