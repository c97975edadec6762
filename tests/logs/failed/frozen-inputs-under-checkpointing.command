python /data/project/tests/faults/frozen_inputs_under_checkpointing.py /data/output/run
