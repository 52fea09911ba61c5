"""The boosted methods: the paper's, the teacher variants, the controls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
from sklearn.metrics import roc_auc_score

from benchmarks.methods._method import Method
from benchmarks.modes.fold_work import CROSSFIT, FoldWork, Scores, best_scores
from benchmarks.modes.paper import paper_alphas

ALPHA_WITHOUT_PAPER = 0.1
KL_WEIGHTS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)
Q = npt.NDArray[np.float32]
Train = Callable[[FoldWork, float], Scores]


def with_paper_alpha(train: Train, method: str, work: FoldWork) -> Scores:
    """The student with the paper's alpha for this set."""
    return train(work, paper_alphas().get((work.dataset.name, method), ALPHA_WITHOUT_PAPER))


def with_chosen_weight(train: Train, work: FoldWork, kl_weights: Sequence[float] = KL_WEIGHTS) -> Scores:
    """The student whose kl_weight has the highest AUC on the validation rows, the smaller of equal ones."""
    labels = work.labels("valid")
    best, best_auc = None, -np.inf
    for kl_weight in sorted(kl_weights):
        scores = train(work, kl_weight)
        auc = roc_auc_score(labels, scores.valid)
        if auc > best_auc:
            best, best_auc = scores, auc
    if best is None:
        raise ValueError("expected at least one kl_weight to choose from, got none")
    return best


def kbpib(q_of: Callable[[FoldWork], Q], work: FoldWork, kl_weight: float) -> Scores:
    """A student of a fixed q; at weight 0 it is NF, whatever q is."""
    if kl_weight == 0:
        return weightless(work)
    return work.scored(work.boost(teacher=q_of(work), kl_weight=kl_weight), kl_weight=kl_weight)


def jpib(work: FoldWork, kl_weight: float) -> Scores:
    """Student and teacher boosted together."""
    if kl_weight == 0:
        return weightless(work)
    guidance = {"privileged": work.matrix("z", "train"), "method": "jpib", "teacher_weight": work.every_row}
    return work.scored(work.boost(kl_weight=kl_weight, **guidance), kl_weight=kl_weight)


def weightless(work: FoldWork) -> Scores:
    """NF as a student of weight 0."""
    plain = work.plain("x")
    return Scores(plain.valid, plain.test, 0.0, plain.trees)


def in_sample(work: FoldWork) -> Q:
    """The paper's teacher: on z, judging the rows that it was trained on."""
    return work.teacher("z")


def cross_fitted(work: FoldWork) -> Q:
    """On z, each row judged by a teacher that did not see it."""
    return work.teacher("z", CROSSFIT)


def all_features(work: FoldWork) -> Q:
    """Cross-fitted on x and z."""
    return work.teacher("xz", CROSSFIT)


def self_distilled(work: FoldWork) -> Q:
    """Control: cross-fitted on x alone, so that nothing privileged is in it."""
    return work.teacher("x", CROSSFIT)


def mixed(columns: str, work: FoldWork) -> Q:
    """Boosting, a forest and a linear model, cross-fitted on these columns."""
    return work.teacher(columns, CROSSFIT, "mixed")


def shuffled(work: FoldWork) -> Q:
    """Control: the q of `all_features`, dealt to the rows at random, so that nothing but its spread is left."""
    generator = np.random.default_rng([work.mode.seed, work.rows.number])
    return generator.permutation(all_features(work))


def on_all(work: FoldWork) -> Scores:
    """Trained on x and z; at prediction each column of z holds its most frequent training value."""
    booster = work.boost("xz")
    table, _ = work.features("xz", "train")
    usual = {table.columns[i]: table.iloc[:, i].mode().iloc[0] for i in work.dataset.privileged}

    def scores(rows: str) -> npt.NDArray[np.float32]:
        known, types = work.features("xz", rows)
        return best_scores(booster, work.as_matrix(known.assign(**usual), types, rows))

    return Scores(scores("valid"), scores("test"), trees=booster.best_iteration + 1)


def plain_on(columns: str, work: FoldWork) -> Scores:
    """Plain boosting."""
    return work.plain(columns)


in_sample_student = partial(kbpib, in_sample)
BOTH = ("paper", "current")


def chosen(q_of: Callable[[FoldWork], Q]) -> Callable[[FoldWork], Scores]:
    """KbPIB with this q and kl_weight chosen on validation."""
    return partial(with_chosen_weight, partial(kbpib, q_of))


BOOSTED = (
    Method("NF", partial(plain_on, "x"), 0, BOTH),
    Method("KbPIB", partial(with_paper_alpha, in_sample_student, "KbPIB"), 0, BOTH),
    Method("JPIB", partial(with_paper_alpha, jpib, "JPIB"), 0, BOTH),
    Method("PF", partial(plain_on, "z"), 1, BOTH),
    Method("All", on_all, 1, BOTH),
    Method("KbPIB chosen", chosen(in_sample), 2),
    Method("KbPIB cross-fitted", chosen(cross_fitted), 2),
    Method("KbPIB all features", chosen(all_features), 2),
    Method("mixed with z", chosen(partial(mixed, "xz")), 2),
    Method("mixed without z", chosen(partial(mixed, "x")), 2),
    Method("self-distillation", chosen(self_distilled), 2),
    Method("shuffled q", chosen(shuffled), 2),
    Method("JPIB chosen", partial(with_chosen_weight, jpib), 3),
)
