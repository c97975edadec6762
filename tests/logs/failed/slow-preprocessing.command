python -m torch.distributed.run --standalone --nproc_per_node=2 /data/project/tests/faults/slow_preprocessing.py /data/output/run
