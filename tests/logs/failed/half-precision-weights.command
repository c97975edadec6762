python /data/project/tests/faults/half_precision_weights.py /data/output/run
