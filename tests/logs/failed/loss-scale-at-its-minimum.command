python -m torch.distributed.run --standalone --nproc_per_node=2 /data/project/tests/faults/loss_scale_at_its_minimum.py /data/output/run
