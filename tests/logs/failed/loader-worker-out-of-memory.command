python /data/project/tests/faults/loader_worker_out_of_memory.py /data/output/run
