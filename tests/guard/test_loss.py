"""A loss that reaches no trainable parameter is told from a healthy one by its nearest parameter."""

from dataclasses import dataclass, field

from laststep_guard.guards.loss import Reach, tell_reach


@dataclass(eq=False)
class Node:
    next_nodes: list = field(default_factory=list)
    variable: object = None
    opaque: bool = False
    visits: int = 0

    @property
    def next_functions(self):
        self.visits += 1
        return tuple((node, 0) for node in self.next_nodes)


def reach(node):
    return tell_reach(node, is_parameter=lambda variable: variable == "parameter", is_opaque=lambda node: node.opaque)


def test_a_leaf_is_told():
    assert reach(None) is Reach.LEAF


def test_a_parameter_is_found():
    assert reach(Node([None, Node([Node(variable="parameter")])])) is Reach.PARAMETERS


def test_a_fresh_tensor_that_wants_gradients_is_no_parameter():
    """ms-swift 4.0.0's zero loss, divided by the number of micro-batches."""
    assert reach(Node([Node(variable="fresh tensor")])) is Reach.NO_PARAMETER


def test_a_node_that_hides_its_inside_counts_as_healthy():
    """Reentrant checkpointing recomputes its part of the graph in the backward pass only."""
    assert reach(Node([Node(opaque=True)])) is Reach.PARAMETERS


def test_a_shared_node_is_visited_once():
    shared = Node()
    assert reach(Node([Node([shared]), Node([shared])])) is Reach.NO_PARAMETER
    assert shared.visits == 1


def test_a_deep_model_is_told_by_its_nearest_parameter():
    """The walk is breadth first, so the cost does not grow with the depth of the model."""
    deep = last = Node()
    for _ in range(10_000):
        following = Node()
        last.next_nodes.append(following)
        last = following
    top = Node([deep, Node([Node(variable="parameter")])])

    assert reach(top) is Reach.PARAMETERS
    assert last.visits == 0
