python -m torch.distributed.run --nproc_per_node=2 --master_port=36781 /data/project/tests/faults/port_taken.py /data/output/run
