python /data/project/tests/faults/labels_outside_the_classes.py /data/output/run
