"""Threads in the place of workers, for what they tell each other; trainings need processes (helpers_distributed)."""

import threading
from concurrent.futures import ThreadPoolExecutor

from xgboost import collective


class Threads:
    """What XGBoost's communicator does, with a table that all threads see in the place of a network."""

    def __init__(self, n_workers):
        self.n_workers, self.values_of_all = n_workers, [None] * n_workers
        self.barrier, self.own = threading.Barrier(n_workers, timeout=20), threading.local()

    def run(self, rank, task):
        self.own.rank = rank
        try:
            return task(rank)
        except Exception as error:
            return error

    def is_distributed(self):
        return hasattr(self.own, "rank")

    def get_rank(self):
        return self.own.rank

    def get_world_size(self):
        return self.n_workers if self.is_distributed() else 1

    def gather(self, thing):
        self.values_of_all[self.own.rank] = thing
        self.barrier.wait()
        values_of_all = list(self.values_of_all)
        self.barrier.wait()  # nobody speaks again before all have heard
        return values_of_all

    def allreduce(self, values, op):
        values_of_all = self.gather(values)
        assert len({(item.dtype, item.shape) for item in values_of_all}) == 1
        total = values_of_all[0].copy()
        for item in values_of_all[1:]:
            total = total + item if op == collective.Op.SUM else {collective.Op.MAX: max_of}[op](total, item)
        return total

    def broadcast(self, thing, root):
        return self.gather(thing)[root]


def max_of(single, other):
    return (single > other) * single + (single <= other) * other


def on_threads(monkeypatch, n_workers, task):
    """What ``task(rank)`` returns or raises on each of so many workers."""
    threads = Threads(n_workers)
    for name in ("is_distributed", "get_rank", "get_world_size", "allreduce", "broadcast"):
        monkeypatch.setattr(collective, name, getattr(threads, name))
    with ThreadPoolExecutor(n_workers) as pool:
        return [future.result() for future in [pool.submit(threads.run, rank, task) for rank in range(n_workers)]]
