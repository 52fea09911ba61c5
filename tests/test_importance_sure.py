"""How sure importances are, trees of scikit-learn, gaps of contributions: against plain loops and known truth."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from scipy.stats import t, ttest_ind

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
    def models(self, y, three):
        """Models and their labels, two values or three."""
        ensemble, tree = pytest.importorskip("sklearn.ensemble"), pytest.importorskip("sklearn.tree")
        options = {"max_depth": 3, "random_state": 0}
        yield tree.DecisionTreeClassifier(**options), y
        yield ensemble.RandomForestClassifier(5, **options), y
        yield ensemble.RandomForestClassifier(2, **options), three
        yield ensemble.GradientBoostingClassifier(n_estimators=5, **options), y
        yield ensemble.GradientBoostingClassifier(n_estimators=2, **options), three
        yield ensemble.ExtraTreesRegressor(5, **options), y

    @pytest.mark.parametrize(("metric", "node_value"), [*product(("dp", "eo"), ("label", "prob"))])
    def test_it_is_the_definition(self, metric, node_value):
        X, y, group = biased(0, 300)
        for model, label in self.models(y, y + (X[:, 1] > 1)):
            model.fit(X, label)
            # The bound tells a probability from that of the other class.
            bound = node_value == "prob"
            how = {"metric": metric, "node_value": node_value, "bound": bound, "normalize": False}
            table = fair_importance(model, X, label, sensitive_features=group, **how)
            members = np.asarray(getattr(model, "estimators_", [model]))
            result = model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)[:, None]
            several, expected = len(np.unique(label)) > 2, np.zeros(4)
            for output in range(3) if several else (1,):
                # Boosting has trees for each class, in a forest every tree is of all of them.
                own = members[:, output] if several and members.ndim == 2 else members.ravel()
                value = label == output if node_value == "label" else result[:, output if several else -1]
                compared = label == output if metric == "eo" else np.ones(len(X), bool)
                score = sum(self.by_definition(item.tree_, X, value, compared, group, bound) for item in own)
                expected += score
                if several:
                    np.testing.assert_allclose(table[f"fair_importance[class={output}]"], score, atol=1e-12)
            np.testing.assert_allclose(table["fair_importance"], expected, atol=1e-12)
            # The decrease in impurity, which scikit-learn normalises.
            trees = [item.tree_.compute_feature_importances(normalize=False) for item in members.ravel()]
            np.testing.assert_allclose(table["total_gain"], np.sum(trees, axis=0))
            # Its own trees, no surrogate.
            assert table.attrs["surrogate"] is None
            assert table.attrs["n_trees"] == members.size
            assert table.attrs["iteration_range"] == (0, len(members))

    def by_definition(self, tree, X, value, counted, group, bound):
        """The bias of a level, less that of its children, row by row."""
        passes = tree.decision_path(X.astype(np.float32)).toarray().astype(bool)
        scores, bias = np.zeros(X.shape[1]), {0: 0.0}
        for node in range(tree.node_count):
            children = [tree.children_left[node], tree.children_right[node]]
            if children[0] < 0:
                continue
            here = passes[:, node] & counted
            below = bias[node]
            if here[group == 0].any() and here[group == 1].any():
                terms = [
                    value[passes[:, child]].mean()
                    * (
                        (passes[:, child] & here)[group == 0].sum() / here[group == 0].sum()
                        - (passes[:, child] & here)[group == 1].sum() / here[group == 1].sum()
                    )
                    for child in children
                ]
                below = sum(map(abs, terms)) if bound else abs(sum(terms))
            scores[tree.feature[node]] += passes[:, node].mean() * (bias[node] - below)
            bias |= dict.fromkeys(children, below)
        return scores

    def test_what_is_no_model_of_one_output(self):
        ensemble = pytest.importorskip("sklearn.ensemble")
        X, y, group = biased(0, 200)
        for kind in (ensemble.RandomForestClassifier, ensemble.RandomForestRegressor):
            both = kind(2, max_depth=2).fit(X, np.column_stack([y, y]))
            with pytest.raises(ValueError, match=r"scikit-learn.*one output.*several"):
                fair_importance(both, X, y, sensitive_features=group)
        single = ensemble.RandomForestClassifier(2, max_depth=2).fit(X, y)
        with pytest.warns(UserWarning, match=r"none in group 1: their"):
            fair_importance(single, X, y * (1 - group), sensitive_features=group, metric="eo")
        with pytest.raises(ValueError, match=r"sensitive_features must .* 199 rows of X, got 200"):
            fair_importance(single, X[1:], y, sensitive_features=group)


class TestIntervals:
    def test_values_are_those_without(self):
        X, y, group = biased(2)
        booster = trained(X, y)
        plain = fair_importance(booster, X, y, sensitive_features=group)
        sure = fair_importance(booster, X, y, sensitive_features=group, confidence=0.95)
        ends = ["fair_importance_low", "fair_importance_high"]
        pd.testing.assert_frame_equal(sure.drop(columns=ends), plain)
        assert list(sure) == ["fair_importance", *ends, "gain", "total_gain"]
        assert (sure["fair_importance_low"] <= plain["fair_importance"]).all()
        # More sure, wider.
        surer = fair_importance(booster, X, y, sensitive_features=group, confidence=0.999)
        assert (surer["fair_importance_low"] < sure["fair_importance_low"]).all()

    @pytest.mark.parametrize(("normalize", "n_trees"), [(True, 2), (False, 3)])
    def test_rows_and_trees_are_jackknifed(self, normalize, n_trees):
        X, y, group = biased(3, 200)
        group = group + (X[:, 3] > 0)
        booster = trained(X, y, n_trees)

        def score(rows=slice(None), **how):
            table = fair_importance(booster, X[rows], y[rows], sensitive_features=group[rows], **how)
            return table["fair_importance"].to_numpy()

        how = {"confidence": 0.95, "normalize": normalize}
        table = fair_importance(booster, X, y, sensitive_features=group, **how)
        part = np.random.default_rng(0).permutation(200) % 20
        without_rows = np.array([score(part != k, normalize=normalize) for k in range(20)])
        trees = np.array([score(normalize=False, iteration_range=(i, i + 1)) for i in range(n_trees)])
        # Two trees of three count for three.
        without_trees = n_trees / (n_trees - 1) * (trees.sum(axis=0) - trees)
        if normalize:
            without_trees /= np.abs(without_trees).sum(axis=1, keepdims=True)
        variance = sum(
            (len(without) - 1) / len(without) * np.square(without - without.mean(axis=0)).sum(axis=0)
            for without in (without_rows, without_trees)
        )
        half = (table["fair_importance_high"] - table["fair_importance_low"]) / 2
        # Twenty parts of the rows, two or three of the trees, and Student's t for four features together.
        np.testing.assert_allclose(half, t.ppf(1 - 0.05 / 4 / 2, n_trees - 1) * np.sqrt(variance), rtol=1e-9)
        middle = (table["fair_importance_high"] + table["fair_importance_low"]) / 2
        np.testing.assert_allclose(middle, table["fair_importance"], atol=1e-12)

    def test_one_tree_supports_no_sign(self):
        X, y, group = biased(3, 200)
        table = fair_importance(trained(X, y, 1), X, y, sensitive_features=group, confidence=0.95)
        assert table["fair_importance"].notna().all()
        assert table[["fair_importance_low", "fair_importance_high"]].isna().all(axis=None)


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

    def test_a_group_of_one_row_is_not_sure(self):
        X, y, group = biased(6, 200)
        group[:] = 0
        group[0] = 1
        table = shap_gap(trained(X, y), X, sensitive_features=group)
        assert (table["sign"] == "not supported").all()
        assert np.isinf(table["shap_gap_high"]).all()

    def test_the_intervals_are_those_of_welch(self):
        X, y, _ = biased(5, 200)
        few = 9
        group, weight = np.where(np.arange(200) < few, "few", "many"), np.arange(200) % 3 + 1.0
        booster = trained(X, y)
        result = booster.predict(xgb.DMatrix(X), pred_contribs=True).astype(float)[:, :-1]
        sides = [result[group == name] for name in ("few", "many")]
        keywords = {"sensitive_features": group, "between": ("few", "many"), "confidence": 0.9}
        table = shap_gap(booster, X, **keywords)
        error = (sides[0].mean(axis=0) - sides[1].mean(axis=0)) / ttest_ind(*sides, equal_var=False).statistic
        # Student's t of the smaller group, for four features together.
        half = t.ppf(1 - 0.1 / 4 / 2, few - 1) * error
        np.testing.assert_allclose(table["shap_gap_high"] - table["shap_gap"], half)
        low, high = table["shap_gap_low"], table["shap_gap_high"]
        signs = ["+" if a > 0 else "-" if b < 0 else "not supported" for a, b in zip(low, high, strict=True)]
        assert table["sign"].tolist() == signs
        # With weights, of as many equal rows as tell as much.
        table, variance, rows = shap_gap(booster, X, sample_weight=weight, **keywords), 0.0, []
        for name in ("few", "many"):
            own, w = result[group == name], weight[group == name, None]
            rows.append(w.sum() ** 2 / (w**2).sum())
            apart = own - (w * own).sum(axis=0) / w.sum()
            variance += ((w * apart) ** 2).sum(axis=0) / w.sum() ** 2 / (1 - 1 / rows[-1])
        half = t.ppf(1 - 0.1 / 4 / 2, max(int(min(rows) - 1), 1)) * np.sqrt(variance)
        np.testing.assert_allclose(table["shap_gap"] - table["shap_gap_low"], half)

    def test_the_groups_are_those_furthest_apart(self):
        X, y, _ = biased(5, 200)
        group, weight = np.repeat(list("abc"), (20, 60, 120)), np.linspace(1, 9, 200)
        booster = trained(X, y)
        for w, rounds in product((None, weight), (None, (0, 5))):
            keywords = {"sample_weight": w, "iteration_range": rounds}
            margin = booster.predict(xgb.DMatrix(X), output_margin=True, iteration_range=rounds or (0, 0))
            means = {name: np.average(margin, weights=(group == name) * (1 if w is None else w)) for name in "abc"}
            table = shap_gap(booster, X, sensitive_features=group, **keywords)
            assert table.attrs["between"] == (max(means, key=means.get), min(means, key=means.get))
            assert table.attrs["gap"] == pytest.approx(max(means.values()) - min(means.values()), abs=1e-5)
        # Where nobody is apart, the first and the last; and nothing is supported.
        table = shap_gap(trained(X, y, 0), X, sensitive_features=group)
        assert table.attrs["between"] == ("a", "c")
        assert (table["sign"] == "not supported").all()

    def test_wrong_input(self):
        X, y, group = biased(7, 100)
        with pytest.raises(ValueError, match=r"confidence.*0.*1.*95"):
            shap_gap(trained(X, y, 1), X, sensitive_features=group, confidence=95)
        with pytest.raises(ValueError, match="one group only, 'a'"):
            shap_gap(trained(X, y, 1), X, sensitive_features=["a"] * 100)

    @pytest.mark.parametrize("between", [(0, 0), (0, 7), (0,)])
    def test_unknown_groups_are_refused(self, between):
        X, y, _ = biased(7, 100)
        group = np.arange(100) % 3
        with pytest.raises(ValueError, match=r"between.*0.*1.*2"):
            shap_gap(trained(X, y), X, sensitive_features=group, between=between)

    def test_several_outputs_are_refused(self):
        X, y, group = biased(8, 100)
        booster = xgb.train({**PARAMS, "objective": "multi:softprob", "num_class": 2}, xgb.DMatrix(X, y), 2)
        with pytest.raises(ValueError, match="one output"):
            shap_gap(booster, X, sensitive_features=group)


def test_what_is_the_same_in_all_rows_has_no_sign():
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"a": rng.normal(size=400), "constant": rng.normal(size=400)})
    booster = xgb.train({"max_depth": 1, "nthread": 1}, xgb.DMatrix(x, x.sum(axis=1) > 0), 20)
    for weight in (None, rng.uniform(0.1, 2, 400)):
        group = rng.integers(0, 2, 400)
        found = shap_gap(booster, x.assign(constant=1.0), sensitive_features=group, sample_weight=weight)
        assert found.loc["constant", ["shap_gap", "shap_gap_low", "shap_gap_high"]].tolist() == [0, 0, 0]
        assert found.loc["constant", "sign"] == "not supported"
