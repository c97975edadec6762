"""Load to `cpu:0` as a resume of several ranks does, without the fix and with it: arguments MODEL FOLDER."""

import json
import sys
from pathlib import Path

import torch

from laststep_guard.attach import make_guardian
from laststep_guard.fixes import torch_cpu_index
from laststep_guard.settings import Settings

PLACE = torch.device("cpu", 0)


def load(path):
    try:
        return torch.load(path, map_location=PLACE, weights_only=True)["exp_avg"].tolist()
    except RuntimeError as error:
        return str(error)


def main():
    path = Path(sys.argv[2]) / "optimizer.pt"
    torch.save({"exp_avg": torch.arange(3.0)}, path)
    stock = load(path)
    told = []
    guardian = make_guardian(Settings("test"))
    guardian.emitter.emit = lambda kind, **fields: told.append((kind, fields["name"]))
    torch_cpu_index.apply(torch.serialization, guardian)
    before = list(told)
    fixed = [load(path), load(path)]
    try:
        torch.load(path, map_location="nowhere:0", weights_only=True)
        elsewhere = "loaded"
    except RuntimeError:
        elsewhere = "refused"
    print("RESULT", json.dumps([stock, before, fixed, told, elsewhere]))


main()
