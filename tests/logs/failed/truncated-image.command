python -m torch.distributed.run --standalone --nproc_per_node=2 /data/project/tests/faults/truncated_image.py /data/output/run
