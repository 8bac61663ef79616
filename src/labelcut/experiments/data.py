"""The paper's ten UCI tables, three of them with all their classes.

The rules that turn the raw files into the sizes, widths and shares of positives printed in the paper are
in the ``_read_*`` functions. A raw file is looked for in the folder named by ``LABELCUT_DATA`` (as
``<data set>/<file>``, or with ``.gz``), then in the cache folder (``LABELCUT_CACHE``, else
``~/.cache/labelcut``), and at last downloaded from the UCI Machine Learning Repository. Wherever it came
from, its SHA-256 must be the known one. All ten tables are published by UCI under CC BY 4.0.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd

DATA_VARIABLE = "LABELCUT_DATA"
CACHE_VARIABLE = "LABELCUT_CACHE"
UCI = "https://archive.ics.uci.edu/static/public"
TIMEOUT_SECONDS = 60

Matrix = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


class DataError(OSError):
    """A data file is missing, damaged, or not the one the rules were written for."""


@dataclass(frozen=True)
class DataSet:
    """A numeric table with its true classes 0, 1, ...; of two, 1 is the positive and 0 the negative one."""

    name: str
    title: str
    X: Matrix
    y: Codes

    @property
    def n_classes(self) -> int:
        """Number of classes, at least two."""
        return max(2, int(self.y.max()) + 1)


@dataclass(frozen=True)
class Source:
    """Where the raw files of one UCI table are, and what must come out of them."""

    name: str
    title: str
    archive: str
    """Path of the zip archive below the repository's address."""
    files: dict[str, str]
    """File name -> SHA-256 of its uncompressed bytes."""
    n_rows: int
    n_features: int
    n_positive: int
    doi: str
    read: Callable[..., tuple[pd.DataFrame, pd.Series[bool]]]
    """The bytes of ``files``, in order -> features and "is positive"."""


def _csv(raw: bytes, **options: object) -> pd.DataFrame:
    import pandas as pd

    frame: pd.DataFrame = pd.read_csv(io.BytesIO(raw), **options)  # type: ignore[call-overload]
    return frame


def _arff_rows(raw: bytes) -> pd.DataFrame:
    """Read the comma-separated part of an ARFF file, columns numbered."""
    lines = raw.decode("utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip().lower() == "@data")
    return _csv("\n".join(lines[start + 1 :]).encode(), header=None)


def _dummies(frame: pd.DataFrame, *, drop_first: bool) -> pd.DataFrame:
    """One 0/1 column per category, in alphabetical order."""
    import pandas as pd

    return pd.get_dummies(frame, drop_first=drop_first, dtype=float)


def _read_vote(raw: bytes) -> tuple[pd.DataFrame, pd.Series[bool]]:
    table = _csv(raw, header=None)
    # The published code of the authors means "?" = 0 too, but a slip there makes it -1.
    return table.iloc[:, 1:].replace({"y": "1", "n": "-1", "?": "0"}).astype(float), table[0] == "democrat"


def _read_breast_cancer(raw: bytes) -> tuple[pd.DataFrame, pd.Series[bool]]:
    table = _csv(raw, header=None)
    return table.iloc[:, 2:], table[1] == "M"


def _read_maternal(raw: bytes) -> tuple[pd.DataFrame, pd.Series[bool]]:
    table = _csv(raw, encoding="utf-8-sig")
    # Two rows have HeartRate 7, surely meant as 70; they stay as they are published.
    return table.iloc[:, :6], table["RiskLevel"] != "low risk"


def _read_red_wine(raw: bytes) -> tuple[pd.DataFrame, pd.Series[bool]]:
    table = _csv(raw, sep=";")
    return table.drop(columns="quality"), table["quality"] >= 6


def _obesity_levels(raw: bytes) -> tuple[pd.DataFrame, pd.Series[str]]:
    import pandas as pd

    table = _csv(raw, keep_default_na=False)
    numeric = table[["Age", "Height", "Weight", "FCVC", "NCP", "CH2O", "FAF", "TUE"]].astype(float)
    order = {"no": 0.0, "Sometimes": 1.0, "Frequently": 2.0, "Always": 3.0}
    ordinal = table[["CAEC", "CALC"]].apply(lambda column: column.map(order))
    nominal = table[["Gender", "family_history_with_overweight", "FAVC", "SMOKE", "SCC", "MTRANS"]]
    features = pd.concat([numeric, ordinal, _dummies(nominal, drop_first=True)], axis=1)
    return features, table["NObeyesdad"]


def _read_obesity(raw: bytes) -> tuple[pd.DataFrame, pd.Series[bool]]:
    features, level = _obesity_levels(raw)
    return features, level.str.startswith("Obesity")


def _read_mushroom(raw: bytes) -> tuple[pd.DataFrame, pd.Series[bool]]:
    table = _csv(raw, header=None, dtype=str, keep_default_na=False)
    # Column 11, stalk-root, is the only attribute with missing values.
    return _dummies(table.drop(columns=[0, 11]), drop_first=False), table[0] == "e"


def _read_phishing(raw: bytes) -> tuple[pd.DataFrame, pd.Series[bool]]:
    table = _arff_rows(raw)
    return table.iloc[:, :30], table[30] == 1


def _bean_kinds(raw: bytes) -> tuple[pd.DataFrame, pd.Series[str]]:
    table = _arff_rows(raw)
    # The paper counts 17 features: 16 and the class, which must not be one.
    return table.iloc[:, :16], table[16].str.strip()


def _read_dry_bean(raw: bytes) -> tuple[pd.DataFrame, pd.Series[bool]]:
    features, kind = _bean_kinds(raw)
    return features, kind.isin(["DERMASON", "SIRA"])


def _letters(raw: bytes) -> tuple[pd.DataFrame, pd.Series[str]]:
    table = _csv(raw, header=None, keep_default_na=False)
    return table.iloc[:, 1:], table[0]


def _read_letter(raw: bytes) -> tuple[pd.DataFrame, pd.Series[bool]]:
    features, letter = _letters(raw)
    return features, letter <= "M"


_ADULT_COLUMNS = [
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country"),
    "income",
]


def _read_adult(train: bytes, test: bytes) -> tuple[pd.DataFrame, pd.Series[bool]]:
    import pandas as pd

    parts = [
        _csv(raw, header=None, names=_ADULT_COLUMNS, skipinitialspace=True, na_values="?", skiprows=skip)
        for raw, skip in ((train, 0), (test, 1))
    ]
    table = pd.concat(parts, ignore_index=True)
    numeric = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
    nominal = table.drop(columns=[*numeric, "education", "income"])
    # Dummies first, incomplete rows after: the paper's 82 columns count a category of the latter.
    features = pd.concat([table[numeric].astype(float), _dummies(nominal, drop_first=True)], axis=1)
    complete = table.notna().all(axis=1)
    return features[complete], table["income"].str.rstrip(".")[complete] == ">50K"


REAL = {
    source.name: source
    for source in (
        Source(
            "vote",
            "Vote",
            "105/congressional+voting+records.zip",
            {"house-votes-84.data": "c87c14110a5ba91d4a1e313ec7392824458152bf071fa5f5452340488337936e"},
            435,
            16,
            267,
            "10.24432/C5C01P",
            _read_vote,
        ),
        Source(
            "breast_cancer",
            "Breast Cancer",
            "17/breast+cancer+wisconsin+diagnostic.zip",
            {"wdbc.data": "d606af411f3e5be8a317a5a8b652b425aaf0ff38ca683d5327ffff94c3695f4a"},
            569,
            30,
            212,
            "10.24432/C5DW2B",
            _read_breast_cancer,
        ),
        Source(
            "maternal",
            "Maternal Health",
            "863/maternal+health+risk.zip",
            {
                "Maternal Health Risk Data Set.csv": (
                    "a1f7025719f84715096e0d1f95ae2e56b57809b9b15449e1836c96a7d976ae9b"
                )
            },
            1014,
            6,
            608,
            "10.24432/C5DP5D",
            _read_maternal,
        ),
        Source(
            "red_wine",
            "Red Wine",
            "186/wine+quality.zip",
            {"winequality-red.csv": "4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e"},
            1599,
            11,
            855,
            "10.24432/C56S3T",
            _read_red_wine,
        ),
        Source(
            "obesity",
            "Obesity",
            "544/estimation+of+obesity+levels+based+on+eating+habits+and+physical+condition.zip",
            {
                "ObesityDataSet_raw_and_data_sinthetic.csv": (
                    "28b6991062855d3d15642e38b1aa9d1b32fb7abbb5abf5b096f1868cd706154b"
                )
            },
            2111,
            19,
            972,
            "10.24432/C5H31Z",
            _read_obesity,
        ),
        Source(
            "mushroom",
            "Mushroom",
            "73/mushroom.zip",
            {"agaricus-lepiota.data": "e65d082030501a3ebcbcd7c9f7c71aa9d28fdfff463bf4cf4716a3fe13ac360e"},
            8124,
            112,
            4208,
            "10.24432/C5959T",
            _read_mushroom,
        ),
        Source(
            "phishing",
            "Phishing Websites",
            "327/phishing+websites.zip",
            {"Training Dataset.arff": "3bcf93b1612306537ee2737751f1bac185b2a77886ab376644c3bf0c7f7cb3e6"},
            11055,
            30,
            6157,
            "10.24432/C51W2X",
            _read_phishing,
        ),
        Source(
            "dry_bean",
            "Dry Bean",
            "602/dry+bean+dataset.zip",
            {"Dry_Bean_Dataset.arff": "b2a4a76a2aedfb8ed415adfc1bfc70b5f202cb00cb72e500766e364c14834014"},
            13611,
            16,
            6182,
            "10.24432/C50S4B",
            _read_dry_bean,
        ),
        Source(
            "letter",
            "Letter",
            "59/letter+recognition.zip",
            {"letter-recognition.data": "2b89f3602cf768d3c8355267d2f13f2417809e101fc2b5ceee10db19a60de6e2"},
            20000,
            16,
            9940,
            "10.24432/C5ZP40",
            _read_letter,
        ),
        Source(
            "adult",
            "Adult",
            "2/adult.zip",
            {
                "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
                "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
            },
            45222,
            82,
            11208,
            "10.24432/C5XW20",
            _read_adult,
        ),
    )
}


@dataclass(frozen=True)
class Original:
    """One of the ten tables with all the classes it was published with."""

    name: str
    title: str
    source: Source
    counts: tuple[int, ...]
    """Rows of each class, classes in alphabetical order."""
    read: Callable[..., tuple[pd.DataFrame, pd.Series[str]]]
    """The bytes of the source's files -> features and class names."""


_LETTER_COUNTS = (
    *(789, 766, 736, 805, 768, 775, 773, 734, 755, 747, 739, 761, 792),
    *(783, 753, 803, 783, 758, 748, 796, 813, 764, 752, 787, 786, 734),
)
ORIGINALS = {
    original.name: original
    for original in (
        Original(
            "obesity7",
            "Obesity, 7 classes",
            REAL["obesity"],
            (272, 287, 351, 297, 324, 290, 290),
            _obesity_levels,
        ),
        Original(
            "dry_bean7",
            "Dry Bean, 7 classes",
            REAL["dry_bean"],
            (1322, 522, 1630, 3546, 1928, 2027, 2636),
            _bean_kinds,
        ),
        Original("letter26", "Letter, 26 classes", REAL["letter"], _LETTER_COUNTS, _letters),
    )
}


def cache_folder() -> Path:
    """Name the folder downloads are kept in."""
    return Path(os.environ.get(CACHE_VARIABLE) or Path.home() / ".cache" / "labelcut")


def raw_files(source: Source, *, home: str = UCI) -> list[bytes]:
    """Give the uncompressed bytes of the source's files, each with the SHA-256 it must have."""
    folders = [cache_folder() / source.name]
    local = os.environ.get(DATA_VARIABLE)
    if local:
        folders = [Path(local) / source.name, Path(local), *folders]
    found = {name: _read_local(name, folders) for name in source.files}
    if any(raw is None for raw in found.values()):
        found |= _download(source, home)
    for name, expected in source.files.items():
        raw = found[name]
        assert raw is not None
        actual = hashlib.sha256(raw).hexdigest()
        if actual != expected:
            raise DataError(
                f"{source.name}: {name} has SHA-256 {actual[:12]}..., expected {expected[:12]}...; it is "
                f"damaged or another edition. Delete it and let it be downloaded again."
            )
    return [raw for raw in found.values() if raw is not None]


def _read_local(name: str, folders: list[Path]) -> bytes | None:
    for folder in folders:
        if (folder / name).is_file():
            return (folder / name).read_bytes()
        if (folder / f"{name}.gz").is_file():
            return gzip.decompress((folder / f"{name}.gz").read_bytes())
    return None


def _download(source: Source, home: str) -> dict[str, bytes | None]:
    """Fetch the source's archive, keep its data files in the cache folder, return their bytes."""
    address = f"{home}/{source.archive}"
    try:
        with urllib.request.urlopen(address, timeout=TIMEOUT_SECONDS) as answer:
            archive = zipfile.ZipFile(io.BytesIO(answer.read()))
    except (urllib.error.URLError, TimeoutError, zipfile.BadZipFile) as problem:
        raise DataError(
            f"{source.name}: could not download {address} ({problem}). Offline? Put "
            f"{', '.join(source.files)} into a folder '{source.name}' "
            f"and set {DATA_VARIABLE} to the folder above it."
        ) from problem
    members = {Path(member).name: member for member in archive.namelist()}
    missing = sorted(set(source.files) - set(members))
    if missing:
        raise DataError(
            f"{source.name}: {address} does not hold {', '.join(missing)}; it has {sorted(members)}."
        )
    fetched: dict[str, bytes | None] = {name: archive.read(members[name]) for name in source.files}
    for name, raw in fetched.items():
        assert raw is not None
        if hashlib.sha256(raw).hexdigest() == source.files[name]:
            _write_whole(cache_folder() / source.name / name, raw)
    return fetched


def _write_whole(path: Path, raw: bytes) -> None:
    """Write so that no reader ever sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(raw)
    os.replace(file.name, path)


def load_real(source: Source, *, home: str = UCI) -> DataSet:
    """Read one UCI table and hold it against the size, width and positives it must have."""
    features, is_positive = source.read(*raw_files(source, home=home))
    X = np.ascontiguousarray(features.to_numpy(dtype=np.float64))
    y = is_positive.to_numpy(dtype=bool).astype(np.int64)
    found = (*X.shape, int(y.sum()))
    expected = (source.n_rows, source.n_features, source.n_positive)
    if found != expected:
        raise DataError(f"{source.name}: rows, features, positives are {found}, expected {expected}.")
    if not np.isfinite(X).all():
        raise DataError(f"{source.name}: a feature is missing or infinite after the rule.")
    return DataSet(source.name, source.title, X, y)


def load_original(original: Original, *, home: str = UCI) -> DataSet:
    """Read one UCI table with all its classes, numbered by the alphabet, and hold it against its counts."""
    features, names = original.read(*raw_files(original.source, home=home))
    X = np.ascontiguousarray(features.to_numpy(dtype=np.float64))
    y = np.unique(names.to_numpy(dtype=str), return_inverse=True)[1].astype(np.int64)
    found = (X.shape[1], tuple(np.bincount(y).tolist()))
    expected = (original.source.n_features, original.counts)
    if found != expected:
        raise DataError(f"{original.name}: features and rows per class are {found}, expected {expected}.")
    return DataSet(original.name, original.title, X, y)
