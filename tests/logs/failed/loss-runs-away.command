python /data/project/tests/faults/loss_runs_away.py /data/output/run
