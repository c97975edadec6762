python -m torch.distributed.run --standalone --nproc_per_node=2 /data/project/tests/faults/rank_out_of_memory.py /data/output/run
