python /data/project/tests/faults/tied_weights_refused.py /data/output/run
