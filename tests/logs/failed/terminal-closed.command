python -m torch.distributed.run --standalone --nproc_per_node=2 /data/project/tests/faults/terminal_closed.py /data/output/run
