python -m torch.distributed.run --standalone --nproc_per_node=2 /data/project/tests/faults/ranks_build_other_models.py /data/output/run
