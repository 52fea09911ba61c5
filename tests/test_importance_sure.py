"""How sure importances are, trees of scikit-learn, gaps of contributions: against plain loops and known truth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from scipy.stats import t

from pi_xgb.importance import fair_importance, shap_gap

PARAMS = {"objective": "binary:logistic", "max_depth": 3, "nthread": 1}


def biased(seed, n=600):
    """Feature 0 differs between the groups and counts, 1 counts alone, 2 differs alone, 3 is noise."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 4))
    X[:, [0, 2]] += group[:, None]
    y = (X[:, 0] + X[:, 1] + rng.normal(size=n) > 0.5).astype(int)
    return X, y, group


def trained(X, y, rounds=20):
    return xgb.train(PARAMS, xgb.DMatrix(X, y), rounds)


class TestScikitLearn:
    def models(self):
        ensemble, tree = pytest.importorskip("sklearn.ensemble"), pytest.importorskip("sklearn.tree")
        options = {"max_depth": 3, "random_state": 0}
        yield tree.DecisionTreeClassifier(**options)
        yield ensemble.RandomForestClassifier(5, **options)
        yield ensemble.GradientBoostingClassifier(n_estimators=5, **options)
        yield ensemble.ExtraTreesRegressor(5, **options)

    @pytest.mark.parametrize("metric", ["dp", "eo"])
    def test_it_is_the_definition(self, metric):
        X, y, group = biased(0)
        for model in self.models():
            model.fit(X, y)
            table = fair_importance(model, X, y, sensitive_features=group, metric=metric, normalize=False)
            members = np.ravel(getattr(model, "estimators_", [model]))
            expected = sum(self.by_definition(member.tree_, X, y, group, metric) for member in members)
            np.testing.assert_allclose(table["fair_importance"], expected, atol=1e-12)
            # Its own trees, no surrogate.
            assert table.attrs["surrogate"] is None
            assert table.attrs["n_trees"] == len(members)

    def by_definition(self, tree, X, y, group, metric):
        """The bias of a level, less that of its children, row by row."""
        passes = tree.decision_path(X.astype(np.float32)).toarray().astype(bool)
        counted = y == 1 if metric == "eo" else np.ones(len(y), bool)
        scores, bias = np.zeros(X.shape[1]), {0: 0.0}
        for node in range(tree.node_count):
            children = [tree.children_left[node], tree.children_right[node]]
            if children[0] < 0:
                continue
            here = passes[:, node] & counted
            value = sum(
                y[passes[:, child]].mean()
                * (
                    (passes[:, child] & here)[group == 0].sum() / here[group == 0].sum()
                    - (passes[:, child] & here)[group == 1].sum() / here[group == 1].sum()
                )
                for child in children
            ) if here[group == 0].any() and here[group == 1].any() else None  # fmt: skip
            below = bias[node] if value is None else abs(value)
            scores[tree.feature[node]] += passes[:, node].mean() * (bias[node] - below)
            bias |= dict.fromkeys(children, below)
        return scores

    def test_classes_and_gains(self):
        ensemble = pytest.importorskip("sklearn.ensemble")
        X, y, group = biased(1)
        three = np.array(["no", "maybe", "yes"])[y + (X[:, 1] > 1)]
        frame = pd.DataFrame(X, columns=list("abcd"))
        forest = ensemble.RandomForestClassifier(5, max_depth=3, random_state=0).fit(frame, three)
        table = fair_importance(forest, frame, three, sensitive_features=group)
        assert {f"fair_importance[class={name}]" for name in ("no", "maybe", "yes")} <= set(table)
        assert list(table.index) == list("abcd")
        # scikit-learn's own importance, which adds up to 1 over all trees here and in each of them there.
        own = np.sum([tree.tree_.compute_feature_importances(normalize=False) for tree in forest.estimators_], axis=0)
        np.testing.assert_allclose(table["total_gain"], own / own.sum(), rtol=1e-9)
        # With parameters for a surrogate it is one.
        asked = fair_importance(forest, frame, three, sensitive_features=group, surrogate_params={"max_depth": 2})
        assert asked.attrs["surrogate"] is not None


class TestIntervals:
    def test_values_are_those_without(self):
        X, y, group = biased(2)
        booster = trained(X, y)
        plain = fair_importance(booster, X, y, sensitive_features=group)
        sure = fair_importance(booster, X, y, sensitive_features=group, confidence=0.95)
        pd.testing.assert_frame_equal(sure.drop(columns=["fair_importance_low", "fair_importance_high"]), plain)
        assert (sure["fair_importance_low"] <= plain["fair_importance"]).all()
        # More sure, wider.
        surer = fair_importance(booster, X, y, sensitive_features=group, confidence=0.999)
        assert (surer["fair_importance_low"] < sure["fair_importance_low"]).all()

    def test_rows_are_jackknifed(self):
        X, y, group = biased(3, 200)
        booster = trained(X, y, 2)
        table = fair_importance(booster, X, y, sensitive_features=group, confidence=0.95)
        part = np.random.default_rng(0).permutation(200) % 20
        without = np.array(
            [
                fair_importance(booster, X[part != k], y[part != k], sensitive_features=group[part != k])[
                    "fair_importance"
                ]
                for k in range(20)
            ]
        )
        error = np.sqrt(19 / 20 * np.square(without - without.mean(axis=0)).sum(axis=0))
        trees = [
            fair_importance(booster, X, y, sensitive_features=group, iteration_range=(i, i + 1))["fair_importance"]
            for i in range(2)
        ]
        of_trees = np.abs(trees[0] - trees[1]) / 2
        half = (table["fair_importance_high"] - table["fair_importance_low"]) / 2
        # Twenty parts of the rows, two of the trees, and Student's t for four features together.
        np.testing.assert_allclose(half, t.ppf(1 - 0.05 / 4 / 2, 1) * np.hypot(error, of_trees), rtol=1e-9)

    def test_one_tree_supports_no_sign(self):
        X, y, group = biased(3, 200)
        table = fair_importance(trained(X, y, 1), X, y, sensitive_features=group, confidence=0.95)
        assert table["fair_importance"].notna().all()
        assert table[["fair_importance_low", "fair_importance_high"]].isna().all(axis=None)

    def test_the_sign_is_right_or_not_supported(self):
        wrong = supported = 0
        for seed in range(50):
            X, y, group = biased(seed, 400)
            table = shap_gap(trained(X, y, 10), X, sensitive_features=group, between=(1, 0))
            wrong += table.loc["f0", "sign"] == "-" or table.loc["f3", "sign"] != "not supported"
            supported += table.loc["f0", "sign"] == "+"
            if seed < 15:
                fair = fair_importance(trained(X, y, 10), X, y, sensitive_features=group, confidence=0.95)
                wrong += fair.loc["f0", "fair_importance_low"] > 0
        # The feature that favours a group by construction is never said to favour the other.
        assert wrong <= 2
        assert supported >= 48


class TestShapGap:
    def test_it_adds_up_to_the_gap_of_margins(self):
        X, y, group = biased(4)
        booster = trained(X, y)
        margin = booster.predict(xgb.DMatrix(X), output_margin=True)
        table = shap_gap(booster, X, sensitive_features=group)
        gap = margin[group == 1].mean() - margin[group == 0].mean()
        # All of it, from the group with the higher mean to the one with the lower.
        assert table["shap_gap"].sum() == pytest.approx(gap, abs=1e-5)
        assert table.attrs["between"] == (1, 0)
        assert table.index.name == "feature"
        assert table.attrs["gap"] == pytest.approx(gap, abs=1e-5)
        # The other way round every sign turns.
        turned = shap_gap(booster, X, sensitive_features=group, between=(0, 1))
        np.testing.assert_allclose(turned["shap_gap"], -table["shap_gap"])
        np.testing.assert_allclose(turned["shap_gap_low"], -table["shap_gap_high"])

    def test_rows_may_be_weighted_or_repeated(self):
        X, y, group = biased(5, 200)
        booster, twice = trained(X, y), np.arange(200) % 2 + 1
        weighted = shap_gap(booster, X, sensitive_features=group, sample_weight=twice)
        rows = np.repeat(np.arange(200), twice)
        repeated = shap_gap(booster, X[rows], sensitive_features=group[rows])
        np.testing.assert_allclose(weighted["shap_gap"], repeated["shap_gap"], atol=1e-6)

    def test_a_group_of_one_row_is_not_sure(self):
        X, y, group = biased(6, 200)
        group[:] = 0
        group[0] = 1
        table = shap_gap(trained(X, y), X, sensitive_features=group)
        assert (table["sign"] == "not supported").all()
        assert np.isinf(table["shap_gap_high"]).all()

    @pytest.mark.parametrize("between", [(0, 0), (0, 7), (0,)])
    def test_unknown_groups_are_refused(self, between):
        X, y, group = biased(7, 100)
        with pytest.raises(ValueError, match="between must name two of the groups 0, 1, got"):
            shap_gap(trained(X, y), X, sensitive_features=group, between=between)

    def test_several_outputs_are_refused(self):
        X, y, group = biased(8, 100)
        booster = xgb.train({**PARAMS, "objective": "multi:softprob", "num_class": 2}, xgb.DMatrix(X, y), 2)
        with pytest.raises(ValueError, match="one output"):
            shap_gap(booster, X, sensitive_features=group)
