"""The booster in other people's tools: they see a plain XGBoost model of the classifier features, nothing else."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

import pi_xgb
from pi_xgb.sklearn import PrivilegedXGBClassifier, PrivilegedXGBRegressor

pytestmark = pytest.mark.slow


def tool(name):
    """A library that need not be installed, and whose own warnings are not ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name)


@pytest.fixture(params=[2, 3, 0], ids=["binary", "classes", "numbers"])
def fitted(request):
    data = pi_xgb.datasets.make_privileged(200, n_features=4, n_privileged=2, seed=0)
    classes = request.param
    made = PrivilegedXGBClassifier if classes else PrivilegedXGBRegressor
    y = {2: data.y, 3: pd.qcut(data.q, 3, labels=False), 0: data.q}[classes]
    # Plain columns, f0 to f3, are the names that every converter knows.
    x = data.x.to_numpy(np.float32)
    model = made(n_estimators=6, max_depth=3, n_jobs=1, method="jpib" if classes == 2 else "kbpib", kl_weight=2.0)
    return model.fit(x, y, privileged=data.z), x


def mean_of(model, x):
    return model.predict_proba(x) if hasattr(model, "predict_proba") else model.predict(x)[:, None]


@pytest.mark.filterwarnings("ignore")
def test_shap_values_add_up_to_the_margin(fitted):
    shap = tool("shap")
    model, x = fitted
    explainer = shap.TreeExplainer(model.get_booster())
    explained = np.asarray(explainer.shap_values(x))
    margin = model.get_booster().predict(xgb.DMatrix(x), output_margin=True)
    assert explained.shape[:2] == (200, 4)
    np.testing.assert_allclose(explained.sum(axis=1) + explainer.expected_value, margin, atol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_treelite_predicts_the_same(fitted):
    treelite = tool("treelite")
    model, x = fitted
    loaded = treelite.frontend.from_xgboost(model.get_booster())
    predicted = treelite.gtil.predict(loaded, x).reshape(200, -1)
    expected = mean_of(model, x)
    np.testing.assert_allclose(predicted, expected if predicted.shape[1] > 1 else expected[:, -1:], atol=1e-6)
    assert loaded.num_feature == 4


@pytest.mark.filterwarnings("ignore")
def test_onnx_predicts_the_same(fitted):
    onnxmltools, onnxruntime = tool("onnxmltools"), tool("onnxruntime")
    types = pytest.importorskip("onnxmltools.convert.common.data_types")
    model, x = fitted
    inputs = [("x", types.FloatTensorType([None, 4]))]
    converted = onnxmltools.convert_xgboost(model.get_booster(), initial_types=inputs)
    session = onnxruntime.InferenceSession(converted.SerializeToString())
    predicted = np.asarray(session.run(None, {"x": x})[-1])
    np.testing.assert_allclose(predicted.reshape(200, -1), mean_of(model, x), atol=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_onnx_takes_columns_of_any_name_by_their_numbers():
    onnxmltools, onnxruntime = tool("onnxmltools"), tool("onnxruntime")
    types = pytest.importorskip("onnxmltools.convert.common.data_types")
    data = pi_xgb.datasets.make_privileged(200, n_features=4, seed=0)
    model = PrivilegedXGBClassifier(n_estimators=6, max_depth=3, n_jobs=1).fit(data.x, data.y, privileged=data.z)
    inputs = [("x", types.FloatTensorType([None, 4]))]
    with pytest.raises(RuntimeError, match="f%d"):
        onnxmltools.convert_xgboost(model.get_booster(), initial_types=inputs)
    # The lines of the FAQ.
    numbered = model.get_booster().copy()
    numbered.feature_names = [f"f{i}" for i in range(numbered.num_features())]
    converted = onnxmltools.convert_xgboost(numbered, initial_types=inputs)
    session = onnxruntime.InferenceSession(converted.SerializeToString())
    predicted = session.run(None, {"x": data.x.to_numpy(np.float32)})[-1]
    np.testing.assert_allclose(predicted, model.predict_proba(data.x), atol=1e-6)
    assert model.get_booster().feature_names == list(data.x.columns)


def test_files_of_the_booster_are_those_of_xgboost(fitted, tmp_path):
    model, x = fitted
    model.get_booster().save_model(tmp_path / "model.json")
    own = xgb.Booster(model_file=tmp_path / "model.json")
    # Whoever gets the file needs XGBoost and nothing of this library.
    assert np.array_equal(
        own.predict(xgb.DMatrix(x), output_margin=True),
        model.get_booster().predict(xgb.DMatrix(x), output_margin=True),
    )
    assert own.num_features() == 4
