"""Every guard and fix is explained to people."""

from laststep.cli.guard_words import FIXES, GUARDS
from laststep_guard import wire
from laststep_guard.fixes.catalog import FIXES as CATALOG


def test_the_words_are_those_of_the_guards_and_fixes_there_are():
    assert tuple(GUARDS) == wire.GUARD_NAMES
    assert tuple(FIXES) == wire.FIX_NAMES
    assert {fix.name for fix in CATALOG} == set(wire.FIX_NAMES)


def test_the_class_of_a_fix_is_told():
    assert all(f"({fix.remedy_class})" in FIXES[fix.name].en for fix in CATALOG)
