python /data/project/tests/faults/lock_held_at_a_fork.py /data/output/run
