"""The tiny reranker with its real template and trainer, in this process; for drivers run by an environment's Python."""

import json
import os
import sys
from pathlib import Path

os.environ.update(MAX_POSITIVE_SAMPLES="10", MAX_NEGATIVE_SAMPLES="10", HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1")

import numpy as np
import torch
from PIL import Image
from swift.pipelines.train.sft import SwiftSft
from swift.trainers.trainer_factory import TrainerFactory
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from laststep_guard.emit import Emitter
from laststep_guard.guardian import Guardian
from laststep_guard.settings import Settings
from laststep_guard.shield import Shield


def make_guardian(emit) -> Guardian:
    """Make a guardian that gives its events to a function."""

    class Telling(Emitter):
        def emit(self, kind: str, **fields: object) -> None:
            emit(kind, **fields)

    emitter = Telling(None, 0)
    return Guardian(Settings("test"), emitter, Shield(emitter.emit), 0)


def build(model: str, folder: Path, flags: str, *, apply, padding_free: bool = False) -> tuple:
    """Build the trainer as `swift sft` does, and encode the rows. `apply` gets the trainer's module before its use."""
    data = folder / "rows.json"
    data.write_text(json.dumps(make_rows(folder)))
    sft = SwiftSft(
        f"--model {model} --model_type qwen3_vl_reranker {flags} "
        f"--tuner_type lora --target_modules all-linear --lora_dropout 0 --dataset {data} --split_dataset_ratio 0 "
        f"--dataset_num_proc 1 --dataset_shuffle false --load_from_cache_file false --attn_impl sdpa "
        f"--torch_dtype float32 --use_cpu true --check_model false --output_dir {folder / 'out'} "
        f"--eval_metric reranker".split()
    )
    if padding_free:
        sft.template.padding_free = True  # the argument would ask for flash attention
        separate_packed_documents()
    dataset, _ = sft._prepare_dataset()  # noqa: SLF001  # what `swift sft` calls
    sft.model = sft.prepare_model(sft.args, sft.model, template=sft.template, train_dataset=dataset)
    trainer_class = TrainerFactory.get_trainer_cls(sft.args)
    apply(sys.modules["swift.trainers.reranker_trainer"])
    trainer = trainer_class(
        model=sft.model, args=sft.args.training_args, template=sft.template, train_dataset=dataset, eval_dataset=dataset
    )
    torch.manual_seed(0)
    for parameter in trainer.model.parameters():
        if parameter.requires_grad:  # LoRA starts with zeros, through which half of the gradients would not flow
            parameter.data.normal_(std=0.05)
    return trainer, [dataset[index] for index in range(len(dataset))]


def separate_packed_documents() -> None:
    """Let attention on a CPU do what flash attention does on a GPU: no document of a packed batch sees another."""
    attend = ALL_ATTENTION_FUNCTIONS["sdpa"]

    def attend_within_documents(module, query, key, value, attention_mask, **kwargs: object) -> object:
        boundaries, positions = kwargs.get("cu_seq_lens_q"), kwargs.get("position_ids")
        length = query.shape[2]
        if boundaries is not None and boundaries[-1] == length:
            starts = torch.zeros(length, dtype=torch.long)
            starts[boundaries[:-1].long()] = 1
        elif positions is not None and positions.shape == (1, length):
            starts = positions[0] == 0
        else:
            return attend(module, query, key, value, attention_mask, **kwargs)
        document = starts.long().cumsum(0)
        mask = (document[:, None] == document[None]).tril()[None, None]
        return attend(module, query, key, value, mask, **{**kwargs, "is_causal": False})

    ALL_ATTENTION_FUNCTIONS["sdpa"] = attend_within_documents


def make_rows(folder: Path) -> list:
    noise = np.random.default_rng(0)

    def image(pixels: int) -> str:
        path = folder / f"{noise.integers(1 << 40)}.png"
        Image.fromarray(noise.integers(0, 255, (pixels, pixels, 3), dtype=np.uint8)).save(path)
        return str(path)

    def row(query: str, positives: list, negatives: list) -> dict:
        result = {"messages": [{"role": "user", "content": query}], "images": []}
        for kind, documents in (("positive", positives), ("negative", negatives)):
            texts = ["<image>" * document[1] + document[0] for document in documents]
            result[f"{kind}_messages"] = [[{"role": "assistant", "content": text}] for text in texts]
            result[f"{kind}_images"] = [
                [image(64 + 32 * index) for _ in range(document[1])] for index, document in enumerate(documents)
            ]
        return result

    def documents(count: int, images: int, word: str) -> list:
        return [(f"{word} " * (1 + 3 * index), images) for index in range(count)]

    return [
        row("pictures", documents(3, 1, "yes"), documents(4, 1, "no")),
        row("other pictures of another length", documents(2, 1, "so"), documents(1, 1, "not so")),
        row("only words", documents(2, 0, "word"), documents(3, 0, "other word")),
        row("nothing to compare", documents(2, 1, "lonely"), []),
        row("nothing either", documents(1, 1, "alone"), []),
        row("more than are drawn", documents(11, 0, "many"), documents(12, 0, "more")),
        row("two images each", documents(2, 2, "pair"), documents(2, 2, "couple")),
    ]
