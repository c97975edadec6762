python /data/project/tests/faults/disk_full_at_a_save.py /data/output/run
