python /data/project/tests/faults/no_inodes_left.py /data/output/run
