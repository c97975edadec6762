python /data/project/tests/faults/tf32_without_a_gpu.py /data/output/run
