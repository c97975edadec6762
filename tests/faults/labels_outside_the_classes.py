"""A classifier with two classes is given a third."""

import sys

CAUSE = "data.bad-labels"


def break_run(scene):
    return scene.run(scene.script(__file__))


def train(out):
    import train as small
    from transformers import LlamaForSequenceClassification

    class Reviews(small.Rows):
        def __getitem__(self, index):
            return super().__getitem__(index) | {"labels": index % 3}

    config = small.make_model().config
    config.num_labels, config.pad_token_id = 2, 0
    config.problem_type = "single_label_classification"
    small.train(out, rows=Reviews(), model=LlamaForSequenceClassification(config), eval_strategy="no")


if __name__ == "__main__":
    train(*sys.argv[1:])
