"""Small trainings that finish, one kind each: `python train.py OUT KIND`, under a training environment.

KIND: full, best, early, resumed, bf16, checkpointing, ddp, sft, dpo, engine, accelerated, verbose.
"""

import inspect
import logging
import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")
import torch
from transformers import EarlyStoppingCallback, LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

WORDS, ROWS, LENGTH = 64, 48, 16
ZERO = {
    "train_micro_batch_size_per_gpu": 2,
    "gradient_accumulation_steps": 2,
    "gradient_clipping": 1.0,
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-3, "torch_adam": True}},
    "zero_optimization": {"stage": 2},
}


class Rows(torch.utils.data.Dataset):
    """Rows that follow from their number."""

    def __len__(self):
        return ROWS

    def __getitem__(self, index):
        ids = torch.randint(0, WORDS, (LENGTH,), generator=torch.Generator().manual_seed(index))
        return {"input_ids": ids, "labels": ids, "attention_mask": torch.ones_like(ids)}


def make_model(words=WORDS):
    torch.manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=words, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
            num_key_value_heads=2, attention_dropout=0.1,
        )
    )  # fmt: skip


def settle(out, **more):
    values = {
        "max_steps": 24, "save_steps": 8, "logging_steps": 2, "report_to": [], "use_cpu": True,
        "per_device_train_batch_size": 2, "gradient_accumulation_steps": 2, "learning_rate": 1e-3,
        "eval_strategy": "steps", "eval_steps": 8, "save_total_limit": 2, **more,
    }  # fmt: skip
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        values["ddp_backend"] = "gloo"
    return {"output_dir": out, **values}


def train(out, callbacks=(), resume=None, rows=None, model=None, **more):
    trainer = Trainer(
        model=model or make_model(), args=TrainingArguments(**settle(out, **more)), train_dataset=rows or Rows(),
        eval_dataset=Rows(), callbacks=list(callbacks),
    )  # fmt: skip
    trainer.train(resume_from_checkpoint=resume)
    trainer.save_model()


def train_with_trl(out, kind):
    from datasets import Dataset
    from transformers import AutoTokenizer
    from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

    tokenizer = AutoTokenizer.from_pretrained(os.environ["MODEL"])
    prompts = [f"Where does the {word} live?" for word in "cat dog owl fox bee ant elk emu cow hen".split()] * 4
    answers = [f" In a place of number {number}." for number in range(len(prompts))]
    config, maker = (SFTConfig, SFTTrainer) if kind == "sft" else (DPOConfig, DPOTrainer)
    rows = {"prompt": prompts, "completion": answers} if kind == "sft" else {
        "prompt": prompts, "chosen": answers, "rejected": [" I do not know."] * len(prompts)}  # fmt: skip
    args = config(**settle(out, eval_strategy="no", bf16=False))
    kwargs = {"model": make_model(len(tokenizer)), "args": args, "train_dataset": Dataset.from_dict(rows)}
    if "ref_model" in inspect.signature(maker.__init__).parameters:
        kwargs["ref_model"] = make_model(len(tokenizer))
    maker(processing_class=tokenizer, **kwargs).train()


def train_engine(out):
    import deepspeed

    deepspeed.init_distributed("gloo")
    model = make_model()
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=ZERO)
    loader = torch.utils.data.DataLoader(Rows(), batch_size=2)
    for step, batch in enumerate(loader):
        loss = engine(**batch).loss
        engine.backward(loss)
        engine.step()
        if engine.local_rank == 0 and step % 4 == 0:
            print(f"step {step}: loss {loss.item():.4f}", flush=True)
        if step == 12:
            engine.save_checkpoint(out)


def train_accelerated(out):
    from accelerate import Accelerator
    from accelerate.logging import get_logger

    accelerator = Accelerator(cpu=True, project_dir=out)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s - %(levelname)s - %(name)s - %(message)s")
    model = make_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loader = torch.utils.data.DataLoader(Rows(), batch_size=4, num_workers=2)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    log = get_logger("train", log_level="INFO")
    for epoch in range(2):
        for step, batch in enumerate(loader):
            loss = model(**batch).loss
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            if step % 4 == 0:
                log.info("epoch %d step %d loss %.4f", epoch, step, loss.item())
        accelerator.save_state(f"{out}/epoch_{epoch}")
    log.info("Training completed.")


def main(out, kind):
    if kind == "best":
        train(out, load_best_model_at_end=True, metric_for_best_model="eval_loss", greater_is_better=False)
    elif kind == "early":
        patience = EarlyStoppingCallback(early_stopping_patience=1, early_stopping_threshold=9.0)
        train(out, [patience], load_best_model_at_end=True, metric_for_best_model="eval_loss")
    elif kind == "resumed":
        train(out, max_steps=8)
        train(out, resume=True)
    elif kind == "bf16":
        train(out, bf16=True, dataloader_num_workers=2)
    elif kind == "checkpointing":
        train(out, gradient_checkpointing=True)
    elif kind == "verbose":
        train(out, log_level="debug", dataloader_num_workers=2)
    elif kind in ("sft", "dpo"):
        train_with_trl(out, kind)
    elif kind == "engine":
        train_engine(out)
    elif kind == "accelerated":
        train_accelerated(out)
    else:
        train(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
