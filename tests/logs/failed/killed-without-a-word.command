python /data/project/tests/faults/killed_without_a_word.py /data/output/run
