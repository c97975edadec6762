python /data/project/tests/faults/other_trainable_parameters.py /data/output/run
