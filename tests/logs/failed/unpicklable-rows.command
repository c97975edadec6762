python /data/project/tests/faults/unpicklable_rows.py /data/output/run
