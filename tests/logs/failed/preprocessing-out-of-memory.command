python /data/project/tests/faults/preprocessing_out_of_memory.py /data/output/run
