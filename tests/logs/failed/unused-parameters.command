python -m torch.distributed.run --standalone --nproc_per_node=2 /data/project/tests/faults/unused_parameters.py /data/output/run
