"""Checkpoints of torch.distributed.checkpoint and FSDP: `torchrun --nproc_per_node 2 make_distributed.py OUT`.

`dcp/checkpoint-N`: a loop of the user's own. `fsdp/checkpoint-N`: the folders that accelerate makes for FSDP.
"""

import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_model_state_dict, get_optimizer_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


def main(out: Path) -> None:
    dist.init_process_group("gloo")
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.Linear(64, 32))
    fully_shard(model, mesh=mesh)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(1, 6):
        model(torch.randn(4, 32)).sum().backward()
        optimiser.step()
        optimiser.zero_grad()
        weights, states = get_model_state_dict(model), get_optimizer_state_dict(model, optimiser)
        own = {"model": weights, "optim": states, "progress": {"step": step, "seen": [1, 2, 3]}}
        dcp.save(own, checkpoint_id=out / "dcp" / f"checkpoint-{step}")
        folder = out / "fsdp" / f"checkpoint-{step}"
        dcp.save({"model": weights}, checkpoint_id=folder / "pytorch_model_fsdp_0")
        dcp.save({"optimizer": states}, checkpoint_id=folder / "optimizer_0")
        torch.save({"cpu": torch.get_rng_state()}, folder / f"rng_state_{dist.get_rank()}.pth")
        if dist.get_rank() == 0:
            write_trainer_files(folder, step)
        dist.barrier()
    dist.destroy_process_group()


def write_trainer_files(folder: Path, step: int) -> None:
    """What the Trainer adds to the folders of accelerate."""
    from transformers import TrainingArguments
    from transformers.trainer_callback import TrainerState

    TrainerState(global_step=step, max_steps=5).save_to_json(str(folder / "trainer_state.json"))
    torch.save(TrainingArguments(str(folder.parent), use_cpu=True, report_to=[]), folder / "training_args.bin")
    torch.save({"last_epoch": step, "_step_count": step + 1}, folder / "scheduler.pt")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main(Path(sys.argv[1]))
