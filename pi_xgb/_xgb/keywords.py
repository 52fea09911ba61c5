"""The keywords that our estimators pass on to XGBoost's, typed so that a type checker finds misspelt ones.

At run time XGBoost accepts any keyword and reports unknown ones only during training.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypedDict

from xgboost.callback import TrainingCallback


class BoosterKeywords(TypedDict, total=False):
    """Booster parameters that XGBoost's estimators accept but do not list, under their names in ``params``."""

    aft_loss_distribution: str
    aft_loss_distribution_scale: float
    alpha: float
    eta: float
    huber_slope: float
    lambdarank_bias_norm: float
    lambdarank_normalization: bool
    lambdarank_num_pair_per_sample: int
    lambdarank_pair_method: str
    lambdarank_score_normalization: bool
    lambdarank_unbiased: bool
    max_cached_hist_node: int
    min_split_loss: float
    ndcg_exp_gain: bool
    normalize_type: str
    nthread: int
    num_class: int
    one_drop: bool
    process_type: str
    quantile_alpha: float | Sequence[float]
    rate_drop: float
    refresh_leaf: bool
    sample_type: str
    seed: int
    skip_drop: float
    tweedie_variance_power: float
    updater: str


class EstimatorKeywords(BoosterKeywords, total=False):
    """The parameters of ``xgboost.XGBModel``; a test compares them with its signature."""

    max_depth: int | None
    max_leaves: int | None
    max_bin: int | None
    grow_policy: str | None
    learning_rate: float | None
    n_estimators: int | None
    verbosity: int | None
    objective: Any
    booster: str | None
    tree_method: str | None
    n_jobs: int | None
    gamma: float | None
    min_child_weight: float | None
    max_delta_step: float | None
    subsample: float | None
    sampling_method: str | None
    colsample_bytree: float | None
    colsample_bylevel: float | None
    colsample_bynode: float | None
    reg_alpha: float | None
    reg_lambda: float | None
    scale_pos_weight: float | None
    base_score: float | list[float] | None
    random_state: Any
    missing: float
    num_parallel_tree: int | None
    monotone_constraints: dict[str, int] | Sequence[int] | str | None
    interaction_constraints: str | Sequence[Sequence[str]] | None
    importance_type: str | None
    device: str | None
    validate_parameters: bool | None
    enable_categorical: bool
    feature_types: Sequence[str] | None
    feature_weights: Any
    max_cat_to_onehot: int | None
    max_cat_threshold: int | None
    multi_strategy: str | None
    eval_metric: str | Sequence[str | Callable[..., Any]] | Callable[..., Any] | None
    early_stopping_rounds: int | None
    callbacks: list[TrainingCallback] | None


class SparkKeywords(EstimatorKeywords, total=False):
    """Further parameters of the estimators of ``xgboost.spark``."""

    features_col: str | list[str]
    label_col: str
    prediction_col: str
    probability_col: str
    raw_prediction_col: str
    pred_contrib_col: str | None
    validation_indicator_col: str | None
    weight_col: str | None
    base_margin_col: str | None
    qid_col: str | None
    num_workers: int
    use_gpu: bool | None
    force_repartition: bool
    repartition_random_shuffle: bool
    enable_sparse_data_optim: bool
    launch_tracker_on_driver: bool
    coll_cfg: Any
