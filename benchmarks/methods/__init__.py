"""All methods by name, in the order of the tables; adding one is one record in `boosted` or the peers."""

from benchmarks.methods._method import Method, Refused
from benchmarks.methods.boosted import BOOSTED
from benchmarks.methods.peers import AS_METHODS

METHODS: dict[str, Method] = {method.name: method for method in (*BOOSTED, *AS_METHODS)}

__all__ = ["METHODS", "Method", "Refused"]
