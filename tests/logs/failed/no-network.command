python /data/project/tests/faults/no_network.py /data/output/run
