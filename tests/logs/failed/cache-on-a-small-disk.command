python /data/project/tests/faults/cache_on_a_small_disk.py /data/output/run /data/output/output
