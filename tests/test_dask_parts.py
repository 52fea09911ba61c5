"""The parts of ``pi_xgb.dask`` that need no cluster: who gets which rows, what is asked and said before a training."""

# ruff: noqa: E402 - Dask is an extra
from __future__ import annotations

import asyncio
import contextlib
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

da = pytest.importorskip("dask.array", reason="pi_xgb.dask needs Dask")
dd = pytest.importorskip("dask.dataframe", reason="pi_xgb.dask needs Dask")
distributed = pytest.importorskip("distributed", reason="pi_xgb.dask needs Dask's scheduler")

import pi_xgb.dask as pid
from pi_xgb._core.config import TeacherConfig
from pi_xgb._dask import cluster, estimators, queries, ranker
from pi_xgb._dask.rows import (
    Part,
    PerRow,
    assign,
    check_same_parts,
    joined,
    parts_of_collection,
    parts_of_matrix,
    this_client,
)
from pi_xgb._dask.teachers import read_teachers, teacher_of_rows
from pi_xgb.constraints import DemographicParity

PARTS = [Part("p0", "b", 3), Part("p1", "a", 0), Part("p2", "a", 2), Part("p3", None, 1), Part("p4", "b", 1)]


class Client:
    """As much of a client as looks at partitions; what it computes is there at once."""

    def __init__(self, workers=("a", "b")):
        self.workers = workers
        self.scheduler = self

    async def identity(self):
        return {"workers": dict.fromkeys(self.workers)}

    async def gather(self, counts):
        return counts

    def map(self, function, parts, *, pure):
        assert pure is False  # a count of the past would be told again
        return [function(part) for part in parts]

    def compute(self, delayed):
        return [item.compute() for item in delayed]


# --- rows ---------------------------------------------------------------------------------------------------


def test_each_partition_is_trained_on_where_it_lies():
    assignment = assign(PARTS)
    assert assignment.numbers == {"a": [2], "b": [0, 4]}
    assert assignment.workers == ["a", "b"]
    assert assignment.first_row.tolist() == [0, 3, 3, 5, 6]
    assert assignment.futures(PARTS, "b") == ["p0", "p4"]
    assert assignment.rows(PARTS, "b").tolist() == [0, 1, 2, 6]
    assert assignment.rows(PARTS, "a").tolist() == [3, 4]
    with pytest.raises(ValueError, match="no rows on any worker"):
        assign([Part("p", "a", 0), Part("q", None, 3)])


def others_of(parts, *, everywhere=False):
    return assign([Part("x", "a", 1), Part("y", "b", 1)]).other_futures(parts, "evals 'v'", everywhere=everywhere)


def test_other_rows_stay_or_go_to_who_has_fewest():
    assert others_of([Part("p", "a", 5), Part("q", "b", 1), Part("r", "c", 3), Part("s", "c", 2)]) == {
        "a": ["p"],
        "b": ["q", "r", "s"],
    }
    # Counted in rows; partitions without any are nobody's.
    assert others_of(
        [Part("p", "c", 2), Part("q", "c", 1), Part("r", "a", 0), Part("s", "c", 1), Part("t", "c", 1)]
    ) == {
        "a": ["p", "t"],
        "b": ["q", "s"],
    }
    assert others_of([Part("p", "a", 5), Part("q", "a", 5)]) == {"a": ["p", "q"], "b": []}
    # Where no worker may be without they are dealt in turn.
    assert others_of([Part("p", "a", 5), Part("q", "a", 5)], everywhere=True) == {"a": ["p"], "b": ["q"]}
    assert others_of([Part("p", "b", 5), Part("q", "a", 1)], everywhere=True) == {"a": ["q"], "b": ["p"]}
    with pytest.raises(ValueError, match=r"evals 'v' must have rows.* 1 partitions with rows for 2 workers"):
        others_of([Part("p", "a", 5), Part("q", "b", 0)], everywhere=True)


def test_collections_of_the_same_rows_are_cut_alike():
    check_same_parts(PARTS, PARTS, "dtrain", "teacher")
    with pytest.raises(ValueError, match="teacher has 4 partitions, dtrain has 5"):
        check_same_parts(PARTS, PARTS[:4], "dtrain", "teacher")
    with pytest.raises(ValueError, match="partition 4 has 2 rows in teacher and 1 in dtrain"):
        check_same_parts(PARTS, [*PARTS[:4], Part("p", "a", 2)], "dtrain", "teacher")


def matrix(futures, order):
    made = pid.DaskDMatrix.__new__(pid.DaskDMatrix)
    made.worker_map, made.partition_order = futures, order
    return made


class Future(dict):
    """The partition of a matrix, and its key."""

    def __init__(self, key, n):
        super().__init__(data=np.zeros((n, 7)))
        self.key = key


def test_partitions_of_a_matrix_come_in_the_order_of_the_collection():
    single, two, three = Future("k1", 4), Future("k2", 5), Future("k3", 6)
    made = matrix({"a": [three, single], "b": [two]}, {"k1": 0, "k2": 1, "k3": 2})
    found = asyncio.run(parts_of_matrix(Client(), made, "dtrain"))
    assert [(part.future.key, part.worker, part.rows) for part in found] == [
        ("k1", "a", 4),
        ("k2", "b", 5),
        ("k3", "a", 6),
    ]
    with pytest.raises(ConnectionError, match=r"workers.*held.*dtrain"):
        asyncio.run(parts_of_matrix(Client(["a", "c"]), made, "dtrain"))
    with pytest.raises(TypeError, match=r"dtrain.*xgboost.dask.DaskDMatrix.*DMatrix"):
        asyncio.run(parts_of_matrix(Client(), xgb.DMatrix(np.zeros((2, 1))), "dtrain"))


def test_partitions_of_a_collection_are_cut_by_rows_alone():
    whole, parts = np.arange(10.0).reshape(5, 2), [Part("x", "a", 3), Part("y", "a", 2)]

    def found(collection):
        return asyncio.run(parts_of_collection(Client(), collection, parts, "q"))

    for collection in (da.from_array(whole, chunks=(3, 2)), dd.from_pandas(pd.DataFrame(whole), npartitions=2)):
        assert [part.rows for part in found(collection)] == [3, 2]
        np.testing.assert_array_equal(joined([part.future for part in found(collection)]), whole)
    assert [part.rows for part in found(da.zeros(5, chunks=3))] == [3, 2]
    with pytest.raises(ValueError, match="q must have one block of columns, got 2"):
        found(da.from_array(whole, chunks=(3, 1)))
    with pytest.raises(ValueError, match="partition 0 has 2 rows in q and 3 in dtrain"):
        found(da.zeros(5, chunks=((2, 3),)))


def test_values_of_all_rows_are_dealt_like_the_rows():
    values, assignment = np.arange(7.0), assign(PARTS)
    made = asyncio.run(PerRow.read(Client(), values, PARTS, "labelled"))
    assert [part.tolist() for part in made.for_worker(assignment, PARTS, "b")] == [[0, 1, 2, 6]]
    column = asyncio.run(PerRow.read(Client(), values[:, None], PARTS, "labelled"))
    assert column.for_worker(assignment, PARTS, "a")[0].tolist() == [3, 4]
    for wrong, error in ((values[:6], ValueError), (1.0, TypeError)):
        with pytest.raises(error, match="labelled must have one value"):
            asyncio.run(PerRow.read(Client(), wrong, PARTS, "labelled"))
    lying = asyncio.run(PerRow.read(Client(), da.from_array(values, chunks=((3, 0, 2, 1, 1),)), PARTS, "labelled"))
    assert [part.tolist() for part in lying.for_worker(assignment, PARTS, "b")] == [[0, 1, 2], [6]]
    with pytest.raises(ValueError, match="labelled has 1 partitions, dtrain has 5"):
        asyncio.run(PerRow.read(Client(), da.from_array(values, chunks=7), PARTS, "labelled"))
    # Frames stay frames, with the rows of all.
    assert joined([pd.Series([1, 2]), pd.Series([3])]).tolist() == [1, 2, 3]
    with pytest.raises(TypeError, match=r"client.*distributed.Client.*None"):
        this_client("tcp://here")


# --- teachers -----------------------------------------------------------------------------------------------


def test_a_worker_is_sent_what_its_teacher_needs():
    assignment, q = assign(PARTS), np.linspace(0.1, 0.9, 7, dtype=np.float32)

    def on_worker(teacher):
        ((found, weight),) = asyncio.run(read_teachers(Client(), teacher, PARTS))
        sent = found if isinstance(found, str) else found.for_worker(assignment, PARTS, "b")
        return teacher_of_rows(sent), weight

    cut = da.from_array(q, chunks=((3, 0, 2, 1, 1),))
    np.testing.assert_array_equal(on_worker(cut)[0], q[[0, 1, 2, 6]])
    # An array of all rows is cut on the client.
    np.testing.assert_array_equal(on_worker(q)[0].q(None, None, None), q[[0, 1, 2, 6]])
    group = np.array(list("fmfmfmf"))
    parity, weight = on_worker(
        [(pid.by_column(DemographicParity, da.from_array(group, chunks=((3, 0, 2, 1, 1),))), 2.0)]
    )
    assert isinstance(parity, DemographicParity)
    assert weight == 2.0
    assert asyncio.run(read_teachers(Client(), None, PARTS)) == []
    assert on_worker("forest") == ("forest", None)
    assert on_worker([("boosted", 0.5)]) == ("boosted", 0.5)
    with pytest.raises(ValueError, match="7"):
        on_worker(q[:5])
    with pytest.raises(TypeError, match=r"by_column.*collection.*ndarray"):
        on_worker(pid.by_column(DemographicParity, group))
    weighed = asyncio.run(read_teachers(Client(), [(cut, q)], PARTS))[0][1]
    assert weighed.for_worker(assignment, PARTS, "a")[0].tolist() == q[[3, 4]].tolist()


# --- queries ------------------------------------------------------------------------------------------------


def test_rows_of_a_partition_meet_by_their_order():
    table = pd.DataFrame({"u": [1, 2], "v": [3, 4]}, index=[7, 5])
    made = queries._side_by_side({"data": ["data.0", "data.1"], "qid": ["qid.0"]}, table, pd.Series([8, 9], name="q"))
    pd.testing.assert_frame_equal(made, pd.DataFrame({"data.0": [1, 2], "data.1": [3, 4], "qid.0": [8, 9]}))
    with pytest.raises(ValueError, match=r"2.*1.*qid"):
        queries._side_by_side({"data": ["a", "b"], "qid": ["q"]}, table, pd.Series([8]))


def test_what_travels_with_queries_is_a_table_cut_alike():
    qid = dd.from_pandas(pd.Series([1, 1, 2, 2]), npartitions=2)
    for values, error, words in (
        (da.zeros(4), TypeError, r"weight.*DataFrame.*Array"),
        (dd.from_pandas(pd.Series([1.0] * 4), npartitions=1), ValueError, r"weight.*1 partition.*2"),
    ):
        with pytest.raises(error, match=words):
            queries.with_whole_queries({"qid": qid, "weight": values, "label": None}, device=None)


def test_queries_rise_where_something_is_told_of_each_row_and_lie_on_one_worker(monkeypatch):
    rising, falling = ([{"qid": np.array(part)} for part in parts] for parts in ([[1, 1], [2]], [[1, 2], [1]]))
    requested = []
    monkeypatch.setattr(queries, "on_several_workers", lambda qid: requested.append(qid.tolist()) or 0)
    queries.check_queries([{}], may_split=False, has_row_values=True)
    queries.check_queries(rising, may_split=False, has_row_values=True)
    queries.check_queries(falling, may_split=False, has_row_values=False)
    with pytest.raises(ValueError, match="qid must rise from row to row"):
        queries.check_queries(falling, may_split=True, has_row_values=True)
    assert requested == [[1, 1, 2], [1, 2, 1]]
    monkeypatch.setattr(queries, "on_several_workers", lambda qid: 3)
    queries.check_queries(rising, may_split=True, has_row_values=True)
    with pytest.raises(ValueError, match="3 queries have rows on several workers"):
        queries.check_queries(rising, may_split=False, has_row_values=True)


# --- the training -------------------------------------------------------------------------------------------


def test_xgboost_recognises_each_matrix(monkeypatch):
    train, valid = matrix({}, {}), matrix({}, {})
    for made in (train, valid):
        made._create_fn_args = lambda worker: {"worker": worker, "parts": "its own"}

    async def parts(client, other, name):
        assert (other, name) == (valid, "evals 'v'")
        return [Part("e0", "b", 1)]

    monkeypatch.setattr(cluster, "parts_of_matrix", parts)
    found = asyncio.run(cluster._matrix_arguments(Client(), assign(PARTS), train, PARTS, [(valid, "v")], "evals"))
    names = {"evals_id": [id(valid)], "evals_name": ["v"]}
    own, other = {"worker": "b", "parts": ["p0", "p4"]}, {"worker": "b", "parts": ["e0"]}
    assert found["b"] == ([own, id(train), other], names)
    own, other = {"worker": "a", "parts": ["p2"]}, {"worker": "a", "parts": None}
    assert found["a"] == ([own, id(train), other], names)


class Ended:
    """The future of a task that is over."""

    def __init__(self, answer=None, error=None, status=None):
        self.answer, self.error = answer, error
        self.status = status or ("error" if error else "finished")

    async def exception(self):
        return self.error

    def __await__(self):
        yield from ()
        return self.answer


def test_of_all_errors_the_first_cause_is_raised(monkeypatch):
    async def wait(futures):
        if futures[0].status == "cancelled":
            raise distributed.CancelledError("gone")

    monkeypatch.setattr(distributed, "wait", wait)

    def outcome(*futures):
        return asyncio.run(cluster._result(list(futures)))

    assert outcome(Ended(), Ended({"booster": 1})) == {"booster": 1}
    cut_off = Ended(error=xgb.core.XGBoostError("collective: peer closed"))
    received = Ended(error=RuntimeError("a fault on 1 other worker(s) of this distributed training"))
    cause = Ended(error=ValueError("the cause"))
    own = Ended(error=xgb.core.XGBoostError("a label is out of range"))
    for others, error, words in (
        ([cut_off, received, cause], ValueError, "the cause"),
        ([received, own, cut_off], xgb.core.XGBoostError, "out of range"),
        ([cut_off, received], xgb.core.XGBoostError, "peer closed"),
        ([cut_off, Ended(status="cancelled")], ConnectionError, "a worker was lost"),
        ([Ended({"booster": 1}), Ended(status="lost")], ConnectionError, "a worker was lost"),
    ):
        with pytest.raises(error, match=words):
            outcome(*others)


def test_keywords_are_checked_and_all_of_them_arrive(monkeypatch):
    monkeypatch.setattr("pi_xgb._dask.train.this_client", lambda client: client)
    received = {}
    monkeypatch.setattr(xgb.dask, "train", lambda *given, **more: received.update(more, given=given) or "xgboost's")
    client = SimpleNamespace(sync=lambda work, *given, **more: received.update(more, given=given, work=work) or "ours")
    shared = {
        "evals": [("d", "e")],
        "early_stopping_rounds": 3,
        "xgb_model": "model",
        "verbose_eval": 2,
        "callbacks": ["c"],
        "custom_metric": "m",
        "coll_cfg": "cfg",
    }
    assert pid.train(client, {"eta": 1}, "dtrain", 7, obj="obj", **shared) == "xgboost's"
    assert received == {**shared, "obj": "obj", "given": (client, {"eta": 1}, "dtrain", 7)}
    received.clear()
    assert pid.train(client, {"eta": 1}, "dtrain", teacher=np.array([0.5]), engine="native", **shared) == "ours"
    assert received.pop("given")[:4] == (client, {"eta": 1}, "dtrain", 10)
    assert received == {**shared, "engine": "native", "work": cluster.train_async}
    received.clear()
    pid.train(client, {"eta": 1}, "dtrain", teacher=np.array([0.5]))
    assert (received["given"][4].crossfit, received["given"][4].allow_overlap) == (None, False)
    del received["given"], received["work"]
    assert received == {**dict.fromkeys(shared), "verbose_eval": True, "engine": "auto"}
    for wrong in ({"engine": "fast"}, {"obj": "obj"}, {"method": "jpib"}):
        with pytest.raises((ValueError, TypeError)):
            pid.train(client, {}, "dtrain", teacher=np.array([0.5]), **wrong)


def test_every_worker_is_given_its_load_to_train_on(monkeypatch):
    requested, submitted, locked = [], [], []

    async def addresses(*given, **more):
        requested.append((given, more))
        return "communicator"

    class Lock(contextlib.nullcontext):
        def __init__(self, *given):
            super().__init__(locked.append(given))

    async def outcome(futures):
        return futures

    monkeypatch.setattr(cluster, "_get_rabit_args", addresses)
    monkeypatch.setattr(cluster, "_get_dask_config", lambda: "config of dask")
    monkeypatch.setattr(distributed, "MultiLock", Lock)
    monkeypatch.setattr(cluster, "_result", outcome)
    client = SimpleNamespace(submit=lambda *given, **more: submitted.append((given, more)) or len(submitted))
    settings = cluster.Settings({}, {}, "how to talk", {}, False)
    loads = {"a": ("student", None), "b": ("another", None)}
    assert asyncio.run(cluster._train_together(client, settings, loads)) == [1, 2]
    assert locked == [(["a", "b"], client)]
    assert requested == [((client, 2), {"dconfig": "config of dask", "coll_cfg": "how to talk"})]
    # Never an answer of the past, and never waiting for a worker that is gone.
    how = {"allow_other_workers": True, "pure": False}
    assert submitted == [
        ((cluster._work, worker, settings, "communicator", *load), {"workers": [worker], **how})
        for worker, load in loads.items()
    ]


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("newer", [False, True])
def test_a_worker_trains_on_its_load(monkeypatch, rank, newer):
    received, talked, made = {}, [], []
    monkeypatch.setattr(distributed, "get_worker", lambda: SimpleNamespace(address="here"))
    monkeypatch.setattr(cluster, "get_n_threads", lambda params, worker: 3)
    monkeypatch.setattr(cluster, "CommunicatorContext", lambda **more: talked.append(more) or contextlib.nullcontext())
    monkeypatch.setattr(cluster.collective, "get_rank", lambda: rank)
    monkeypatch.setattr(cluster, "check_queries", lambda parts, **more: received.update(more, parts=parts))

    def matrices(*given, **more):
        made.append((given, more))
        return f"matrix {len(made)}", [("v", "name")] if len(made) == 1 else []

    def train(*given, evals_result, **more):
        received.update(more, given=given, threads=xgb.get_config()["nthread"])
        evals_result["v"] = 1
        return "booster"

    monkeypatch.setattr(cluster, "_get_dmatrices", matrices)
    monkeypatch.setattr(cluster, "train", train)
    updated = SimpleNamespace(update_worker_args=lambda single: {**single, "updated": True}) if newer else None
    keywords = {"engine": "native", "num_boost_round": 5, "xgb_model": "model"}
    settings = cluster.Settings({"n_jobs": 8, "eta": 1}, keywords, updated, {"verbosity": 2}, True)
    sides = [
        ([{"parts": name}, i, "evals"], {"evals_id": [7], "evals_name": ["name"]})
        for i, name in enumerate(["rows", "privileged"])
    ]
    per_row = {"labelled": [np.array([True]), np.array([False])]}
    answer = cluster._work("here", settings, {"port": 1}, *sides, [], per_row)
    # One worker answers for all.
    assert answer == ({"booster": "booster", "history": {"v": 1}} if rank == 0 else None)
    assert talked == [{"port": 1, "updated": True} if newer else {"port": 1}]
    identities = {"evals_id": [7], "evals_name": ["name"], "n_threads": 3}
    assert made == [
        (({"parts": "rows"}, 0, "evals"), {**identities, "model": "model"}),
        (({"parts": "privileged"}, 1, "evals"), {**identities, "model": None}),
    ]
    assert received.pop("labelled").tolist() == [True, False]
    assert received == {
        "parts": "rows",
        "may_split": True,
        "has_row_values": True,
        **keywords,
        "given": ({"eta": 1, "nthread": 3}, "matrix 1"),
        "threads": 3,
        "evals": [("v", "name")],
        "privileged": "matrix 2",
        "privileged_evals": None,
    }
    # A teacher alone, with a weight for each row, or in a list of one without.
    q = [np.array([0.1]), np.array([0.9])]
    for weight in ([np.array([1.0]), np.array([2.0])], 3.0, None):
        made.clear()
        cluster._work("here", settings, {}, sides[0], None, [(q, weight)], {})
        assert received["has_row_values"]
        ((found, counts),) = [(received["teacher"], None)] if weight is None else received["teacher"]
        assert found.tolist() == [0.1, 0.9]
        assert np.array_equal(counts, np.concatenate(weight)) if isinstance(weight, list) else counts == weight
    cluster._work("here", settings, {}, sides[0], None, [], {})
    assert not received["has_row_values"]
    # A word has no values of rows.
    cluster._work("here", settings, {}, *sides, [("forest", None)], {})
    assert (received["teacher"], received["has_row_values"]) == ("forest", False)
    cluster._work("here", settings, {}, *sides, [("boosted", [np.array([1.0])])], {})
    assert received["has_row_values"]
    with pytest.raises(ConnectionError, match="the worker there was lost during the training"):
        cluster._work("there", settings, {}, sides[0], None, [], {})


# --- the estimators -----------------------------------------------------------------------------------------


class Awaited:
    """A DaskDMatrix: what it was made of."""

    def __init__(self, *given, **more):
        self.received = given, more

    def __await__(self):
        yield from ()
        return self.received


def table(n_parts=2):
    return da.zeros((4, 2), chunks=(4 // n_parts, 2))


@pytest.fixture
def fitting(monkeypatch):
    """What XGBoost's own ``fit`` is called with, and what would train in it."""
    received = {}
    monkeypatch.setattr(estimators, "rebind", lambda own, **names: received.update(names, rebind=own) or own)
    monkeypatch.setattr(
        estimators.DaskPrivilegedXGBModel,
        "_client_sync",
        lambda self, work, **given: received.update(given, work=work) or self,
    )
    return received


ARRIVES = {
    "sample_weight": "weight",
    "base_margin": "margin",
    "sample_weight_eval_set": ["its weight"],
    "base_margin_eval_set": ["its margin"],
    "verbose": 4,
    "xgb_model": "model",
    "feature_weights": "of features",
}


@pytest.mark.parametrize("exposed", [True, False])
def test_fit_passes_on_what_is_xgboosts(fitting, exposed):
    model = pid.DaskPrivilegedXGBRegressor(objective="count:poisson" if exposed else "reg:squarederror")
    y, z, z_valid, valid = da.arange(4, chunks=2), table(), table(), ("X of it", da.arange(4, chunks=2))
    settings = {"privileged": z, "eval_privileged": [z_valid], "teacher_weight": "tw", "crossfit_groups": "groups"}
    model.set_params(crossfit=2)
    assert model.fit("X", y, eval_set=[valid], **settings, **ARRIVES) is model
    train, work = fitting.pop("_train_async"), fitting.pop("work")
    assert train.func.__func__ is estimators.DaskPrivilegedXGBModel._train_with_teacher
    config, fields, evals = train.args
    assert fitting.pop("rebind") is work.func is xgb.dask.DaskXGBRegressor._fit_async
    assert work.args == (model,)
    assert fitting == {"X": "X", "y": y, "eval_set": [valid], **ARRIVES}
    # Where margins are exposures the teacher has them, too.
    margins = ["margin", "its margin"] if exposed else [None, None]
    assert config == TeacherConfig(z, teacher_weight="tw", crossfit_groups="groups", crossfit=2)
    assert fields == {"base_margin": margins[0], "label": y}
    assert evals == [(z_valid, {"base_margin": margins[1], "label": valid[1]})]
    # Several sets without margins of theirs; and nobody who teaches.
    model.fit("X", y, privileged=z, eval_set=[valid, valid])
    assert [settings["base_margin"] for _, settings in fitting["_train_async"].args[2]] == [None, None]
    # A teacher that sees X needs its values.
    assert "_async_wrap_evaluation_matrices" not in fitting
    model.set_params(teacher="boosted").fit("X", y)
    assert "_async_wrap_evaluation_matrices" in fitting
    fitting.clear()
    model.set_params(kl_weight=0, teacher=None).fit("X", y)
    assert fitting.pop("work").func is xgb.dask.DaskXGBRegressor._fit_async
    assert fitting == {"X": "X", "y": y, "eval_set": None, **dict.fromkeys(ARRIVES), "verbose": True}


def guided(monkeypatch, model, *rows, **given):
    received = {}

    async def train(*given, **more):
        received.update(more, given=given)

    monkeypatch.setattr(estimators, "train_async", train)
    monkeypatch.setattr(estimators, "DaskDMatrix", Awaited)
    asyncio.run(model._train_with_teacher(*rows, client="client", **given))
    return received


def test_the_teachers_matrices_are_read_as_the_students(monkeypatch):
    evals = [("dv", "valid"), ("dt", "train")]
    settings = {"missing": -1.0, "enable_categorical": True, "kl_weight": 0.5, "engine": "native"}
    read = {"missing": -1.0, "enable_categorical": True}
    shared = dict.fromkeys(("params", "dtrain", "num_boost_round", "custom_metric", "coll_cfg"), "as it is")

    def found(**more):
        model = pid.DaskPrivilegedXGBRegressor(**{**settings, **more})
        config = model._teacher_config(None, privileged="Z")
        rows = config, {"label": "y"}, [("Zv", {"label": "yv"}), (None, {})]
        return guided(monkeypatch, model, *rows, evals=evals, global_config="no", dconfig="no", obj=None, **shared)

    received = found(early_stopping_rounds=2)
    config = received.pop("config")
    assert received == {**shared, "given": ("client",), "evals": evals, "engine": "native", "splits_queries": False}
    assert config.privileged == (("client", "Z"), {**read, "label": "y"})
    assert config.privileged_evals == [((("client", "Zv"), {**read, "label": "yv"}), "valid")]
    assert (config.teacher, config.kl_weight, config.method, config.crossfit) == (None, 0.5, "kbpib", None)
    assert (config.allow_overlap, config.teacher_params, config.teacher_sees) == (False, None, None)
    assert pid.DaskPrivilegedXGBRegressor(coll_cfg="how to talk").coll_cfg == "how to talk"
    # Only a boosted teacher that learns first, from privileged columns alone, and counts, stops.
    for unread in ({"kl_weight": 0}, {"method": "jpib"}, {"teacher": "forest"}, {"teacher_sees": "all"}):
        assert found(early_stopping_rounds=2, **unread)["config"].privileged_evals is None
    assert found()["config"].privileged_evals is None
    model = pid.DaskPrivilegedXGBRanker(early_stopping_rounds=2, allow_group_split=True)
    alone = TeacherConfig(teacher="q", labelled="known"), {}, []
    received = guided(monkeypatch, model, *alone, evals=None)
    assert received["splits_queries"]
    assert (received["config"].privileged, received["config"].labelled) == (None, "known")
    # An objective in Python would be dropped.
    with pytest.raises(ValueError, match="obj must be left out with a teacher"):
        guided(monkeypatch, model, *alone, evals=None, obj=max)


def test_a_ranker_passes_on_what_is_xgboosts(fitting, monkeypatch):
    dealt = []

    def whole(settings, *, device):
        dealt.append(settings)
        assert device == "cpu"
        return {name: None if value is None else ("whole", value) for name, value in settings.items()}

    monkeypatch.setattr(ranker, "with_whole_queries", whole)
    monkeypatch.setattr(estimators, "labels_and_mask", lambda y: (y, "known"))
    monkeypatch.setattr(ranker, "checked_eval_privileged", lambda tables, sets: tables)
    settings = {
        "X": "X",
        "y": "y",
        "qid": "qid",
        "base_margin": "margin",
        "teacher_weight": "tw",
        "crossfit_groups": "groups",
    }
    of_config = {"teacher": None, "privileged": "z", "teacher_weight": "tw", "crossfit_groups": "groups"}
    valid = {"X": "Xv", "y": "yv", "qid": "qv", "privileged": "zv", "base_margin": "mv"}
    again = {"X": "X", "y": "y", "qid": "qid", "privileged": None, "base_margin": "margin"}
    other = {**again, "y": "yv"}
    rest = {"verbose": 4, "xgb_model": "model", "feature_weights": "of features"}
    for split in (False, True):
        model = pid.DaskPrivilegedXGBRanker(ndcg_exp_gain=False, device="cpu", allow_group_split=split, crossfit=2)
        dealt.clear()
        keywords = {
            "eval_set": [("Xv", "yv"), ("X", "y"), ("X", "yv")],
            "eval_qid": ["qv", "qid", "qid"],
            "eval_privileged": ["zv", None, None],
            "base_margin_eval_set": ["mv", "margin", "margin"],
        }
        model.fit(**settings, privileged="z", **keywords, **rest)
        assert dealt == ([] if split else [{**settings, "privileged": "z", "teacher": None}, valid, other])

        def received(value, split=split):
            return value if split or value is None else ("whole", value)

        rows = fitting.pop("_train_async").args
        assert fitting.pop("work").func is fitting.pop("rebind") is xgb.dask.DaskXGBRanker._fit_async
        assert fitting == {
            **{name: received(settings[name]) for name in ("X", "y", "qid", "base_margin")},
            "eval_set": [(received(item["X"]), received(item["y"])) for item in (valid, again, other)],
            "eval_qid": [received("qv"), received("qid"), received("qid")],
            "base_margin_eval_set": [received("mv"), received("margin"), received("margin")],
            "sample_weight": None,
            "sample_weight_eval_set": None,
            **rest,
        }
        config = TeacherConfig(
            **{name: received(value) for name, value in of_config.items()}, labelled="known", crossfit=2
        )
        assert rows == (
            config,
            {"qid": received("qid"), "label": received("y")},
            [
                (received("zv"), {"qid": received("qv"), "label": received("yv")}),
                (None, {"qid": received("qid"), "label": received("y")}),
                (None, {"qid": received("qid"), "label": received("yv")}),
            ],
        )
    # Without sets, without margins of theirs, and with a teacher that is a word or values.
    for teacher, kept in (("boosted", ("whole", "boosted")), (("q", "of rows"), ("whole", ("q", "of rows")))):
        model = pid.DaskPrivilegedXGBRanker(ndcg_exp_gain=False, device="cpu")
        monkeypatch.setattr(ranker, "checked_eval_privileged", lambda tables, sets: [None] * len(sets or ()))
        model.fit("X", "y", qid="qid", teacher=teacher)
        assert fitting["_train_async"].args[0].teacher == kept
        assert [fitting[name] for name in ("eval_set", "eval_qid", "base_margin_eval_set")] == [None] * 3
        assert fitting["verbose"] is False
    # Copies stand for a teacher that learned first; one that counts nothing needs none.
    for weight, refused in ((0.0, False), (0.5, True)):
        model = pid.DaskPrivilegedXGBRanker(ndcg_exp_gain=False, device="cpu", method="jpib", kl_weight=weight)
        with pytest.raises(ValueError, match="method='kbpib'") if refused else contextlib.nullcontext():
            model.fit("X", "y", qid="qid", privileged="z")
    for absent in ("group", "eval_group", "sample_weight", "sample_weight_eval_set"):
        with pytest.raises(ValueError, match=f"^{absent} must be None"):
            model.fit("X", "y", qid="qid", privileged="z", **{absent: [1]})


def test_missing_labels_are_told_by_every_kind_of_collection():
    gaps = np.array([np.nan, 2, 5, np.nan])
    for y in (da.from_array(gaps, chunks=2), dd.from_pandas(pd.Series(gaps), npartitions=2)):
        filled, known = estimators.labels_and_mask(y)
        assert np.asarray(filled.compute()).tolist() == [2, 2, 5, 2]
        assert np.asarray(known.compute()).tolist() == [False, True, True, False]
    for nothing in (da.from_array(gaps * np.nan, chunks=2), dd.from_pandas(pd.Series(gaps * np.nan), npartitions=2)):
        assert np.asarray(estimators.labels_and_mask(nothing)[0].compute()).tolist() == [0] * 4
    single = da.from_array(gaps[:, None].astype(np.float32), chunks=(2, 1))
    filled, known = estimators.labels_and_mask(single)
    assert filled.dtype == np.float32
    assert known.compute().ravel().tolist() == [False, True, True, False]
    # Whole numbers have no gaps, and of several targets none may be missing.
    for y in (da.arange(4, chunks=2), da.zeros((4, 2), chunks=2), dd.from_pandas(pd.Series([0, 1]), npartitions=1)):
        assert estimators.labels_and_mask(y) == (y, None)


def test_privileged_tables_are_cut_like_the_labels():
    y, sets = da.arange(4, chunks=2), [("X", da.arange(4, chunks=2)), ("X", da.arange(4, chunks=4))]
    tables = [table(), dd.from_pandas(pd.DataFrame({"z": range(4)}), npartitions=1)]
    assert estimators.checked_eval_privileged(tables, sets) == tables
    assert estimators.checked_eval_privileged(None, sets) == [None, None]
    for wrong, words in (
        ([table(1), None], r"eval_privileged\[0\].*1 partition.*eval_set\[0\].*2"),
        ([None, table()], r"eval_privileged\[1\].*2 partitions.*eval_set\[1\].*1"),
        ([None], r"eval_privileged.*eval_set.*1 for 2"),
    ):
        with pytest.raises(ValueError, match=words):
            estimators.checked_eval_privileged(wrong, sets)
    for no_collection in (np.zeros((4, 2)), SimpleNamespace(npartitions=2)):
        with pytest.raises(TypeError, match=r"privileged.*Dask.*DataFrame"):
            estimators._check_blocks(no_collection, y, "privileged", "y")
