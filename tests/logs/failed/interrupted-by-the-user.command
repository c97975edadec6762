python /data/project/tests/faults/interrupted_by_the_user.py /data/output/run
