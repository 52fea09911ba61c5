import itertools
import json
import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_xgb.importance import fair_importance

# --- the definition, read slowly ----------------------------------------------------------------------


@dataclass
class Case:
    """A booster with rows, and all that the definition needs to know about it."""

    booster: xgb.Booster
    X: object
    codes: np.ndarray
    y: np.ndarray
    y_by_output: list
    prob_by_output: list
    trees: list
    output_of_tree: list
    tree_weights: list

    @property
    def columns(self):
        names = self.booster.feature_names or [f"f{i}" for i in range(self.booster.num_features())]
        return {name: j for j, name in enumerate(names)}

    def rows_at_nodes(self):
        """For each tree, the rows that pass each node."""
        answer = [{} for _ in self.trees]
        for tree, rows_at in zip(self.trees, answer, strict=True):
            for i, row in enumerate(self.codes):
                for node in path(tree, row, self.columns):
                    rows_at.setdefault(node["nodeid"], []).append(i)
        return answer


def path(tree, row, columns):
    """The nodes that one row passes in a tree of ``get_dump(dump_format="json")``, from the root on."""
    yield tree
    while "children" in tree:
        value, condition = row[columns[tree["split"]]], tree["split_condition"]
        if np.isnan(value):
            goto = tree["missing"]
        elif isinstance(condition, list):
            goto = tree["yes"] if int(value) in condition else tree["no"]
        else:
            goto = tree["yes"] if np.float32(value) < np.float32(condition) else tree["no"]
        tree = next(child for child in tree["children"] if child["nodeid"] == goto)
        yield tree


def share(part, whole, weight):
    total = sum(weight[i] for i in whole)
    return sum(weight[i] for i in part) / total if total > 0 else 0.0


def children_bias(parent, children, group_of, group, positive, value, weight, options):
    """Bias of the two children of a node for one group, or None where there is nothing to compare."""
    compared = [i for i in parent if positive[i] or options["metric"] == "dp"]
    ours = [i for i in compared if group_of[i] == group]
    others = [i for i in compared if group_of[i] != group]
    if options["absent_group"] == "carry" and 0 in (sum(weight[i] for i in ours), sum(weight[i] for i in others)):
        return None
    terms = []
    for rows in children:
        node_value = share([], [], weight)
        if sum(weight[i] for i in rows) > 0:
            node_value = sum(weight[i] * value[i] for i in rows) / sum(weight[i] for i in rows)
        in_child = set(rows)
        difference = share([i for i in ours if i in in_child], ours, weight) - share(
            [i for i in others if i in in_child], others, weight
        )
        terms.append(node_value * difference)
    return sum(abs(term) for term in terms) if options["bound"] else abs(sum(terms))


def by_definition(case, group_of, weight, options, rows_at_nodes=None):
    """Scores by feature: over the worst group ``(K, F)``, and for each group ``{group: (K, F)}``."""
    columns, groups = case.columns, sorted(set(group_of))
    shape = (len(case.y_by_output), len(columns))
    by_group, worst = {group: np.zeros(shape) for group in groups}, np.zeros(shape)
    rows_at_nodes = rows_at_nodes or case.rows_at_nodes()
    group_of, weight = list(group_of), [float(w) for w in weight]  # Plain numbers are faster in loops.
    for tree, rows_at, outputs, tree_weight in zip(
        case.trees, rows_at_nodes, case.output_of_tree, case.tree_weights, strict=True
    ):
        for k in outputs:
            positive = (case.y_by_output[k] == 1).tolist()
            value = (case.y_by_output if options["node_value"] == "label" else case.prob_by_output)[k].tolist()

            def visit(node, level_bias, k=k, positive=positive, value=value, rows_at=rows_at, dart=tree_weight):
                if "children" not in node or not rows_at.get(node["nodeid"]):
                    return
                rows = rows_at[node["nodeid"]]
                children = [rows_at.get(child["nodeid"], []) for child in node["children"]]
                bias = {}
                for group in groups:
                    answer = children_bias(rows, children, group_of, group, positive, value, weight, options)
                    bias[group] = level_bias[group] if answer is None else answer
                factor = dart * sum(weight[i] for i in rows) / sum(weight)
                j = columns[node["split"]]
                for group in groups:
                    by_group[group][k, j] += factor * (level_bias[group] - bias[group])
                worst[k, j] += factor * (max(level_bias.values()) - max(bias.values()))
                for child in node["children"]:
                    visit(child, bias)

            visit(tree, dict.fromkeys(groups, 0.0))
    return worst, by_group


# --- boosters of every kind ---------------------------------------------------------------------------


def table(seed, n=60):
    """Numbers with gaps, categories with gaps, a constant column, and a group that shifts the numbers."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    X = pd.DataFrame(
        {
            "a": rng.normal(group, 1.0),
            "b": rng.normal(size=n).round(1),
            "c": pd.Categorical(rng.choice(list("uvwxyz"), n)),
            "same": np.ones(n),
        }
    )
    X.loc[rng.random(n) < 0.15, ["a"]] = np.nan
    X.loc[rng.random(n) < 0.15, ["c"]] = np.nan
    signal = X["a"].fillna(1.0) + X["b"] + (X["c"].cat.codes % 2)
    return X, signal.to_numpy(), group


BASE = {"max_depth": 3, "nthread": 1, "learning_rate": 0.4, "min_child_weight": 0.0, "base_score": 0.5}
CATEGORICAL = {"tree_method": "hist", "max_cat_to_onehot": 1}


def codes_of(X):
    return X.assign(c=X["c"].cat.codes.where(X["c"].notna())).to_numpy(dtype=float)


def tree_case(params, X, y, y_by_output, rounds=3, parallel=1, vector=False):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*dart.*is deprecated")
        dtrain = xgb.DMatrix(X, y, enable_categorical=True, nthread=1)
        booster = xgb.train(BASE | params, dtrain, rounds)
    try:
        trees = [json.loads(tree) for tree in booster.get_dump(dump_format="json")]
    except xgb.core.XGBoostError:
        assert vector
        pytest.skip("this XGBoost cannot write out vector leaves")
    n_outputs = len(y_by_output)
    output_of_tree = [list(range(n_outputs)) if vector else [i // parallel % n_outputs] for i in range(len(trees))]
    prob = booster.predict(dtrain).astype(float).reshape(len(X), -1).T
    return Case(
        booster, X, codes_of(X) if "c" in X else X.to_numpy(), y, y_by_output, list(prob), trees,
        output_of_tree, [1.0] * len(trees),
    )  # fmt: skip


def binary_case(seed, **params):
    X, signal, group = table(seed)
    y = (signal > np.median(signal)).astype(float)
    return tree_case({"objective": "binary:logistic"} | CATEGORICAL | params, X, y, [y]), group


def one_hot_case(seed):
    return binary_case(seed, max_cat_to_onehot=10)


def pruned_case(seed):
    X, signal, group = table(seed)
    y = (signal > np.median(signal)).astype(float)
    params = {"objective": "binary:logistic", "tree_method": "exact", "max_depth": 5, "gamma": 0.4}
    return tree_case(params, X.drop(columns="c"), y, [y]), group


def forest_case(seed):
    X, signal, group = table(seed)
    y = np.digitize(signal, np.quantile(signal, [0.3, 0.7])).astype(float)
    params = {"objective": "multi:softprob", "num_class": 3, "num_parallel_tree": 2, "subsample": 0.7}
    return tree_case(CATEGORICAL | params, X, y, [y == k for k in range(3)], parallel=2, rounds=2), group


def multiclass_case(seed):
    X, signal, group = table(seed)
    y = np.digitize(signal, np.quantile(signal, [0.3, 0.7])).astype(float)
    params = {"objective": "multi:softprob", "num_class": 3}
    return tree_case(CATEGORICAL | params, X, y, [y == k for k in range(3)], rounds=2), group


def vector_leaf_case(seed):
    X, signal, group = table(seed)
    y = np.digitize(signal, np.quantile(signal, [0.3, 0.7])).astype(float)
    params = {"objective": "multi:softprob", "num_class": 3, "multi_strategy": "multi_output_tree"}
    X = X.drop(columns="c")
    return tree_case(params | {"tree_method": "hist"}, X, y, [y == k for k in range(3)], vector=True), group


def regression_case(seed):
    X, signal, group = table(seed)
    y = signal - 2.0
    return tree_case({"objective": "reg:squarederror"} | CATEGORICAL, X, y, [y]), group


def multilabel_case(seed):
    X, signal, group = table(seed)
    y = np.column_stack([signal > 1.0, signal > 2.0]).astype(float)
    params = {"objective": "binary:logistic", "tree_method": "hist"}
    return tree_case(params, X.drop(columns="c"), y, list(y.T), rounds=2), group


def dart_case(seed):
    X, signal, group = table(seed)
    y = (signal > np.median(signal)).astype(float)
    params = {"objective": "binary:logistic", "booster": "dart", "rate_drop": 0.8, "one_drop": 1, "seed": seed}
    case = tree_case(CATEGORICAL | params, X, y, [y], rounds=5)
    # A tree's weight is what it adds to the margin, over the leaf value of the dump.
    data = xgb.DMatrix(X, enable_categorical=True)
    for i, tree in enumerate(case.trees):
        alone = case.booster.predict(data, output_margin=True, iteration_range=(i, i + 1)).astype(float)
        leaf = np.array([list(path(tree, row, case.columns))[-1]["leaf"] for row in case.codes])
        case.tree_weights[i] = np.polyfit(leaf, alone, 1)[0]
    return case, group


CASES = {
    "binary": binary_case,
    "one-hot categories": one_hot_case,
    "pruned": pruned_case,
    "random forest of classes": forest_case,
    "multi-class": multiclass_case,
    "vector leaf": vector_leaf_case,
    "regression": regression_case,
    "multi-label": multilabel_case,
    "dart": dart_case,
}

OPTIONS = [
    dict(zip(("metric", "node_value", "bound", "absent_group"), values, strict=True))
    for values in itertools.product(("dp", "eo"), ("label", "prob"), (False, True), ("carry", "zero"))
]


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.slow
def test_equals_the_definition(kind):
    case, group = CASES[kind](seed=1)
    data = xgb.DMatrix(case.X, enable_categorical=True, nthread=1)
    rng = np.random.default_rng(2)
    weight = rng.integers(0, 4, len(group)) / 2
    rows_at_nodes = case.rows_at_nodes()
    for (group_of, w), options in itertools.product(((group, weight), (np.minimum(group, 1), None)), OPTIONS):
        if options["metric"] == "eo" and kind == "regression":
            continue
        ones = np.ones(len(group)) if w is None else w
        worst, by_group = by_definition(case, group_of, ones, options, rows_at_nodes)
        frame = fair_importance(
            case.booster,
            data,
            case.y,
            sensitive_features=group_of,
            sample_weight=w,
            normalize=False,
            **options,
        )
        # DART weights are read off float32 margins here.
        tolerance = {"rtol": 1e-5, "atol": 1e-6} if kind == "dart" else {"rtol": 0, "atol": 1e-12}
        # Every option of every kind of booster gives what the definition gives, to 1e-12.
        np.testing.assert_allclose(frame["fair_importance"], worst.sum(axis=0), **tolerance)
        outputs = frame.filter(regex=r"\[(class|target)=").to_numpy().T
        assert len(outputs) == (0 if len(worst) == 1 else len(worst))
        np.testing.assert_allclose(outputs, worst[: len(outputs)], **tolerance)
        groups = frame.filter(regex=r"\[group=").to_numpy().T
        assert len(groups) == (0 if len(by_group) == 2 else len(by_group))
        for column, expected in zip(groups, by_group.values(), strict=False):
            np.testing.assert_allclose(column, expected.sum(axis=0), **tolerance)
        # The test is about something: some score is not 0.
        assert np.abs(worst).max() > 1e-3


def test_rows_that_the_booster_has_not_seen():
    case, _ = CASES["binary"](0)
    X, signal, group = table(100)
    case.codes, case.y_by_output, case.prob_by_output = codes_of(X), [(signal > 1).astype(float)], []
    options = {"metric": "dp", "node_value": "label", "bound": False, "absent_group": "zero"}
    # Nodes that none of the rows reaches do no harm.
    few = slice(0, 12)
    case.codes, case.y_by_output = case.codes[few], [case.y_by_output[0][few]]
    worst, _ = by_definition(case, group[few], np.ones(12), options)
    frame = fair_importance(
        case.booster, X[few], case.y_by_output[0], sensitive_features=group[few], normalize=False, **options
    )
    np.testing.assert_allclose(frame["fair_importance"], worst[0], rtol=0, atol=1e-12)


# --- second formulations and properties ---------------------------------------------------------------


@cache
def plain_case(seed=0, n=300, **params):
    """Three features, of which the second carries the group; no names, no gaps."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    X = np.column_stack([rng.normal(size=n), rng.normal(group, 1.0), rng.normal(size=n)])
    y = (X[:, 0] + X[:, 1] > 0.5).astype(float)
    booster = xgb.train({"objective": "binary:logistic", **BASE, **params}, xgb.DMatrix(X, y, nthread=1), 4)
    return booster, X, y, group


def score(booster, X, y, *, normalize=False, **kwargs):
    # One thread makes the small matrix: several wait for each other longer than they work.
    X = xgb.DMatrix(X, nthread=1) if isinstance(X, np.ndarray) else X
    return fair_importance(booster, X, y, normalize=normalize, **kwargs)["fair_importance"].to_numpy()


@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 2**31), metric=st.sampled_from(["dp", "eo"]), bound=st.booleans())
def test_invariances(seed, metric, bound):
    booster, X, y, _ = plain_case()
    rng = np.random.default_rng(seed)
    group = rng.integers(0, rng.integers(2, 5), len(y))
    kwargs = {"metric": metric, "bound": bound}
    expected = score(booster, X, y, sensitive_features=group, **kwargs)
    # What the groups are called changes nothing, in particular not swapping two of them.
    names = rng.permutation(["p", "q", "r", "s"])[group]
    np.testing.assert_allclose(score(booster, X, y, sensitive_features=names, **kwargs), expected, atol=1e-13)
    order = rng.permutation(len(y))
    shuffled = score(booster, X[order], y[order], sensitive_features=group[order], **kwargs)
    np.testing.assert_allclose(shuffled, expected, atol=1e-13)
    # A whole weight is so many copies of the row.
    times = rng.integers(0, 3, len(y))
    weighted = score(booster, X, y, sensitive_features=group, sample_weight=times, **kwargs)
    i = np.repeat(np.arange(len(y)), times)
    np.testing.assert_allclose(weighted, score(booster, X[i], y[i], sensitive_features=group[i], **kwargs), atol=1e-13)
    # So is the scale of the weights.
    tripled = score(booster, X, y, sensitive_features=group, sample_weight=times * 3.7, **kwargs)
    np.testing.assert_allclose(tripled, weighted, atol=1e-13)


def test_one_sided_nodes():
    # The root parts the groups; below it each split sees one group only. Mean labels: 0.5 and 0.75.
    X = np.array([[z, i % 2] for z in (0.0, 1.0) for i in range(40)])
    group = X[:, 0]
    y = np.where((group == 1) & (np.arange(80) // 2 % 2 == 1), 1.0, X[:, 1])
    params = {"objective": "reg:squarederror", "max_depth": 2, "reg_lambda": 0, "nthread": 1}
    dtrain = xgb.DMatrix(X, X[:, 0] * 10 + X[:, 1])
    booster = xgb.train(params, dtrain, 1)
    assert booster.get_score(importance_type="weight") == {"f0": 1, "f1": 2}
    # Where one group is alone a split cannot bring the groups nearer to each other: it contributes 0.
    np.testing.assert_allclose(score(booster, X, y, sensitive_features=group), [-0.25, 0.0], atol=1e-15)
    # The authors' convention compares with a rate of 0: (0.25 - 0.5) / 2 + (0.25 - 0.75) / 2.
    zero = score(booster, X, y, sensitive_features=group, absent_group="zero")
    np.testing.assert_allclose(zero, [-0.25, -0.375], atol=1e-15)


def test_normalized_columns_have_absolute_sum_1():
    case, group = CASES["multi-class"](seed=3)
    frame = fair_importance(case.booster, case.X, case.y, sensitive_features=group)
    raw = fair_importance(case.booster, case.X, case.y, sensitive_features=group, normalize=False)
    # Each column sums to 1 in absolute value, and is the raw one up to a factor.
    np.testing.assert_allclose(frame.abs().sum(), 1.0, rtol=1e-12)
    np.testing.assert_allclose(frame * raw.abs().sum(), raw, rtol=1e-12)
    assert frame.columns.tolist() == [
        "fair_importance",
        "gain",
        "total_gain",
        *[f"fair_importance[class={k}]" for k in range(3)],
        *[f"fair_importance[group={g}]" for g in range(3)],
    ]


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_the_unit_of_the_labels_does_not_matter(unit):
    _, X, y, group = plain_case()
    booster = xgb.train({**BASE, "objective": "reg:squarederror"}, xgb.DMatrix(X, y), 20)
    scores = [
        fair_importance(booster, X, label, sensitive_features=group) for label in (y + X[:, 2], unit * (y + X[:, 2]))
    ]
    pd.testing.assert_frame_equal(*scores)
    # What is rounding depends on it: neither small labels nor what a constant leaves are taken for the other.
    constant = fair_importance(booster, X, np.full(300, unit / 3), sensitive_features=group)
    assert (constant["fair_importance"] == 0).all()
    nothing = fair_importance(np.full(300, unit / 3), X, y, sensitive_features=group)
    assert nothing.attrs["surrogate"]["r2"] == 1


# --- the authors' simulation --------------------------------------------------------------------------


def simulation(seed):
    rng = np.random.default_rng(seed)
    z = rng.binomial(1, 0.2, 1000)
    X = z[:, None] * np.repeat([2.0, 0.0], 6) + rng.normal(0, 0.1, (1000, 12))
    margin = X @ np.tile(np.repeat([1.0, 0.0], 3), 2) + rng.normal(0, 0.01, 1000)
    return X, (margin >= 0).astype(float), z


BIASED_USED, BIASED_UNUSED, FAIR_USED, NEITHER = (slice(i, i + 3) for i in (0, 3, 6, 9))


@pytest.fixture(scope="module")
def simulated():
    answer = []
    for seed in range(4):
        X, y, z = simulation(seed)
        # Columns are drawn for each split, as the authors do: features 1 to 3 can stand in for one another.
        params = {"objective": "binary:logistic", "colsample_bynode": 0.7, "seed": seed, "nthread": 1}
        booster = xgb.train(params, xgb.DMatrix(X, y), 30)
        answer.append((booster, X, y, z))
    return answer


@pytest.mark.parametrize(
    ("metric", "bound", "absent_group"),
    [
        *itertools.product(("dp", "eo"), (False,), ("carry",)),
        ("dp", True, "zero"),  # What reproduces the authors' boosting.
    ],
)
def test_authors_simulation(simulated, metric, bound, absent_group):
    kwargs = {"metric": metric, "bound": bound, "absent_group": absent_group}
    scores = np.array([score(b, X, y, sensitive_features=z, normalize=True, **kwargs) for b, X, y, z in simulated])
    # In every repeat: every biased feature that the model needs is clearly negative;
    assert (scores[:, BIASED_USED] < -0.04).all()
    assert (scores[:, BIASED_USED].sum(axis=1) < -0.55).all()
    # biased features that it does not need, and those that are neither, are about 0;
    assert (np.abs(scores[:, BIASED_UNUSED]) < 0.15).all()
    assert (np.abs(scores[:, NEITHER]) < 0.04).all()
    # fair features that it needs are about 0 or positive.
    assert (scores[:, FAIR_USED] > -0.04).all()
    assert scores[:, FAIR_USED].mean() > 0


# --- rounds, data and names ---------------------------------------------------------------------------


def test_rounds_are_those_asked_for():
    booster, X, y, group = plain_case()
    parts = [
        fair_importance(booster, X, y, sensitive_features=group, iteration_range=rounds, normalize=False)
        for rounds in ((0, 1), (1, 4), (0, 0), (1, 0))
    ]
    # The score of an ensemble is the sum over its trees.
    np.testing.assert_allclose(
        parts[0]["fair_importance"] + parts[1]["fair_importance"], parts[2]["fair_importance"], atol=1e-14
    )
    # An end of 0 means all rounds, as in Booster.predict.
    pd.testing.assert_frame_equal(parts[3], parts[1])
    # Rounds of a booster are the rounds of its slice, gains included.
    slice_ = fair_importance(booster[1:4], X, y, sensitive_features=group, normalize=False)
    pd.testing.assert_frame_equal(parts[1], slice_)
    # The predictions, where they are the node values, are those of the same rounds.
    kwargs = {"sensitive_features": group, "node_value": "prob"}
    np.testing.assert_allclose(
        score(booster, X, None, iteration_range=(0, 2), **kwargs), score(booster[:2], X, None, **kwargs)
    )
    assert [part.attrs["iteration_range"] for part in parts] == [(0, 1), (1, 4), (0, 4), (1, 4)]
    assert [part.attrs["n_trees"] for part in parts] == [1, 3, 4, 3]


def test_early_stopping_counts_up_to_the_best_iteration():
    _, X, y, group = plain_case()
    noise = xgb.DMatrix(X, np.random.default_rng(0).integers(0, 2, len(y)))
    booster = xgb.train(
        {"objective": "binary:logistic", **BASE},
        xgb.DMatrix(X, y),
        20,
        evals=[(noise, "noise")],
        early_stopping_rounds=3,
        verbose_eval=False,
    )
    best = booster.best_iteration + 1
    assert best < booster.num_boosted_rounds()
    frame = fair_importance(booster, X, y, sensitive_features=group)
    # By default the trees after the best iteration do not count; (0, 0) counts all.
    pd.testing.assert_frame_equal(
        frame, fair_importance(booster, X, y, sensitive_features=group, iteration_range=(0, best))
    )
    everything = fair_importance(booster, X, y, sensitive_features=group, iteration_range=(0, 0))
    assert everything.attrs["iteration_range"] == (0, booster.num_boosted_rounds())
    assert not np.allclose(frame, everything)


def test_every_form_of_the_same_data():
    case, group = CASES["binary"](seed=5)
    expected = fair_importance(case.booster, case.X, case.y, sensitive_features=group)
    quantiles = xgb.QuantileDMatrix(case.X, case.y, enable_categorical=True)
    forms = {
        "DMatrix": xgb.DMatrix(case.X, enable_categorical=True),
        "QuantileDMatrix": quantiles,
        "array of category codes": case.codes,
    }
    for X in forms.values():
        got = fair_importance(case.booster, X, case.y, sensitive_features=group)
        pd.testing.assert_frame_equal(got, expected)
    assert expected.index.tolist() == ["a", "b", "c", "same"]
    assert expected.index.name == "feature"


@pytest.mark.parametrize("rounds", [(0, 0), (1, 3)])
def test_categories_in_another_order_are_the_same_categories(rounds):
    case, group = CASES["binary"](seed=5)
    X = case.X.assign(c=case.X["c"].cat.set_categories(list("zyxwvu")))
    frames = [
        fair_importance(case.booster, form, case.y, sensitive_features=group, iteration_range=rounds)
        for form in (case.X, X)
    ]
    # A booster knows its categories by name; so do the rounds cut out of it.
    pd.testing.assert_frame_equal(*frames)


def test_weights_of_a_matrix_count_unless_others_are_given():
    booster, X, y, group = plain_case()
    weight = np.linspace(0.5, 2, len(y)).astype(np.float32)
    own = xgb.DMatrix(X, weight=weight)
    expected = score(booster, X, y, sensitive_features=group, sample_weight=weight)
    # The weights that a DMatrix carries are not ignored.
    np.testing.assert_array_equal(score(booster, own, y, sensitive_features=group), expected)
    even = score(booster, own, y, sensitive_features=group, sample_weight=np.ones(len(y)))
    np.testing.assert_allclose(even, score(booster, X, y, sensitive_features=group), atol=1e-15)
    assert not np.allclose(even, expected)


def test_gain_is_xgboosts_own():
    case, group = CASES["binary"](seed=6)
    raw = fair_importance(case.booster, case.X, case.y, sensitive_features=group, normalize=False)
    for kind in ("gain", "total_gain"):
        score_ = case.booster.get_score(importance_type=kind)
        assert raw[kind][raw[kind] > 0].to_dict() == score_
        assert raw.loc["same", kind] == 0


def test_nothing_of_the_users_is_changed():
    case, group = CASES["binary"](seed=7)
    X, y, weight, labels = case.X.copy(), case.y.copy(), np.ones(len(group)), pd.DataFrame({"s": group})
    model, keywords = case.booster.save_raw("json"), {"sensitive_features": labels, "sample_weight": weight}
    first = fair_importance(case.booster, X, y, **keywords)
    pd.testing.assert_frame_equal(fair_importance(case.booster, X, y, **keywords), first)
    pd.testing.assert_frame_equal(X, case.X)
    assert labels.columns.tolist() == ["s"]
    assert (y == case.y).all()
    assert (weight == 1).all()
    assert case.booster.save_raw("json") == model


@pytest.mark.parametrize("objective", ["binary:logitraw", "multi:softmax"])
def test_predictions_are_probabilities_whatever_predict_returns(objective):
    _, X, y, group = plain_case()
    twin = {"binary:logitraw": "binary:logistic", "multi:softmax": "multi:softprob"}[objective]
    kwargs = {"sensitive_features": group, "node_value": "prob", "normalize": False}
    frames = []
    for name in (objective, twin):
        # Both start at margin 0, which one calls 0 and the other 0.5.
        params = BASE | {"objective": name, "base_score": 0.0 if name == "binary:logitraw" else 0.5}
        params |= {"num_class": 2} if name.startswith("multi") else {}
        booster = xgb.train(params, xgb.DMatrix(X, y), 3)
        frames.append(fair_importance(booster, X, **kwargs))
    # Margins and class ids are turned into the probabilities that the twin objective gives.
    np.testing.assert_allclose(frames[0]["fair_importance"], frames[1]["fair_importance"], atol=1e-6)
    assert frames[0]["fair_importance"].abs().max() > 0.01


# --- groups without positives -------------------------------------------------------------------------


def test_a_group_without_positives_is_nan_and_named():
    booster, X, y, group = plain_case()
    y = np.where(group == 1, 0, y)
    with pytest.warns(UserWarning, match=r"metric='eo'.*group 1: .*NaN") as caught:
        frame = fair_importance(booster, X, y, sensitive_features=group, metric="eo")
    assert [record.filename for record in caught] == [__file__]
    # With two groups nothing is left to compare: NaN and never 0, for unused features as well.
    assert frame["fair_importance"].isna().all()
    assert frame["gain"].notna().all()


@pytest.mark.parametrize("absent_group", ["carry", "zero"])
def test_the_other_groups_are_still_compared(absent_group):
    booster, X, y, _ = plain_case()
    group = np.array(["a", "b", "none"])[np.arange(len(y)) % 3]
    y = np.where(group == "none", 0, y)
    kwargs = {"metric": "eo", "normalize": False, "absent_group": absent_group}
    with pytest.warns(UserWarning, match="none in group 'none'"):
        frame = fair_importance(booster, X, y, sensitive_features=group, **kwargs)
    # The group itself has no rate; a and b differ from each other as they do from everybody else.
    assert frame["fair_importance[group=none]"].isna().all()
    np.testing.assert_array_equal(frame["fair_importance[group=a]"], frame["fair_importance"])
    np.testing.assert_array_equal(frame["fair_importance[group=b]"], frame["fair_importance"])
    assert frame["fair_importance"].abs().max() > 0


def test_a_class_that_a_group_lacks():
    case, group = CASES["multi-class"](seed=8)
    group = np.minimum(group, 1)
    y = np.where((group == 1) & (case.y == 2), 1, case.y)
    with pytest.warns(UserWarning, match=r"group 1 \(class 2\)"):
        frame = fair_importance(case.booster, case.X, y, sensitive_features=group, metric="eo")
    # The class cannot be compared, nor can a sum that needs it; the other classes can.
    assert frame["fair_importance[class=2]"].isna().all()
    assert frame["fair_importance"].isna().all()
    assert frame["fair_importance[class=1]"].notna().all()


# --- other models -------------------------------------------------------------------------------------


class Model:
    """A model that is not a booster, with text labels."""

    classes_ = np.array(["bad", "good"])

    def __init__(self, function):
        self.function = function

    def predict_proba(self, X):
        p = self.function(np.asarray(X, dtype=float))
        return np.column_stack([1 - p, p])


def step(X):
    return np.where(X[:, 1] > 0.5, 0.9, 0.25)


def test_object_and_its_predictions_are_the_same_model():
    _, X, y, group = plain_case()
    labels = np.array(["bad", "good"])[y.astype(int)]
    # The bound tells a probability from that of the other class.
    kwargs = {"sensitive_features": group, "node_value": "prob", "bound": True, "normalize": False}
    from_object = fair_importance(Model(step), X, labels, **kwargs)
    from_array = fair_importance(step(X), X, y, **kwargs)
    # Labels in the model's own words, or 0 and 1 beside its predictions: the same answer.
    pd.testing.assert_frame_equal(from_object, from_array)
    report = from_object.attrs["surrogate"]
    assert report["r2"] == pytest.approx(1, abs=1e-6)
    assert report["agreement"] == 1.0
    assert report["params"]["max_depth"] == 6
    assert report["rounds"] == 1
    # A model of numbers makes no decisions to agree on.
    assert np.isnan(from_array.attrs["surrogate"]["agreement"])


@pytest.mark.parametrize("metric", ["dp", "eo"])
def test_surrogate_of_several_classes_equals_the_definition(metric):
    case, group = CASES["multi-class"](seed=9)
    X, prob = case.X.drop(columns="c"), np.column_stack(case.prob_by_output)
    options = {"metric": metric, "node_value": "prob", "bound": False, "absent_group": "carry"}
    params = {"max_depth": 3, "eta": 0.5, "nthread": 1}
    frame = fair_importance(
        prob,
        X,
        case.y,
        sensitive_features=group,
        normalize=False,
        surrogate_params=params,
        surrogate_rounds=2,
        **options,
    )
    booster = xgb.train(frame.attrs["surrogate"]["params"], xgb.DMatrix(X, prob), 2)
    trees = [json.loads(tree) for tree in booster.get_dump(dump_format="json")]
    imitation = Case(
        booster,
        X,
        X.to_numpy(),
        case.y,
        case.y_by_output,
        list(prob.T),
        trees,
        [[0], [1], [2]] * 2,
        [1.0] * 6,
    )
    worst, _ = by_definition(imitation, group, np.ones(len(group)), options)
    # The surrogate's trees with the model's own predictions as node values.
    np.testing.assert_allclose(frame.filter(regex="class").to_numpy().T, worst, atol=1e-12)
    # Fidelity is the share of the variation that the surrogate has, and of decisions that are the same.
    imitated = booster.predict(xgb.DMatrix(X))
    missed = ((prob - imitated) ** 2).sum() / ((prob - prob.mean(axis=0)) ** 2).sum()
    assert frame.attrs["surrogate"]["r2"] == pytest.approx(1 - missed, abs=1e-9)
    agreement = (prob.argmax(axis=1) == imitated.argmax(axis=1)).mean()
    assert frame.attrs["surrogate"]["agreement"] == pytest.approx(agreement)
    assert 0.3 < agreement <= 1


def test_surrogate_counts_rows_by_weight():
    _, X, y, group = plain_case()
    X = X.round()
    smooth = 1 / (1 + np.exp(-2 * X[:, 0] - X[:, 1]))
    times = np.random.default_rng(0).integers(0, 3, len(y))
    i = np.repeat(np.arange(len(y)), times)
    kwargs = {"node_value": "prob", "normalize": False, "surrogate_params": {"max_depth": 2, "nthread": 1}}
    weighted = fair_importance(smooth, X, sensitive_features=group, sample_weight=times, **kwargs)
    repeated = fair_importance(smooth[i], X[i], sensitive_features=group[i], **kwargs)
    # A whole weight is so many copies of the row, for the surrogate and its fidelity as well.
    np.testing.assert_allclose(weighted["fair_importance"], repeated["fair_importance"], atol=1e-12)
    assert weighted.attrs["surrogate"]["r2"] == pytest.approx(repeated.attrs["surrogate"]["r2"], rel=1e-6)
    even = fair_importance(smooth, X, sensitive_features=group, **kwargs)
    assert even.attrs["surrogate"]["r2"] != pytest.approx(weighted.attrs["surrogate"]["r2"], rel=1e-4)


def test_constant_model_has_no_importance():
    _, X, y, group = plain_case()
    frame = fair_importance(np.full(len(y), 0.3), X, y, sensitive_features=group)
    # Nothing to imitate is imitated in full, and nothing is important.
    assert (frame == 0).all(axis=None)
    assert frame.attrs["surrogate"]["r2"] == 1


# --- bad input ----------------------------------------------------------------------------------------


def ask(**changes):
    booster, X, y, group = plain_case()
    kwargs = {"booster": booster, "X": X, "y": y, "sensitive_features": group} | changes
    return fair_importance(**kwargs)


_, PLAIN_X, PLAIN_Y, PLAIN_GROUP = plain_case()


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"X": PLAIN_X[:, :2]}, ValueError, r"X must have the 3 features of the booster, got 2"),
        ({"X": PLAIN_X[:-1]}, ValueError, r"sensitive_features must .* 299 rows of X, got 300"),
        ({"y": PLAIN_Y[:-1]}, ValueError, r"y must .* 300 rows, got 299"),
        ({"y": 1.0}, TypeError, r"y must have one value per row"),
        ({"y": np.column_stack([PLAIN_Y] * 2)}, ValueError, r"y must have 1 value.s. per row .* \(300, 2\)"),
        ({"sensitive_features": PLAIN_GROUP[:-1]}, ValueError, r"sensitive_features must .* got 299"),
        ({"sample_weight": PLAIN_GROUP}, ValueError, r"sample_weight .* group 0: drop its rows"),
        ({"sensitive_features": np.zeros(300)}, ValueError, r"one group only, 0.0: at least two"),
        ({"y": ["yes"] * 300}, TypeError, r"y must be .*numbers, got .* encode"),
        ({"y": 2 * PLAIN_Y}, ValueError, r"y must lie in \[0, 1\] for .* binary:logistic, .* 0.0 to 2.0"),
        ({"y": PLAIN_Y / 2, "metric": "eo"}, ValueError, r"y must be 0 or 1 .*metric='eo', .* from 0.0 to 0.5"),
        ({"y": None}, ValueError, r"metric='dp' with node_value='label' needs the labels y, got None"),
        ({"y": None, "metric": "eo", "node_value": "prob"}, ValueError, r"needs the labels y, got None"),
        ({"metric": "sp"}, ValueError, r"metric must be one of 'dp', 'eo'; got 'sp'"),
        ({"node_value": "margin"}, ValueError, r"node_value must be one of 'label', 'prob'"),
        ({"absent_group": "skip"}, ValueError, r"absent_group must be one of 'carry', 'zero'"),
        ({"iteration_range": (0, 5)}, ValueError, r"0 <= begin < end <= 4 .* got \(0, 5\)"),
        ({"iteration_range": (-1, 2)}, ValueError, r"got \(-1, 2\)"),
        (
            {"surrogate_params": {"max_depth": 2}},
            ValueError,
            r"surrogate_params and surrogate_rounds are not for boosters",
        ),
        ({"booster": PLAIN_Y[:-1]}, ValueError, r"the predictions of the model must .* 300 rows, got 299"),
        ({"booster": PLAIN_Y, "surrogate_rounds": 0}, ValueError, r"must be at least 1, got 0"),
        ({"booster": PLAIN_Y, "iteration_range": (0, 1)}, ValueError, r"iteration_range is for boosters"),
        ({"booster": PLAIN_Y, "X": xgb.DMatrix(PLAIN_X)}, TypeError, r"got a DMatrix"),
        ({"booster": np.full(300, np.nan)}, ValueError, r"predictions of the model must .* 300 missing"),
        ({"booster": np.ones((300, 2, 2))}, ValueError, r"predictions of the model must .* got shape \(300, 2, 2\)"),
        ({"booster": object()}, TypeError, r"booster must be a model with predict.* got <object"),
        ({"booster": ["a"] * 300}, TypeError, r"predictions of the model must be finite numbers, got 'a'"),
        (
            {"booster": Model(step), "y": np.array(["bad", "good", "odd"])[np.arange(300) % 3]},
            ValueError,
            r"'bad', 'good'.*got also 'odd'$",
        ),
        ({"confidence": 95}, ValueError, r"confidence must lie between 0 and 1, got 95"),
    ],
)
def test_bad_input(changes, error, message):
    with pytest.raises(error, match=message):
        ask(**changes)


def test_classes_that_the_model_does_not_have():
    case, group = CASES["multi-class"](seed=0)
    for y in (case.y + 1, case.y - 1, case.y / 2):
        with pytest.raises(ValueError, match=r"y .*hold.*0.*2.*classes"):
            fair_importance(case.booster, case.X, y, sensitive_features=group)


def test_linear_booster_has_no_splits():
    _, X, y, group = plain_case()
    with warnings.catch_warnings():
        # XGBoost says that it will drop gblinear, also from a callback that cannot raise.
        warnings.filterwarnings("ignore", message=".*gblinear.*is deprecated")
        booster = xgb.train({"booster": "gblinear", "objective": "binary:logistic"}, xgb.DMatrix(X, y), 2)
        with pytest.raises(ValueError, match=r"trees.*booster='gblinear'"):
            fair_importance(booster, X, y, sensitive_features=group)
