"""The recipe, third round: honest experts, one stack. Two or many classes. Research code, ready to be split into rooms.

    r = fit(X, codes, trust=None, seed=0, n_jobs=2)     # codes 0..C-1, -1 = unlabeled; trust 0 ignores, inf holds
    r.probability (n, C), r.p_wrong (n,), r.eta (n, C) honest log-probabilities, r.weights, r.predict_proba(X_new)

Every number that judges a labeled row comes from models that never saw its label. What is done R * K times: hide a
fold, ask every expert about it. Rows that are never hidden: unlabeled ones and held (reviewed) ones.
"""
from __future__ import annotations
import os, time
os.environ.setdefault("OMP_NUM_THREADS", "1")
from dataclasses import dataclass, field
from itertools import islice
import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import brentq, minimize
from scipy.special import expit, log_softmax, logit, ndtr, softmax
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from threadpoolctl import threadpool_limits
from labelcut.graph import neighbors, similarity_graph
from labelcut.graph.similarity import KERNELS
from labelcut.hnc import separation
from labelcut.hnc.calibration import NoiseRates, asymmetric_rates, fit_logistic, true_class_probability, wrong_label_probability
from labelcut.hnc.columns import scale_columns, weight_columns
from labelcut.hnc.confidence import label_confidence
from labelcut.hnc.flags import flag_by_expected_f1
from labelcut.hnc.folds import deal_folds
from labelcut.hnc.forest import fit_forest
from labelcut.hnc.objective import confidence_cut
from labelcut.hnc.order import canonical_order, stand_ins
from labelcut.hnc.prior import Prior
from labelcut.hnc.separation import _label_scale, _label_term
from labelcut.hnc.tradeoff import TRADEOFF_RANGE, crossing_tradeoff


def kernel_weights(distance, kernel, bandwidth, n_features):
    return KERNELS[kernel](distance, bandwidth, n_features)


def neighbor_vote(graph, side):
    return separation.neighbor_vote(graph.weights, graph.degree, side)


@dataclass(frozen=True)
class Settings:
    folds: int = 5
    deals: int | None = None          # None: see n_deals
    rf_trees: int = 20                # per hidden fold, beside the trial trees
    et_trees: int = 30
    trial_trees: int = 4              # per hidden fold and leaf size
    et2_trees: int = 30
    thin_from: int = 5000             # labels from which groups have fewer trees
    thin: tuple = (8, 8, 10)
    boost_from: int = 1000
    strength: float = 0.5             # of the forest's prior in the cut
    noise_slope: bool = True
    strength_many: float = 1.0
    confidences: tuple = ("each", "once")   # two classes, many: computed again without the hidden labels, or once
    leaf_sizes: tuple = (0.001, 0.003, 0.01, 0.03)
    experts: tuple = ("rf", "et", "hgb", "cut", "et2")
    penalty: float = 10.0
    clip: float = 0.02
    judgements: int = 1500            # deals * labels is about this on small tables
    most_deals: int = 4


# ------------------------------------------------------------------------------------------------ folds
def n_deals(n_labeled, s):
    """Small tables are cheap and shaky: repeat the deal until every answer is a mean of about as many rows as on a larger one."""
    return s.deals or int(np.clip(round(s.judgements / max(n_labeled, 1)), 1, s.most_deals))

def deal(codes, is_held, s, seed):
    """(R, n) fold of each row that is to be hidden; -1: never hidden (unlabeled or held). Held rows are dealt too if nothing else is left."""
    is_judged = (codes >= 0) & ~is_held
    if np.sort(np.bincount(codes[is_judged], minlength=2))[-2] < 2: is_judged = codes >= 0
    second = np.sort(np.bincount(codes[is_judged], minlength=2))[-2]
    K = int(np.clip(second, 0, s.folds))
    if K < 2: return np.zeros((0, len(codes)), int), 0, is_judged
    dealt = np.where(is_judged, codes, -1)
    return np.stack([deal_folds(dealt, K, seed * 1000 + r) for r in range(n_deals(is_judged.sum(), s))]), K, is_judged

def hidden_sets(folds, K):
    """The rows hidden in each of the R * K tasks; one task that hides nothing if no fold can be dealt."""
    return [f == k for f in folds for k in range(K)] or [np.zeros(folds.shape[1], bool)]

def honest_mean(by_task, hidden):
    """Rows that are hidden somewhere: mean over those tasks. Others: mean over all tasks. by_task: (M, n, ...)."""
    is_hidden = np.stack(hidden); times = is_hidden.sum(0); shape = (-1,) + (1,) * (by_task.ndim - 2)
    use = is_hidden | (times == 0)
    return (by_task * use.reshape(use.shape + (1,) * (by_task.ndim - 2))).sum(0) / use.sum(0).reshape(shape)

def run(n_jobs, tasks):
    """Independent tasks in threads; each is seeded by itself, so the bytes do not depend on n_jobs."""
    with threadpool_limits(1, "openmp"):
        return Parallel(n_jobs=n_jobs, prefer="threads")(tasks)

def columns_of(model, shares, C):
    out = np.zeros((len(shares), C)); out[:, model.classes_] = shares
    return out

# ------------------------------------------------------------------------------------------------ trees, out of bag and by group
@dataclass
class Trees:
    """Group m never saw the rows hidden in task m. probability: over all trees that did not draw the row."""
    models: list; weights: np.ndarray; probability: np.ndarray; by_task: np.ndarray; importances: np.ndarray; leaf_weights: dict
    def of(self, X32, C): return sum(w * columns_of(m, m.predict_proba(X32), C) for w, m in zip(self.weights, self.models))

def grow_group(kind, X32, codes, hidden, leaf, n_trees, seed, C):
    """One group of one leaf size: the model; for each row, over the trees that did not draw it, the summed shares, the summed squared errors, and their number."""
    rows = np.flatnonzero((codes >= 0) & ~hidden); n_drawn = min(round(0.8 * (codes >= 0).sum()), 20_000, len(rows))
    make = {"rf": RandomForestClassifier, "et": ExtraTreesClassifier}[kind]
    m = make(n_trees, min_samples_leaf=max(1, int(np.ceil(leaf * n_drawn))), bootstrap=True, max_samples=max(1, n_drawn), random_state=seed, n_jobs=1).fit(X32[rows], codes[rows])
    S = np.zeros((len(codes), len(m.classes_))); Q = np.zeros(len(codes)); N = np.zeros(len(codes)); place = np.full(C, -1); place[m.classes_] = np.arange(len(m.classes_))
    own = np.where(codes >= 0, place[codes], -1)
    for tree, drawn in zip(m.estimators_, m.estimators_samples_):
        free = np.ones(len(codes), bool); free[rows[drawn]] = False; f = np.flatnonzero(free)
        p = tree.tree_.predict(X32[f]).reshape(len(f), -1); S[f] += p; N[f] += 1
        Q[f] += np.square(p).sum(1) + 1 - 2 * np.where(own[f] >= 0, p[np.arange(len(f)), own[f]], 0.0)
    return m, columns_of(m, S, C), Q, N

def endless_brier(S, Q, N, y):
    """Each row's Brier score with endlessly many such trees: mean of e_s @ e_t over pairs of different trees. NaN with fewer than two."""
    e = S.copy(); e[np.arange(len(y)), y] -= N
    return np.where(N > 1, (np.square(e).sum(1) - Q) / np.maximum(N * (N - 1), 1), np.nan)

def leaf_weights(scores):
    """Leaf sizes share by how well the rows can tell them apart: exp(-(difference / its standard error)^2 / 2)."""
    d = scores - scores[np.nanmean(scores, 1).argmin()]; d = d[:, ~np.isnan(d).any(0)]
    if d.shape[1] < 2: return np.full(len(scores), 1 / len(scores))
    se = d.std(1) / np.sqrt(d.shape[1]); w = np.exp(-np.square(np.divide(d.mean(1), se, out=np.zeros(len(se)), where=se > 0)) / 2)
    return w / w.sum()

def distinct_leaves(sizes, n_labeled):
    """The sizes that differ in whole rows on this table."""
    return tuple({max(1, int(np.ceil(q * min(round(0.8 * n_labeled), 20_000)))): q for q in sorted(sizes, reverse=True)}.values())[::-1]

def allot(w, n):
    """n trees in proportion to w, whole ones, largest remainders first."""
    k = np.floor(w * n).astype(int); k[np.argsort(-(w * n - k), kind="stable")[:n - k.sum()]] += 1
    return k

def grow(kind, X32, codes, hidden, leaves, n_trees, seed, C, n_jobs, n_trial=4, weights=None):
    """Grouped trees of several leaf sizes. A few of each size first (they are kept), then the others where the rows want them."""
    M, A = len(hidden), len(leaves); lab = codes >= 0; models = [[] for _ in leaves]; S = np.zeros((A, M, len(codes), C)); Q = np.zeros((A, len(codes))); N = np.zeros((A, M, len(codes)))
    def add(counts, seed):
        jobs = [(i, m) for i in range(A) if counts[i] for m in range(M)]
        for (i, m), (model, s, q, n) in zip(jobs, run(n_jobs, [delayed(grow_group)(kind, X32, codes, hidden[m], leaves[i], int(counts[i]), seed + 1000 * m + 17 * i, C) for i, m in jobs])):
            models[i].append((model, counts[i])); S[i, m] += s; Q[i] += q; N[i, m] += n
    w = np.ones(A) / A if weights is None else weights
    if A > 1 and weights is None:
        add(np.full(A, n_trial), seed); w = leaf_weights(np.stack([endless_brier(S[i].sum(0)[lab], Q[i][lab], N[i].sum(0)[lab], codes[lab]) for i in range(A)]))
    counts = allot(w, n_trees); add(counts, seed + 500)
    has = N.sum((1, 2)) > 0; w = np.where(has, w, 0); w = w / w.sum(); shares = np.bincount(codes[lab], minlength=C) / lab.sum()
    n = N.sum(1)[..., None]; p = np.where(n > 0, S.sum(1) / np.maximum(n, 1), shares); by = np.where(N[..., None] > 0, S / np.maximum(N, 1)[..., None], p[:, None])
    flat = [(w[i] * c / sum(c for _, c in models[i]), m) for i in range(A) for m, c in models[i] if w[i] > 1e-3]
    imp = sum(v * m.feature_importances_ for v, m in flat); imp = imp if np.any(imp) else np.ones(X32.shape[1])
    return Trees([m for _, m in flat], np.array([v for v, _ in flat]) / sum(v for v, _ in flat), np.tensordot(w, p, 1), np.tensordot(w, by, 1), imp / imp.sum(), w)

# ------------------------------------------------------------------------------------------------ boosting, out of fold
@dataclass
class Boosting:
    models: list; n_iter: int; probability: np.ndarray
    def of(self, X, C): return np.mean([columns_of(m, next(islice(m.staged_predict_proba(X), min(self.n_iter, m.n_iter_) - 1, None)), C) for m in self.models], 0)

def boost_task(X, codes, hidden, never, seed, C, n_iter=100):
    rows = (codes >= 0) & ~hidden; at = np.flatnonzero(hidden | never)
    m = HistGradientBoostingClassifier(learning_rate=.1, max_iter=n_iter, max_leaf_nodes=8, early_stopping=False, random_state=seed).fit(X[rows], codes[rows])
    return m, at, np.stack([columns_of(m, p, C) for p in m.staged_predict_proba(X[at])])

def boost(X, codes, hidden, seed, C, n_jobs):
    """Length: the one with the lowest log-loss of all hidden rows together."""
    never = ~np.any(hidden, 0); found = run(n_jobs, [delayed(boost_task)(X, codes, h, never, seed, C) for h in hidden])
    n_iter = found[0][2].shape[0]; loss = np.zeros(n_iter)
    for m, at, P in found:
        inn = hidden_in(at, never); y = codes[at[inn]]; loss -= np.log(np.clip(P[:, inn][:, np.arange(len(y)), y], 1e-6, 1)).sum(1)
    best = int(loss.argmin()); by = np.zeros((len(hidden), len(codes), C))
    for i, (m, at, P) in enumerate(found): by[i, at] = P[best]
    return Boosting([f[0] for f in found], best + 1, honest_mean(by, hidden))
def hidden_in(at, never): return ~never[at]

# ------------------------------------------------------------------------------------------------ the cut, honest
LEAST_SLOPE = 0.5   # of the label curve over join_at in [-2, 2]: flatter than this it says nothing, but the order of rows is kept
@dataclass
class Cut:
    """One class against the rest. honest: vote of the neighbours' sides while the label was hidden; final: all labels in use."""
    honest: np.ndarray; final: np.ndarray; by_task: np.ndarray; tradeoff: float; slope: float; side: np.ndarray; prior: Prior

def hidden_term(graph, sign, hidden, trust, scale, rates):
    seen = np.where(hidden, 0, sign)
    return _label_term(label_confidence(graph, seen), seen, trust, scale, rates)

def hidden_path(graph, sign, hidden, term, prior_term):
    return np.clip(confidence_cut(graph, sign, term, prior_term, hidden=hidden, t_range=TRADEOFF_RANGE).join_at, -TRADEOFF_RANGE, TRADEOFF_RANGE)

def soft_sides(join_at, t, slope):
    """What joining at J says about the class, between -1 and 1, by the curve that found the border: no row's side jumps when t moves a little."""
    return np.tanh(slope * (np.clip(join_at, -TRADEOFF_RANGE, TRADEOFF_RANGE) - t) / 2.0)

def soft_vote(graph, side):
    pulled = np.asarray(graph.weights @ side)
    return np.divide(pulled, graph.degree, out=np.zeros_like(pulled), where=graph.degree > 0)

def border(J, y, rates, kept):
    """Trade-off where the label of hidden rows is as likely as not, and the slope there of the curve of the TRUE class.

    Noise flattens the curve of the labels by the factor kept = 1 - 2e; without undoing it every side would be lukewarm at 40 %."""
    if not len(J): return 0.0, -4.0
    c = fit_logistic(J, y)
    return crossing_tradeoff(c, rates.border if rates else 0.5), min(c.slope, -LEAST_SLOPE) / kept

def honest_cut(graph, sign, trust, hidden, by_task, p, strength, confidences, noise, kept, n_jobs):
    """by_task[m]: forest of group m, which saw none of the rows hidden in task m; p: the forest out of bag."""
    prior = Prior.fit(p, sign, noise); scale = _label_scale(graph, "degree"); rates = prior.rates; judged = np.any(hidden, 0)
    full = _label_term(label_confidence(graph, sign, n_jobs=n_jobs), sign, trust, scale, rates)
    if confidences == "each": terms = run(n_jobs, [delayed(hidden_term)(graph, sign, h, trust, scale, rates) for h in hidden])
    else: terms = [full] * len(hidden)
    paths = run(n_jobs, [delayed(hidden_path)(graph, sign, h, terms[m], strength * scale * prior.of(by_task[m])) for m, h in enumerate(hidden)])
    t, slope = border(np.concatenate([q[h] for q, h in zip(paths, hidden)]), np.concatenate([sign[h] > 0 for h in hidden]), rates, kept)
    by = np.stack([soft_vote(graph, soft_sides(q, t, slope)) for q in paths])
    path = confidence_cut(graph, sign, full, strength * scale * prior.of(p), t_range=TRADEOFF_RANGE, n_jobs=n_jobs)
    side = soft_sides(path.join_at, t, slope); final = soft_vote(graph, side)
    return Cut(np.where(judged, honest_mean(by, hidden), final), final, by.astype(np.float32), t, slope, side, prior)

# ------------------------------------------------------------------------------------------------ second round
def clean_task(X32, codes, hidden, never, is_kept, n_trees, seed, C):
    rows = np.flatnonzero((codes >= 0) & ~hidden & is_kept); at = np.flatnonzero(hidden | never)
    m = ExtraTreesClassifier(n_trees, random_state=seed, n_jobs=1).fit(X32[rows], codes[rows])
    out = np.zeros((len(codes), C)); out[at] = columns_of(m, m.predict_proba(X32[at]), C)
    return m, out

def keep_labels(wrong, codes, is_held):
    """Labels the second round learns from: not more likely wrong than right, held ones always, and of every class at least the better half."""
    keep = is_held | (wrong <= 0.5)
    for c in range(int(codes.max()) + 1):
        rows = np.flatnonzero(codes == c); keep[rows[np.argsort(wrong[rows], kind="stable")[:-(-len(rows) // 2)]]] = True
    return keep

@dataclass
class SecondRound:
    models: list; probability: np.ndarray
    def of(self, X32, C): return np.mean([columns_of(m, m.predict_proba(X32), C) for m in self.models], 0)

def cleaned_trees(X32, codes, hidden, wrong_by_task, is_held, n_trees, seed, C, n_jobs):
    """Fully grown trees on the labels that the first round, not having seen task m's rows, does not call wrong."""
    never = ~np.any(hidden, 0)
    found = run(n_jobs, [delayed(clean_task)(X32, codes, h, never, keep_labels(np.where(h, np.inf, wrong_by_task[m]), np.where(h, -1, codes), is_held), n_trees, seed + m, C) for m, h in enumerate(hidden)])
    return SecondRound([f[0] for f in found], honest_mean(np.stack([f[1] for f in found]), hidden))

# ------------------------------------------------------------------------------------------------ stack for two classes
def log_odds(p, clip): return logit(np.clip(p[..., 1], clip, 1 - clip))

@dataclass
class Stack:
    """eta = b + sum_e w_e (i_e + c_e v_e), v_e: log-odds of an expert or the vote of the cut."""
    curves: dict; weights: dict; intercept: float
    def eta(self, values):
        return self.intercept + sum(w * (self.curves[e][0] + self.curves[e][1] * values[e]) for e, w in self.weights.items())
    def slope(self, e): return self.weights.get(e, 0.0) * self.curves[e][1] if e in self.curves else 0.0

def fit_stack(values, judged, is_positive, penalty):
    y = is_positive[judged]; curves = {}
    for e, v in values.items(): curves[e] = fit_curve(v[judged], y, penalty)
    S = np.column_stack([curves[e][0] + curves[e][1] * v[judged] for e, v in values.items()])
    b, *w = stack_weights(S, y, penalty)
    return Stack(curves, dict(zip(values, w)), b)

def fit_curve(v, y, penalty):
    """Intercept and slope of a logistic fit; the slope is pulled toward 1 (an opinion means what it says), not toward 0, and never negative.

    With n (1 - 2e)^2 of the order of the penalty the honest slope is a matter of luck; a slope of 0 would throw the opinion away."""
    A = np.column_stack([np.ones_like(v), v]); t = y.astype(float); at, p = np.array([0.0, 1.0]), np.array([1e-6, penalty])
    def f(b): return np.logaddexp(0, A @ b).sum() - t @ (A @ b) + p @ (b - at) ** 2 / 2, A.T @ (expit(A @ b) - t) + p * (b - at)
    return tuple(minimize(f, at, jac=True, method="L-BFGS-B", bounds=[(None, None), (0.0, None)]).x)

def stack_weights(S, y, penalty):
    E = S.shape[1]; w0 = np.full(E, 1 / E); t = y.astype(float)
    def f(th):
        eta = th[0] + S @ th[1:]; d = th[1:] - w0; r = expit(eta) - t
        return np.logaddexp(0, eta).sum() - t @ eta + penalty * (d @ d) / 2, np.r_[r.sum(), S.T @ r + penalty * d]
    return minimize(f, np.r_[0.0, w0], jac=True, method="L-BFGS-B", bounds=[(None, None)] + [(0, None)] * E).x

def untold_stack(values):
    """No fold can be dealt (a class has one label): opinions as they are, in equal parts; a vote of 1 is worth the clip."""
    return Stack({e: (0.0, 3.0 if e == "cut" else 1.0) for e in values}, {e: 1 / len(values) for e in values}, 0.0)

# ------------------------------------------------------------------------------------------------ noise (floor of contrary labels; see the evidence sheet for its successor)
E_GRID, G_GRID, N_BINS = np.linspace(0.0, 0.45, 91), np.geomspace(0.5, 60.0, 25), 100
def rank_floor(margin, is_contrary, C=2):
    """contrary ~ e + (top - e)(1 - u)^g, u = rank of the margin; posterior mean and sd of e under flat priors.

    top is the share of contrary labels at a border between two classes: 1/2, or with more classes (1 + e (C-2)/(C-1)) / 2."""
    n = len(margin); u = (np.argsort(np.argsort(margin, kind="stable"), kind="stable") + 0.5) / n; grid = E_GRID if C == 2 else E_GRID * 2 * (1 - 1 / C)
    b = np.minimum((u * N_BINS).astype(int), N_BINS - 1); m = np.bincount(b, minlength=N_BINS); c = np.bincount(b, is_contrary, minlength=N_BINS)
    x = 1 - (np.arange(N_BINS) + 0.5) / N_BINS; top = (1 + grid * (C - 2) / (C - 1)) / 2
    r = np.clip(grid[:, None, None] + (top - grid)[:, None, None] * x ** G_GRID[None, :, None], 1e-6, 1 - 1e-6)
    ll = (c * np.log(r) + (m - c) * np.log1p(-r)).sum(-1); w = np.exp(ll - ll.max()).sum(1); w /= w.sum(); e = float(w @ grid)
    return e, float(np.sqrt(w @ np.square(grid - e)))

def noise_rates(eta, y):
    side = eta > 0; contrary = side != y; e, _ = rank_floor(np.abs(eta), contrary); rates = NoiseRates(e, e)
    if asymmetric_rates(eta, side, y) is not None:
        (p, sp), (m, sm) = (rank_floor(np.abs(eta[side == s]), contrary[side == s]) for s in (True, False))
        if abs(p - m) > 0.15 and (min(p, m) < 0.4 * max(p, m) or abs(p - m) > 3 * np.hypot(sp, sm)): rates = NoiseRates(p, m)
    return rates.bounded(0.5 / len(y))

def match_total(p_wrong, total):
    l = logit(np.clip(p_wrong, 1e-9, 1 - 1e-9)); f = lambda k: expit(l + k).sum() - total
    return expit(l + brentq(f, -12, 12)) if f(-12) < 0 < f(12) else p_wrong

# ------------------------------------------------------------------------------------------------ pool for many classes
def log_share(p, clip):
    p = np.clip(p, clip / p.shape[-1], 1); return np.log(p / p.sum(-1, keepdims=True))

def fit_pool(L, y, T, penalty):
    """w >= 0, b: minimise -sum log q_y, q = T' softmax(b + sum_e w_e L_e): the labels are seen through the channel T (T[c, y] = P(given y | truly c))."""
    E, C = len(L), len(T); w0 = np.full(E, 1 / E); Ty = T[:, y].T
    def f(th):
        eta = np.tensordot(th[:E], L, 1) + th[E:]; p = softmax(eta, 1); j = p * Ty; q = j.sum(1, keepdims=True)
        r = p - j / q; d = th[:E] - w0
        return -np.log(q).sum() + penalty * (d @ d + th[E:] @ th[E:]) / 2, np.r_[np.tensordot(L, r, ((1, 2), (0, 1))) + penalty * d, r.sum(0) + penalty * th[E:]]
    return minimize(f, np.r_[w0, np.zeros(C)], jac=True, method="L-BFGS-B", bounds=[(0, None)] * E + [(None, None)] * C).x

def uniform_channel(e, C):
    T = np.full((C, C), e / (C - 1)); np.fill_diagonal(T, 1 - e)
    return T

@dataclass
class Pool:
    """log P_c = b_c + sum_e w_e (temper of expert e)_c, through a channel. tempers: e -> (slope, intercepts); vote curves of the cut first."""
    tempers: dict; weights: dict; intercepts: np.ndarray; votes: list; T: np.ndarray; clip: float
    def shares(self, e, v):
        if e == "cut": v = np.stack([expit(a + b * v[..., c]) for c, (a, b) in enumerate(self.votes)], -1); v = v / v.sum(-1, keepdims=True)
        return log_share(v, self.clip)
    def tempered(self, e, v): a, b = self.tempers[e]; return log_softmax(a * self.shares(e, v) + b, -1)
    def eta(self, values): return log_softmax(sum(w * self.tempered(e, values[e]) for e, w in self.weights.items()) + self.intercepts, -1)

def fit_pool_of(values, judged, codes, T, penalty, clip):
    y = codes[judged]; C = len(T); votes = []
    for c in range(C if "cut" in values else 0):
        k = fit_logistic(np.asarray(values["cut"][judged, c], float), y == c); votes.append((k.intercept, max(k.slope, 0.0)))
    pool = Pool({}, {}, np.zeros(C), votes, T, clip); L = []
    for e, v in values.items():
        x = fit_pool(pool.shares(e, v[judged])[None], y, T, 1.0); pool.tempers[e] = (x[0], x[1:]); L.append(pool.tempered(e, v[judged]))
    x = fit_pool(np.stack(L), y, T, penalty); pool.weights = dict(zip(values, x[:len(L)])); pool.intercepts = x[len(L):]
    return pool

def top_two(eta): s = np.sort(eta, 1); return s[:, -1] - s[:, -2]

def floor_many(eta, y): return rank_floor(top_two(eta), eta.argmax(1) != y, eta.shape[1])[0]

def wrong_many(eta, y, T):
    post = np.exp(eta) * T[:, y].T; post /= post.sum(-1, keepdims=True)
    return 1 - post[np.arange(len(y)), y]

# ------------------------------------------------------------------------------------------------ the recipe
@dataclass
class Result:
    probability: np.ndarray; p_wrong: np.ndarray; is_issue: np.ndarray; rates: object; weights: dict; loss: dict
    eta: np.ndarray               # honest: (n,) log-odds or (n, C) log-probabilities of the GIVEN label (two classes) or the true one (many)
    eta_final: np.ndarray         # the same with the final vote of the cut: what rows are judged by
    experts: dict; seconds: dict; predict_proba: object = None; info: dict = field(default_factory=dict)

class Clock:
    def __init__(self): self.cpu, self.wall, self.at = {}, {}, (time.process_time(), time.perf_counter())
    def tick(self, name):
        now = time.process_time(), time.perf_counter()
        self.cpu[name] = self.cpu.get(name, 0) + now[0] - self.at[0]; self.wall[name] = self.wall.get(name, 0) + now[1] - self.at[1]; self.at = now

def fit(X, codes, trust=None, seed=0, n_jobs=1, settings=Settings(), opinions=None):
    s = settings; clock = Clock(); codes = np.asarray(codes); trust = np.ones(len(codes)) if trust is None else np.asarray(trust, float)
    codes = np.where(trust == 0, -1, codes); order = canonical_order(X, codes, trust); X = np.asarray(X, float)
    back = np.empty(len(order), int); back[order] = stand_ins(X[order], codes[order], trust[order])   # equal rows answer with one voice, whatever fold they fell into
    X, scale = scale_columns(np.asarray(X, float)[order]); codes, trust = codes[order], trust[order]; C = int(codes.max()) + 1
    is_held = (codes >= 0) & np.isinf(trust); X32 = np.ascontiguousarray(X, dtype=np.float32); n = len(codes)
    folds, K, judged = deal(codes, is_held, s, seed); hidden = hidden_sets(folds, K); judged = np.any(hidden, 0); n_lab = int((codes >= 0).sum())
    n_rf, n_et, n_et2 = (s.rf_trees, s.et_trees, s.et2_trees) if n_lab <= s.thin_from else s.thin
    leaves = distinct_leaves(s.leaf_sizes, n_lab)
    experts = {"rf": grow("rf", X32, codes, hidden, leaves, n_rf, seed * 7919, C, n_jobs, s.trial_trees)}; clock.tick("rf")
    if "et" in s.experts: experts["et"] = grow("et", X32, codes, hidden, leaves, n_et, seed * 7919 + 1, C, n_jobs, weights=experts["rf"].leaf_weights); clock.tick("et")
    if "hgb" in s.experts and n_lab >= s.boost_from and K: experts["hgb"] = boost(X, codes, hidden, seed, C, n_jobs); clock.tick("hgb")
    large = n >= 10_000
    Xw = weight_columns(X, experts["rf"].importances); k_nn, width = min(10 if large else 15, n - 1), 0.5 if large else 0.75
    graph = similarity_graph(Xw, n_neighbors=k_nn, bandwidth=width, n_jobs=n_jobs); clock.tick("graph")
    ctx = Context(X, X32, Xw, codes, trust, is_held, hidden, judged, C, graph, experts, s, seed, n_jobs, n_et2, clock, opinions and {e: v[order] for e, v in opinions.items()})
    r = (fit_two if C == 2 else fit_many)(ctx)
    for a in ("probability", "p_wrong", "is_issue", "eta", "eta_final"): setattr(r, a, getattr(r, a)[back])
    r.seconds = clock.cpu; r.info |= dict(leaf=dict(zip(leaves, np.round(experts['rf'].leaf_weights, 3).tolist())), deals=len(folds), folds=K, wall=clock.wall)
    new_rows = r.predict_proba
    r.predict_proba = lambda Xn: new_rows(scale.apply(Xn), weight_columns(scale.apply(Xn), experts["rf"].importances), Xw, k_nn, width)
    return r

@dataclass
class Context:
    X: np.ndarray; X32: np.ndarray; Xw: np.ndarray; codes: np.ndarray; trust: np.ndarray; is_held: np.ndarray; hidden: list; judged: np.ndarray; C: int
    graph: object; experts: dict; s: Settings; seed: int; n_jobs: int; n_et2: int; clock: Clock; opinions: dict | None

def vote_of_new(Xw_new, Xw, k, width, sides):
    """Weighted mean of the sides of the k nearest fitted rows, one column per cut."""
    from sklearn.neighbors import NearestNeighbors
    d, i = NearestNeighbors(n_neighbors=k).fit(Xw).kneighbors(Xw_new)
    w = np.exp(-d ** 2 / (Xw.shape[1] * 2 * width ** 2)); w = np.where(w.sum(1, keepdims=True) > 0, w, 1.0); w /= w.sum(1, keepdims=True)
    return np.stack([(w * s[i]).sum(1) for s in sides], 1)

def fit_two(c):
    s = c.s; lab = c.codes >= 0; pos = c.codes == 1; sign = np.where(lab, np.where(pos, 1, -1), 0); rf = c.experts["rf"]; fitted = c.judged.any()
    e = rank_floor(np.abs(log_odds(rf.probability, s.clip)[c.judged]), (rf.probability[c.judged, 1] > .5) != pos[c.judged])[0] if fitted else 0.0
    cut = honest_cut(c.graph, sign, c.trust, c.hidden, rf.by_task[..., 1], rf.probability[:, 1], s.strength, s.confidences[0], "auto", 1 - 2 * min(e, .45) if s.noise_slope else 1.0, c.n_jobs); c.clock.tick("cut")
    values = {e: log_odds(x.probability, s.clip) for e, x in c.experts.items() if e in s.experts} | {"cut": cut.honest}
    values |= {e: logit(np.clip(v, s.clip, 1 - s.clip)) for e, v in (c.opinions or {}).items()}
    order = lambda v: {e: v[e] for e in (*s.experts, *(c.opinions or {})) if e in v}
    solve = lambda v: fit_stack(order(v), c.judged, pos, s.penalty) if fitted else untold_stack(order(v))
    if "et2" in s.experts and fitted:
        base = {e: v for e, v in values.items() if e in ("rf", "et", "cut")}
        first = fit_stack(base, c.judged, pos, s.penalty); rates = noise_rates(first.eta(base)[c.judged], pos[c.judged])
        wrong = []
        for m in range(len(c.hidden)):
            v = {e: log_odds(c.experts[e].by_task[m], s.clip) for e in base if e != "cut"} | {"cut": cut.by_task[m]}
            wrong.append(wrong_label_probability(true_class_probability(expit(first.eta(v)), rates), pos, rates))
        c.experts["et2"] = cleaned_trees(c.X32, c.codes, c.hidden, wrong, c.is_held, c.n_et2, c.seed * 7919 + 2, 2, c.n_jobs)
        values["et2"] = log_odds(c.experts["et2"].probability, s.clip); c.clock.tick("et2")
    st = solve(values); eta = st.eta(values); eta_final = eta + st.slope("cut") * (cut.final - cut.honest)
    rates = noise_rates(eta[c.judged], pos[c.judged]) if fitted else NoiseRates(0, 0).bounded(.5 / lab.sum())
    prob, p_wrong = judge_two(eta_final, lab, pos, c.is_held, rates)
    flag = np.zeros(len(lab), bool); flag[lab] = flag_by_expected_f1(p_wrong[lab]); flag &= lab & ((prob > .5) != pos)
    loss = {e: float(np.logaddexp(0, -sign[c.judged] * (st.curves[e][0] + st.curves[e][1] * values[e][c.judged])).mean()) for e in st.weights} if fitted else {}
    c.clock.tick("stack")
    def new_rows(X, Xw_new, Xw, k, width):
        X32 = np.ascontiguousarray(X, dtype=np.float32)
        v = {e: log_odds(x.of(X if e == "hgb" else X32, 2), s.clip) for e, x in c.experts.items() if e in st.weights} | {"cut": vote_of_new(Xw_new, Xw, k, width, [cut.side])[:, 0]}
        p = true_class_probability(expit(st.eta(v)), rates); return np.column_stack([1 - p, p])
    return Result(np.column_stack([1 - prob, prob]), p_wrong, flag, rates, st.weights, loss, eta, eta_final, values, {}, new_rows, dict(t=cut.tradeoff, slope=cut.slope, intercept=st.intercept))

def judge_two(eta, lab, pos, is_held, rates):
    prob = true_class_probability(expit(eta), rates); pw = np.full(len(lab), np.nan); share = prob[lab].mean()
    pw[lab] = wrong_label_probability(prob[lab], pos[lab], rates)
    free = lab & ~is_held
    if free.any(): pw[free] = match_total(pw[free], free.sum() * (share * rates.positive + (1 - share) * rates.negative))
    prob[is_held], pw[is_held] = pos[is_held], 0.0
    return prob, pw

def fit_many(c):
    s = c.s; C = c.C; lab = c.codes >= 0; rf = c.experts["rf"]; fitted = c.judged.any(); y = c.codes[c.judged]
    e = floor_many(log_share(rf.probability[c.judged], s.clip), y) if fitted else 0.0; T = uniform_channel(e, C); kept = max(1 - e - e / (C - 1), .1)
    cuts = run(c.n_jobs, [delayed(honest_cut)(c.graph, np.where(lab, np.where(c.codes == k, 1, -1), 0), c.trust, c.hidden, rf.by_task[..., k], rf.probability[:, k], s.strength_many, s.confidences[1], "symmetric", kept, 1) for k in range(C)])
    c.clock.tick("cut")
    H, F = (np.stack([getattr(x, a) for x in cuts], 1) for a in ("honest", "final")); B = np.stack([x.by_task for x in cuts], 2)
    values = {e: x.probability for e, x in c.experts.items() if e in s.experts} | {"cut": H}
    if "et2" in s.experts:
        base = {e: v for e, v in values.items() if e in ("rf", "et", "cut")}; first = fit_pool_of(base, c.judged, c.codes, T, s.penalty, s.clip)
        T1 = uniform_channel(floor_many(first.eta(base)[c.judged], y), C); wrong = []
        for m in range(len(c.hidden)):
            w = np.zeros(len(lab)); v = {e: c.experts[e].by_task[m] for e in base if e != "cut"} | {"cut": B[m]}
            w[lab] = wrong_many(first.eta({e: x[lab] for e, x in v.items()}), c.codes[lab], T1); wrong.append(w)
        c.experts["et2"] = cleaned_trees(c.X32, c.codes, c.hidden, wrong, c.is_held, c.n_et2, c.seed * 7919 + 2, C, c.n_jobs)
        values["et2"] = c.experts["et2"].probability; c.clock.tick("et2")
    pool = fit_pool_of(values, c.judged, c.codes, T, s.penalty, s.clip); eta = pool.eta(values); e = floor_many(eta[c.judged], y); T = uniform_channel(e, C)
    eta_final = pool.eta(values | {"cut": F}); P = np.exp(eta_final); pw = np.full(len(lab), np.nan); pw[lab] = wrong_many(eta_final[lab], c.codes[lab], T)
    free = lab & ~c.is_held; pw[free] = match_total(pw[free], free.sum() * e); pw[c.is_held] = 0.0; P[c.is_held] = np.eye(C)[c.codes[c.is_held]]
    flag = np.zeros(len(lab), bool); flag[lab] = flag_by_expected_f1(pw[lab]); flag &= lab & (P.argmax(1) != c.codes)
    loss = {q: float(-np.log((np.exp(pool.tempered(q, values[q][c.judged])) * T[:, y].T).sum(1)).mean()) for q in pool.weights}; c.clock.tick("stack")
    def new_rows(X, Xw_new, Xw, k, width):
        X32 = np.ascontiguousarray(X, dtype=np.float32)
        v = {q: x.of(X if q == "hgb" else X32, C) for q, x in c.experts.items() if q in pool.weights} | {"cut": vote_of_new(Xw_new, Xw, k, width, [x.side for x in cuts])}
        return np.exp(pool.eta(v))
    return Result(P, pw, flag, T, pool.weights, loss, eta, eta_final, values, {}, new_rows, dict(noise=e, tempers={q: t[0] for q, t in pool.tempers.items()}))

