python /data/project/tests/faults/best_metric_missing.py /data/output/run
