python /data/project/tests/faults/older_package_first.py /data/output/run
