"""Which arguments does the program accept that is installed here?

    python accepted_arguments.py ENTRY          ENTRY: swift:sft, trl:sft, llamafactory:train, torchrun, accelerate

Run by the training's own Python. It builds the parser that the program itself builds, and tells what is in it; nothing
is parsed, loaded or downloaded. The answer is the one line of JSON on standard output.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from importlib import metadata
from typing import Any

_SWIFT_CLASSES = {
    "sft": "SftArguments",
    "pt": "PretrainArguments",
    "rlhf": "RLHFArguments",
    "infer": "InferArguments",
    "deploy": "DeployArguments",
    "rollout": "RolloutArguments",
    "export": "ExportArguments",
    "merge-lora": "ExportArguments",
    "eval": "EvalArguments",
    "sample": "SamplingArguments",
    "app": "AppArguments",
    "web-ui": "WebUIArguments",
}


def main() -> None:
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what is imported prints what it likes
    framework, parser, modules = _ask(sys.argv[1])
    told = {
        "framework": framework,
        "version": metadata.version(framework),
        "arguments": [_describe(action) for action in parser._actions if action.option_strings],  # noqa: SLF001  # argparse has no other way to look
        "watched": sorted({path for path in map(_file_of, modules) if path}),
    }
    json.dump(told, answer)
    answer.close()


def _ask(entry: str) -> tuple[str, Any, list[Any]]:
    """Give the distribution, its parser, and the modules that the parser is made from."""
    kind, _, name = entry.partition(":")
    return {"swift": _ask_swift, "trl": _ask_trl, "llamafactory": _ask_llamafactory}.get(kind, _ask_launcher)(
        name or kind
    )


def _ask_swift(name: str) -> tuple[str, Any, list[Any]]:
    try:
        arguments = importlib.import_module("swift.arguments")
        utils = importlib.import_module("swift.utils.utils")
    except ImportError:  # ms-swift 3
        arguments, utils = importlib.import_module("swift.llm.argument"), None
    given = getattr(arguments, _SWIFT_CLASSES[name])
    patch = getattr(utils, "_patch_get_type_hints", None)
    if patch is None:
        return "ms-swift", _make_parser([given]), [sys.modules[base.__module__] for base in given.__mro__]
    with patch():
        parser = _make_parser([given])
    return "ms-swift", parser, [sys.modules[base.__module__] for base in given.__mro__]


def _ask_trl(name: str) -> tuple[str, Any, list[Any]]:
    module = importlib.import_module("trl.scripts." + name)
    # What its own parser does not know it hands on to `accelerate launch`.
    parser = module.make_parser()
    for action in _ask_launcher("accelerate")[1]._actions:  # noqa: SLF001  # argparse has no other way to look
        if action.option_strings and not parser._option_string_actions.keys() & set(action.option_strings):  # noqa: SLF001  # argparse has no other way to look
            parser._actions.append(action)  # noqa: SLF001  # argparse has no other way to look
    return "trl", parser, [module, importlib.import_module("transformers.training_args")]


def _ask_llamafactory(name: str) -> tuple[str, Any, list[Any]]:
    del name  # train, export and chat share their arguments
    module = importlib.import_module("llamafactory.hparams.parser")
    classes = getattr(module, "_TRAIN_ARGS")  # noqa: B009  # a private name of a module that is not there for a checker
    return "llamafactory", _make_parser(classes), [sys.modules[given.__module__] for given in classes]


def _ask_launcher(name: str) -> tuple[str, Any, list[Any]]:
    if name == "torchrun":
        module = importlib.import_module("torch.distributed.run")
        return "torch", module.get_args_parser(), [module]
    module = importlib.import_module("accelerate.commands.launch")
    return "accelerate", module.launch_command_parser(), [module]


def _make_parser(classes: Any) -> Any:
    return importlib.import_module("transformers").HfArgumentParser(classes)


def _describe(action: Any) -> dict[str, Any]:
    return {
        "names": list(action.option_strings),
        "nargs": action.nargs,
        "choices": [str(choice) for choice in action.choices] if action.choices is not None else [],
        "kind": _kind(action),
        "default": action.default if isinstance(action.default, (str, int, float, bool, type(None))) else None,
    }


def _kind(action: Any) -> str:
    name = getattr(action.type, "__name__", "str") if action.type is not None else "str"
    if name in ("string_to_bool", "bool", "str_to_bool", "strtobool"):
        return "bool"
    return name if name in ("int", "float") else "str"


def _file_of(module: Any) -> str | None:
    return getattr(module, "__file__", None)


if __name__ == "__main__":
    main()
