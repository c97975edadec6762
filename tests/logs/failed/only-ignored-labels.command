python /data/project/tests/faults/only_ignored_labels.py /data/output/run
