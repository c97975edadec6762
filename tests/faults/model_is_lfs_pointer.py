"""The model's folder was cloned without Git LFS."""

import shutil

CAUSE = "checkpoint.lfs-pointer"
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 9212312\n"


def break_run(scene):
    model = scene.work / "model"
    shutil.copytree(scene.model(), model)
    for weights in model.glob("*.safetensors"):
        weights.write_text(POINTER.format("4f" * 32), encoding="utf-8")
    return scene.run(scene.swift(model=model))
