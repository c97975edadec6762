python /data/project/tests/faults/state_file_refused.py /data/output/run
