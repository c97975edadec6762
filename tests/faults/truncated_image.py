"""A picture of a plain vision data set was cut short; only one of two ranks meets it."""

import io
import os
import sys

CAUSE = "data.bad-rows"


def break_run(scene):
    return scene.run(scene.script(__file__, ranks=2))


def train(out):
    import train as small
    from PIL import Image

    picture = io.BytesIO()
    Image.effect_noise((64, 64), 20).save(picture, "JPEG")

    class Pictures(small.Rows):
        def __getitem__(self, index):
            broken = index > 24 and os.environ["RANK"] == "1"
            data = picture.getvalue()
            Image.open(io.BytesIO(data[: len(data) // 2] if broken else data)).load()
            return super().__getitem__(index)

    small.train(out, rows=Pictures(), dataloader_num_workers=2, eval_strategy="no")


if __name__ == "__main__":
    train(*sys.argv[1:])
