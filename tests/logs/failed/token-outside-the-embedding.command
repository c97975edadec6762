python /data/project/tests/faults/token_outside_the_embedding.py /data/output/run
