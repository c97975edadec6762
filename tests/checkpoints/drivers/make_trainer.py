"""Checkpoints as transformers' Trainer writes them: `python make_trainer.py OUT KIND…`, under a training environment.

With several ranks, under torchrun, it makes what those write.
KIND: full, sharded, bin, lora, lora-bin, legacy, zero2, zero3.
"""

import functools
import inspect
import os
import sys
from pathlib import Path

os.environ.update(DS_ACCELERATOR="cpu")
import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

STEPS = 5
ZERO = {
    "train_micro_batch_size_per_gpu": "auto",
    "train_batch_size": "auto",
    "gradient_accumulation_steps": "auto",
    "gradient_clipping": "auto",
}


class Rows(torch.utils.data.Dataset):
    def __len__(self) -> int:
        return 64

    def __getitem__(self, index: int) -> dict:
        ids = torch.randint(0, 64, (8,), generator=torch.Generator().manual_seed(index))
        return {"input_ids": ids, "labels": ids, "attention_mask": torch.ones_like(ids)}


def make(out: Path, kind: str) -> None:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, tie_word_embeddings=False,
    )  # fmt: skip
    is_zero = kind.startswith("zero")
    arguments = {
        "output_dir": str(out / kind), "max_steps": STEPS, "save_steps": 1, "logging_steps": 1, "report_to": [],
        "per_device_train_batch_size": 2, "use_cpu": True, "disable_tqdm": True, "learning_rate": 1e-3,
    }  # fmt: skip
    if is_zero:
        stage = int(kind[-1])
        arguments["deepspeed"] = {**ZERO, "zero_optimization": {"stage": stage}}
        if stage == 3:
            arguments["deepspeed"]["zero_optimization"]["stage3_gather_16bit_weights_on_model_save"] = False
    elif int(os.environ.get("WORLD_SIZE", "1")) > 1:
        arguments["ddp_backend"] = "gloo"
    if kind.endswith("bin") and "save_safetensors" in inspect.signature(TrainingArguments).parameters:
        arguments["save_safetensors"] = False
    settings = TrainingArguments(**arguments)
    model = LlamaForCausalLM(config)
    if kind == "sharded":
        model.save_pretrained = functools.partial(model.save_pretrained, max_shard_size="20KB")
    if kind.startswith("lora"):
        from peft import LoraConfig, get_peft_model

        model = get_peft_model(model, LoraConfig(r=4, target_modules=["q_proj", "v_proj"], lora_dropout=0.05))
    Trainer(model=model, args=settings, train_dataset=Rows()).train()
    if kind == "legacy":
        save_as_before_torch_1_6(out / kind)


def save_as_before_torch_1_6(folder: Path) -> None:
    """`_legacy_save` is still in torch."""
    for path in [*folder.rglob("*.pt"), *folder.rglob("*.pth"), *folder.rglob("*.bin")]:
        value = torch.load(path, weights_only=False)
        torch.save(value, path, _use_new_zipfile_serialization=False)


if __name__ == "__main__":
    for name in sys.argv[2:]:
        make(Path(sys.argv[1]), name)
