"""The tiny reranker with its real template and trainer, in this process; for drivers run by an environment's Python."""

import json
import os
import sys
from pathlib import Path

os.environ.update(MAX_POSITIVE_SAMPLES="10", MAX_NEGATIVE_SAMPLES="10", HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1")

import torch
from rows import make_rows  # beside this file
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


def build(model: str, folder: Path, flags: str, *, apply, **kind: bool) -> tuple:
    """Build the trainer as `swift sft` does, and encode the rows.

    `apply` gets the trainer's module before its use; `kind`: `padding_free`, or `mixed` for rows that stock cannot do.
    """
    data = folder / "rows.json"
    data.write_text(json.dumps(make_rows(folder, mixed=kind.get("mixed", False))))
    sft = SwiftSft(
        f"--model {model} --model_type qwen3_vl_reranker {flags} "
        f"--tuner_type lora --target_modules all-linear --lora_dropout 0 --dataset {data} --split_dataset_ratio 0 "
        f"--dataset_num_proc 1 --dataset_shuffle false --load_from_cache_file false --attn_impl sdpa "
        f"--torch_dtype float32 --use_cpu true --check_model false --output_dir {folder / 'out'} "
        f"--eval_metric reranker".split()
    )
    if kind.get("padding_free"):
        sft.template.padding_free = True  # the argument would ask for flash attention
        separate_packed_documents()
    dataset, _ = sft._prepare_dataset()  # what `swift sft` calls
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
