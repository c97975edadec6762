python /data/project/tests/faults/output_becomes_read_only.py /data/output/run
