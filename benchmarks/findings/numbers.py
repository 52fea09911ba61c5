"""The numbers of FINDINGS.md, from the files of benchmarks/results."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from statistics import median

import pandas as pd

from benchmarks.curves.page import ALL_FEATURES, NF, complete_lines
from benchmarks.frontier import page as frontier
from benchmarks.intervals import Interval, corrected_interval, verdict, wins_ties_losses
from benchmarks.privacy import page as privacy
from benchmarks.report.__main__ import results_of
from benchmarks.report.questions import PAIRS, gaps_of, tally
from benchmarks.report.results import Results
from benchmarks.selection import page as selection
from benchmarks.selection.truth_page import BARS
from benchmarks.text import signed
from benchmarks.unlabelled import kinds
from benchmarks.unlabelled.cell import CHOSEN_BY_AUC, MIXED, PLAIN, SELECT
from benchmarks.unlabelled.scores import Scores, with_all_of

CANDIDATE = "mixed 1"


class Numbers:
    """What the page asks for by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def runs(self) -> Results:
        return results_of([self.folder / "paper.csv", self.folder / "current.csv"])

    @cached_property
    def sets(self) -> list[str]:
        return self.runs.datasets("current")

    def difference(self, mode: str, dataset: str, method: str, other: str = NF, measure: str = "auc") -> Interval:
        found = self.runs.difference(mode, dataset, method, other, measure)
        if found is None:
            raise ValueError(f"{dataset} has no folds of both {method} and {other}")
        return found

    def tally(self, mode: str, method: str, measure: str = "auc") -> tuple[int, int, int]:
        """Sets on which a method is significantly better than plain XGBoost, neither, or worse."""
        better = measure == "auc"
        differences = [self.difference(mode, name, method, NF, measure) for name in self.sets]
        return wins_ties_losses(verdict(item, higher_is_better=better) for item in differences)

    def median_gain(self, method: str) -> float:
        return median(self.difference("current", name, method).mean for name in self.sets)

    @cached_property
    def group_gaps(self) -> dict[str, int]:
        """How often a gap between groups changes significantly with the paper's alpha."""
        gaps = [gap for method in PAIRS["the paper's alpha"] for gap in gaps_of(self.runs, self.sets, method, NF)]
        counts = sum(tally(gaps).values(), type(tally([])["eo"])())
        return {"all": len(gaps), "narrower": counts["win"], "wider": counts["loss"]}

    @cached_property
    def search(self) -> pd.DataFrame:
        return pd.read_csv(self.folder / "search" / "summary.csv")

    @cached_property
    def by_weight(self) -> pd.Series[float]:
        """Gain in log loss of the all-features teacher at each fixed weight, the mean over sets and sizes."""
        wide = complete_lines(self.folder / "curves.csv").pivot(
            index=["dataset", "rows", "repeat"], columns=["method", "kl_weight"], values="test_logloss"
        )
        gains = wide[ALL_FEATURES].rsub(wide[NF].iloc[:, 0], axis=0)
        return gains.groupby("dataset").mean().mean()

    @cached_property
    def unlabelled(self) -> pd.DataFrame:
        return pd.read_csv(self.folder / "unlabelled.csv")

    @cached_property
    def auc(self) -> Scores:
        return Scores(self.unlabelled, "auc")

    @cached_property
    def places(self) -> dict[str, list[tuple[str, int]]]:
        """Sets by the number of labels."""
        return kinds.places_by_labels(with_all_of(self.unlabelled, MIXED))

    def gain(self, labels: str, method: str, less: str = PLAIN, *, telling: bool | None = None) -> Interval | None:
        """Mean over sets of a gain in AUC; the best rival is picked with hindsight."""
        places = self.places[labels]
        if telling is not None:
            places = kinds.places_in(places, telling)
        against = [kinds.best(self.auc, place, kinds.RIVALS) if less == "best" else less for place in places]
        gains = [kinds.mean_gain(self.auc, place, method, rival) for place, rival in zip(places, against, strict=True)]
        return kinds.over_sets(gains)

    def lower_logloss(self, method: str) -> Interval:
        """What a method lowers the log loss of plain XGBoost by, with 50 labels."""
        loss = Scores(self.unlabelled, "logloss", -1)
        return corrected_interval([kinds.mean_gain(loss, place, method) for place in self.places["50"]], 0.0)

    def one_set(self, dataset: str, labels: int, method: str, less: str = PLAIN) -> Interval:
        return corrected_interval(self.auc.gain(dataset, labels, method, less), kinds.OVER_TRAIN)

    def losses_of_select(self) -> list[str]:
        """Sets and numbers of labels at which `select` has a lower mean AUC than plain XGBoost."""
        there = [place for places in self.places.values() for place in places]
        gains = {place: kinds.mean_gain(self.auc, place, SELECT) for place in there}
        return [f"{name} with {labels} labels ({gain:+.3f})" for (name, labels), gain in gains.items() if gain < 0]

    def behind_rival(self) -> tuple[list[str], int]:
        """Where the mixed teacher has a lower mean AUC than the chosen rival; of all labels the number of sets."""
        behind = {
            (labels, place[0]): gain
            for labels, places in self.places.items()
            for place in places
            if (gain := kinds.mean_gain(self.auc, place, MIXED, CHOSEN_BY_AUC)) < 0
        }
        few = [f"{name} with {n} labels ({signed(gain)})" for (n, name), gain in behind.items() if n != kinds.ALL]
        return few, len(behind) - len(few)

    def draws(self, method: str) -> str:
        """How many draws of a set a method has."""
        places = [place for places in self.places.values() for place in places]
        there = [place for place in places if self.auc.values(*place, method).size]
        return kinds.draws(self.auc, there, method)

    def choice(self, part: str) -> pd.DataFrame:
        """What `select` chooses by its defaults: a line for each setting."""
        own = selection.PARTS[part]
        lines = pd.read_csv(self.folder / f"selection_{part}.csv")
        return selection.settings_of(selection.cells_of(lines, own, selection.DEFAULT), own)

    def fixed(self, part: str, candidate: str = CANDIDATE) -> float:
        """The mean gain in log loss over settings if this candidate is always taken."""
        lines, own = pd.read_csv(self.folder / f"selection_{part}.csv"), selection.PARTS[part]
        wide = lines.pivot(index=own.keys, columns="candidate", values="logloss")
        return float((wide["plain"] - wide[candidate]).groupby(own.by).mean().mean())

    @cached_property
    def candidates(self) -> pd.DataFrame:
        """The gain in log loss of each candidate, always taken, by set of the paper."""
        return selection.candidate_gains(self.folder)

    @cached_property
    def constraints(self) -> pd.DataFrame:
        """Constraints on distributions against each peer, by the peer's own criterion."""
        results = pd.read_csv(self.folder / "frontier.csv")
        forms = frontier.FORMS["Constraints on distributions"]
        return frontier.comparison(results[results.measure != "error"], forms)

    @cached_property
    def private(self) -> privacy.Wide:
        return privacy.Wide(pd.read_csv(self.folder / "privacy_cost.csv"), privacy.PLACE)

    @cached_property
    def private_few(self) -> privacy.Wide:
        lines = pd.read_csv(self.folder / "privacy_few.csv")
        return privacy.Wide(lines.assign(dataset=privacy.MADE), ["dataset", "labelled"])

    @cached_property
    def attacks(self) -> pd.DataFrame:
        return pd.read_csv(self.folder / "privacy_attacks.csv")

    @cached_property
    def scale(self) -> pd.DataFrame:
        """Seconds of a training on two cores by rows and method, 30 columns on each side and 20 rounds."""
        lines = pd.read_csv(self.folder / "scale.csv")
        usual = lines[(lines["columns"] == 30) & (lines["rounds"] == 20) & (lines["workers"] == 1)]
        usual = usual[usual["threads"] == 2].assign(engine=lines["engine"].fillna(""))
        return usual.pivot(index="rows", columns=["method", "engine"], values="seconds")

    @cached_property
    def breach(self) -> pd.DataFrame:
        lines = pd.read_csv(self.folder / "unlabelled_breach.csv")
        return lines.groupby(["setting", "method"])[["mean", "truth"]].mean()

    @cached_property
    def truth(self) -> pd.DataFrame:
        """What `compare` recommends on made data of known truth."""
        return pd.read_csv(self.folder / "selection_truth.csv")

    def wrong_verdicts(self, truth: str) -> float:
        """The share of the recommendations that name a wrong model."""
        own = self.truth.loc[self.truth["truth"] == truth, "recommendation"]
        return float(own.isin(BARS[truth].wrong).mean())

    def undecided(self, truth: str) -> float:
        return float(self.truth.loc[self.truth["truth"] == truth, "recommendation"].eq("undecided").mean())
