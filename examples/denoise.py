"""A picture without its noise
===========================

Total-variation denoising: a picture that stays close to a noisy one and has few, sharp edges.

Wanted is the picture x that minimises ``sum (x_i - y_i)² / 2 + smoothing * sum |x_i - x_j|``, the second
sum over neighbouring pixels. Which pixels end up darker than t? Those of a minimum cut with cost y_i - t
per pixel. So one parametric cut, with cost y and slope 1, gives the whole picture: x is ``join_at``.

Run ``python examples/denoise.py`` for the figures in words, with a file name as argument for a picture.
"""

import sys

import numpy as np
from scipy import sparse

from labelcut.cut import parametric_cut


def denoise(noisy: np.ndarray, smoothing: float) -> np.ndarray:
    """Return the picture that minimises squared distance plus total variation, exactly."""
    number = np.arange(noisy.size).reshape(noisy.shape)
    tail = np.concatenate([number[:, :-1].ravel(), number[:-1].ravel()])
    head = np.concatenate([number[:, 1:].ravel(), number[1:].ravel()])
    one_way = sparse.coo_array((np.full(tail.size, smoothing), (tail, head)), shape=(noisy.size, noisy.size))
    path = parametric_cut(one_way + one_way.T, noisy.ravel(), np.ones(noisy.size), n_jobs=-1)
    return path.join_at.reshape(noisy.shape)


def noisy_shapes(side: int = 64, noise: float = 0.4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return a drawing of a square and a disc, and the same with noise."""
    row, column = np.mgrid[:side, :side] / side
    clean = np.zeros((side, side))
    clean[(row > 0.15) & (row < 0.5) & (column > 0.15) & (column < 0.55)] = 1.0
    clean[(row - 0.65) ** 2 + (column - 0.65) ** 2 < 0.22**2] = 0.6
    return clean, clean + noise * np.random.default_rng(seed).normal(size=clean.shape)


def main() -> None:
    """Denoise the drawing and say what became of the noise."""
    clean, noisy = noisy_shapes()
    smooth = denoise(noisy, smoothing=0.6)
    for name, picture in (("noisy", noisy), ("denoised", smooth)):
        print(f"{name:9s} root mean square error {np.sqrt(((picture - clean) ** 2).mean()):.3f}")
    if len(sys.argv) > 1:
        draw({"clean": clean, "noisy": noisy, "denoised": smooth}, sys.argv[1])


def draw(pictures: dict[str, np.ndarray], file: str) -> None:
    """Save the pictures side by side."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(pictures), figsize=(6, 2.2), layout="constrained")
    for axis, (name, picture) in zip(axes, pictures.items(), strict=True):
        axis.imshow(picture, cmap="gray", vmin=-0.5, vmax=1.5)
        axis.set_title(name, fontsize=9)
        axis.axis("off")
    figure.savefig(file, dpi=100)


if __name__ == "__main__":
    main()
