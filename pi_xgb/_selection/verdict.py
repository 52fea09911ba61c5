"""The verdict of a comparison in one sentence."""

from __future__ import annotations

from collections.abc import Mapping

from .._stats.paired import Interval
from .scores import Score
from .words import in_words, name_of


def verdict_on(
    score: Score,
    gain: Interval,
    controls: Mapping[str, Interval],
    beyond: Mapping[str, Interval],
    *,
    unlabelled: bool = False,
) -> tuple[bool, str]:
    """Return whether there is evidence, and the sentence.

    ``gain`` is the student's over plain XGBoost. ``controls`` are the gains of self-distillation and of shuffled rows,
    and ``beyond`` are the gains of the student over each of them. With ``unlabelled`` rows self-distillation is more
    than smoothing: it uses these rows too.

    Examples
    --------
    >>> auc = Score("auc", maximised=True)
    >>> nothing, much = Interval(0.001, 0.002, -0.004, 0.006), Interval(0.02, 0.004, 0.012, 0.028)
    >>> controls = {"self-distillation": nothing, "shuffled": nothing}
    >>> verdict_on(auc, nothing, controls, controls)
    (False, 'no evidence of a gain: AUC higher by 0.0010 [-0.0040, +0.0060], which may be chance')
    >>> verdict_on(auc, much, controls, {"self-distillation": much, "shuffled": much})[1]
    'a gain: AUC higher by 0.0200 [+0.0120, +0.0280], of which 0.0010 is smoothing'
    """
    change = in_words(score, gain)
    if gain.error == 0 and gain.mean > 0:
        same = f"every fold gave the same {gain.mean:.4f} in {name_of(score)}"
        return False, f"no evidence of a gain: {same}, so its error is unknown"
    if gain.error == 0 and gain.mean == 0:
        return False, "no evidence of a gain: plain XGBoost was chosen in every fold"
    if gain.high < 0:
        return False, f"a loss: {change}"
    if not gain.low > 0:
        return False, f"no evidence of a gain: {change}, which may be chance"
    doubted = [name for name, difference in beyond.items() if not (difference.low > 0 and difference.error > 0)]
    if doubted:
        worst = max(doubted, key=lambda name: controls[name].mean)
        without = "a teacher without them, on the same rows" if unlabelled else "a teacher without them"
        what = {"self-distillation": without, "shuffled": "privileged rows of others"}[worst]
        return False, (
            f"a gain, but no evidence that privileged features earn it: {change}; with {what} "
            f"{in_words(score, controls[worst])}"
        )
    own = controls["self-distillation"].mean
    share = f"{own:.4f}" if own > 0 else "nothing"
    source = "comes from a teacher without privileged features, on the same rows" if unlabelled else "is smoothing"
    return True, f"a gain: {change}, of which {share} {source}"
