"""How labelled rows differ from the others: known propensities, known differences, and weights that balance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from matplotlib.figure import Figure
from scipy import stats
from sklearn.metrics import roc_auc_score

from pi_xgb import labels

N = 1200


def features(n=N, seed=0):
    rng = np.random.default_rng(seed)
    x = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    return x, pd.DataFrame({"c": rng.normal(size=n), "kind": pd.Categorical(rng.choice(["u", "v", "w"], n))})


def labelled_by(score, seed=1):
    return np.random.default_rng(seed).random(len(score)) < 1 / (1 + np.exp(-score))


@pytest.fixture(scope="module")
def shifted():
    x, z = features()
    x.loc[::9, "b"] = np.nan
    return x, z, labelled_by(1.5 * x["a"] - 1), labels.shift(x, z, labelled_by(1.5 * x["a"] - 1))


def test_the_auc_is_that_of_unseen_rows(shifted):
    x, _, known, found = shifted
    # The best possible ranking of these rows, which the models do not reach.
    best = roc_auc_score(known, x["a"])
    assert found.auc.low < found.auc.mean < found.auc.high < 1
    assert found.auc.mean == pytest.approx(roc_auc_score(known, found.propensity), abs=0.02)
    assert best - 0.1 < found.auc.mean < best
    assert f"AUC {found.auc.mean:.2f} (95 % CI {found.auc.low:.2f} to {found.auc.high:.2f})" in str(found)


def test_columns_differ_by_the_largest_gap_of_their_distributions(shifted):
    x, z, known, found = shifted
    table = found.columns
    assert table.index[0] == "a"
    for column in ("a", "c"):
        rows = pd.concat([x, z], axis=1)[column]
        assert table.loc[column, "difference"] == pytest.approx(stats.ks_2samp(rows[known], rows[~known]).statistic)
    shares = pd.crosstab(z["kind"], known, normalize="columns")
    assert table.loc["kind", "difference"] == pytest.approx(abs(shares[True] - shares[False]).sum() / 2)
    assert table.loc["a", "labelled"] == pytest.approx(x["a"][known].mean())
    assert table.loc["b", "missing_unlabelled"] == pytest.approx(x["b"][~known].isna().mean())
    assert np.isnan(table.loc["kind", "labelled"])
    assert table.loc["a", "by_chance"] == pytest.approx(
        stats.kstwobign.ppf(0.95) * np.sqrt(1 / known.sum() + 1 / (~known).sum()), rel=2e-3
    )
    a = table.loc["a"]
    assert f"(by chance): a {a['difference']:.2f} ({a['by_chance']:.2f}), " in str(found)


def test_weights_make_labelled_rows_like_the_others(shifted):
    x, _, known, found = shifted
    a = x["a"].to_numpy()
    plain, weighted = a[known].mean(), np.average(a[known], weights=found.weights[known])
    target = a[~known].mean()
    assert abs(weighted - target) < 0.4 * abs(plain - target)
    assert (found.weights[~known] == 1).all()
    assert found.weights[known].mean() == pytest.approx(1)
    odds = (1 - found.propensity[known]) / found.propensity[known]
    np.testing.assert_allclose(stats.rankdata(found.weights[known]), stats.rankdata(np.minimum(odds, 10 * odds.mean())))
    share = found.weights[known] / found.weights[known].sum()
    assert found.effective_rows == pytest.approx(1 / (share**2).sum())
    assert found.effective_rows < known.sum()


def test_rows_without_any_labelled_row_near_them_are_outside():
    x, z = features()
    known = labelled_by(x["a"] * 0) & (x["a"] < 0.8).to_numpy()
    found = labels.shift(x, z, known)
    far = (x["a"] > 0.8).to_numpy()
    assert found.outside == pytest.approx(far[~known].mean(), abs=0.1)
    assert found.weights.max() <= 10 * 1.5


def test_the_plot_shows_both_sides(shifted):
    found = shifted[-1]
    ax = Figure().subplots()
    assert found.plot(ax) is ax
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == [f"labelled, {found.labelled.sum()} rows", f"unlabelled, {(~found.labelled).sum()} rows"]
    assert [patch.get_data().values.sum() for patch in ax.patches] == pytest.approx([1, 1])


def test_bad_input_is_refused():
    x, z = features(60)
    known = np.arange(60) % 2 == 0
    for arguments, error, match in [
        ((x, z, known[:9]), ValueError, "labelled.*60.*9"),
        ((x, z.iloc[:9], known), ValueError, "z.*60.*x.*9"),
        ((x, z, np.ones(60)), ValueError, "labelled.*60 and 0"),
        ((x, z, np.arange(60) < 3), ValueError, "labelled.*5.*3 and 57"),
        ((x, z, np.arange(60)), ValueError, "labelled must be truth values"),
        ((xgb.DMatrix(x), None, known), ValueError, "x must have rows and columns, got a DMatrix .*: pass a table"),
        ((x[[]], None, known), ValueError, "x must have at least one column"),  # XGBoost would end the process
        ((x, pd.concat([z, z], axis=1), known), ValueError, "table of x and z has several columns called c, kind"),
        ((x, z.astype({"kind": object}), known), ValueError, r"z\['kind'\].astype"),
        ((x.assign(a=pd.Timestamp("2024-01-01")), z, known), ValueError, "the column 'a' of x .*days since an event"),
        ((x, z, pd.Series(known).iloc[::-1]), ValueError, "labelled.*order"),
    ]:
        with pytest.raises(error, match=match):
            labels.shift(*arguments)
