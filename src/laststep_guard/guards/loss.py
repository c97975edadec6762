"""Does this loss reach a trainable parameter?

A loss that doesn't starts no gradient exchange on its rank, and the others wait in theirs for ever. The graph is walked
breadth first, so that a healthy loss is told by its nearest parameter, after a few dozen nodes of many thousands.
"""

import enum
from collections import deque
from typing import Any, Callable, Deque, Set

_MOST_NODES = 100_000  # a graph of this size without a parameter in it is no loss we know; leave it alone


class Reach(enum.Enum):
    """What a loss reaches."""

    PARAMETERS = "parameters"
    LEAF = "the loss is a leaf"
    NO_PARAMETER = "its graph holds no trainable parameter"


def tell_reach(grad_fn: Any, *, is_parameter: Callable[[Any], bool], is_opaque: Callable[[Any], bool]) -> Reach:
    """Tell what the graph below a loss reaches.

    `grad_fn` is the loss's autograd node, or None for a leaf. `is_parameter` judges the variable of a node that
    accumulates gradients; `is_opaque` names nodes whose inside can't be seen (reentrant checkpointing recomputes its
    part of the graph only in the backward pass), which count as reaching parameters.
    """
    if grad_fn is None:
        return Reach.LEAF
    waiting: Deque[Any] = deque([grad_fn])
    seen: Set[Any] = {grad_fn}
    while waiting:
        node = waiting.popleft()
        variable = getattr(node, "variable", None)
        if (variable is not None and is_parameter(variable)) or is_opaque(node) or len(seen) > _MOST_NODES:
            return Reach.PARAMETERS
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                waiting.append(following)
    return Reach.NO_PARAMETER
