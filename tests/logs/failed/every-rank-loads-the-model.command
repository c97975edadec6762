python -m torch.distributed.run --standalone --nproc_per_node=2 /data/project/tests/faults/every_rank_loads_the_model.py /data/output/run /data/output/large
