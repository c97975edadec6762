python /data/project/tests/faults/torn_optimizer.py /data/output/run
