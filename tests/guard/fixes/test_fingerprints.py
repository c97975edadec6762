"""Is code recognised by what it does, wherever it stands and however it is commented?"""

import textwrap
from types import SimpleNamespace

import pytest

from laststep_guard.fixes.fix import Declined
from laststep_guard.fixes.swift_functions import HostFunction
from laststep_guard.patches import fingerprint, fingerprint_source

PLAIN = """
def draw(documents, count):
    chosen = documents[:count]
    return chosen
"""

SAME = """
    @decorated
    def draw(documents: list, count: int = None) -> list:
        '''Draw some documents.'''
        # A comment, and a blank line.

        chosen = documents[ : count ]
        return (chosen)
""".replace(" = None", "")

OTHER = PLAIN.replace("[:count]", "[:count + 1]")


def test_comments_annotations_docstrings_and_place_do_not_count():
    assert fingerprint_source(SAME) == fingerprint_source(PLAIN)


def test_another_body_is_another_fingerprint():
    assert fingerprint_source(OTHER) != fingerprint_source(PLAIN)


def test_the_source_of_a_function_and_the_function_agree():
    def draw(documents, count):
        chosen = documents[:count]
        return chosen  # noqa: RET504  # the same body as PLAIN

    assert fingerprint(draw) == fingerprint_source(PLAIN)


def test_fingerprints_do_not_depend_on_the_python_that_computes_them():
    """They were looked up with one Python and are compared in the training's; this one is written down."""
    text = textwrap.dedent(
        """
        def collate(self, batch, *, padding_to=None, **more):
            rows = {key: [row[key][0] for row in batch if row.get(key) is not None] for key in self.keys}
            for index, name in enumerate(sorted(rows)):
                rows[name][index:] = f'{name!r}: {index:>3}' if index % 2 else b'x'
            try:
                return lambda value, /: -value if value else ...
            except (OSError, ValueError) as error:
                raise TypeError('no') from error
            finally:
                del rows
        """
    )

    assert fingerprint_source(text) == "b454e782927cddd9"


class Host:
    def method(self):
        return 1


def host(**known):
    return HostFunction("some.module", "Host", "method", known)


def test_a_known_body_is_recognised():
    module = SimpleNamespace(Host=Host)

    assert host(**{fingerprint(Host.method): "1.0"}).recognise(module) is module


def test_an_unknown_body_is_declined_with_its_name_and_fingerprint():
    with pytest.raises(Declined, match=rf"some\.module\.Host\.method .*{fingerprint(Host.method)}"):
        host(other="1.0").recognise(SimpleNamespace(Host=Host))


@pytest.mark.parametrize("module", [None, SimpleNamespace(), SimpleNamespace(Host=object)])
def test_a_missing_function_is_declined(module):
    with pytest.raises(Declined):
        host().recognise(module)
