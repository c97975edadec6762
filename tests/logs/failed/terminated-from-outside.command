python -m torch.distributed.run --standalone --nproc_per_node=2 /data/project/tests/faults/terminated_from_outside.py /data/output/run
