"""The guard's entry: Python runs this file in every interpreter whose PYTHONPATH begins with this folder.

The folder holds nothing else, so nothing of ours shadows a module of the user's. A `sitecustomize` that was there
before runs first, as if this file did not exist.
"""

import importlib.machinery
import importlib.util
import os
import sys


def _run_the_one_that_was_there() -> None:
    ours = os.path.dirname(os.path.abspath(__file__))
    elsewhere = [folder for folder in sys.path if os.path.abspath(folder or os.curdir) != ours]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _attach_the_guard() -> None:
    if not os.environ.get("LASTSTEP_GUARD"):
        return
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    try:
        if "laststep_guard" not in sys.modules:
            # By path: our site-packages on sys.path would shadow the trainer's own libraries.
            spec = importlib.util.spec_from_file_location(
                "laststep_guard", os.path.join(package, "__init__.py"), submodule_search_locations=[package]
            )
            module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]  # the file lies beside this one
            sys.modules["laststep_guard"] = module
            spec.loader.exec_module(module)  # type: ignore[union-attr]  # as above
        from laststep_guard.attach import attach  # noqa: PLC0415  # only here is the package reachable

        attach()
    except Exception as error:  # the interpreter must start, whatever is wrong with the guard
        sys.stderr.write(f"laststep: the guard could not attach ({type(error).__name__}: {error}); training goes on\n")


try:
    _run_the_one_that_was_there()
finally:
    _attach_the_guard()
