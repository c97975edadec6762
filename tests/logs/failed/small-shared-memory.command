python /data/project/tests/faults/small_shared_memory.py /data/output/run
