python /data/project/tests/faults/too_many_open_files.py /data/output/run
