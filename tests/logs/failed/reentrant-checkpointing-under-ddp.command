python -m torch.distributed.run --standalone --nproc_per_node=2 /data/project/tests/faults/reentrant_checkpointing_under_ddp.py /data/output/run
