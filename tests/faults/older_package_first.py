"""An older huggingface_hub stands before the installed one on the path."""

import sys

CAUSE = "environment.package-version-conflict"


def break_run(scene):
    older = scene.work / "older" / "huggingface_hub-0.16.4.dist-info"
    older.mkdir(parents=True)
    (older / "METADATA").write_text("Metadata-Version: 2.1\nName: huggingface-hub\nVersion: 0.16.4\n", encoding="utf-8")
    return scene.run(scene.script(__file__, PYTHONPATH=str(older.parent)))


def train(out):
    import transformers

    print(transformers.__version__, out)


if __name__ == "__main__":
    train(*sys.argv[1:])
