# Each target makes the environments it needs: .venv (laststep and its tools), .envs/current and .envs/reported
# (the trainings). LASTSTEP_ENVS puts the latter two elsewhere. Only python3 and make have to be there.
LASTSTEP_ENVS ?= $(CURDIR)/.envs
export LASTSTEP_ENVS
BIN := .venv/bin
BENCHES := hang_on_two_ranks inside_memory_limit kill_workers healthy_is_identical documents_once_speed overhead \
	under_deepspeed resume_exactly damaged_checkpoints verify_speed disk_full stop_and_save save_speed diagnose_speed \
	accuracy

.PHONY: demo test check reproduce accuracy bench envs tools clean

demo: tools                       ## the reported training under laststep, with its workers really killed
	scripts/make_environments current
	$(BIN)/laststep demo --python $(LASTSTEP_ENVS)/current/bin/python

test: envs check-static           ## all tests, real trainings included
	LASTSTEP_REQUIRE_ENVS=1 $(BIN)/pytest

check: tools check-static         ## what has to be green before every commit
	$(BIN)/pytest -m "not slow"

.PHONY: check-static
check-static: tools
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

reproduce: envs                   ## both reported failures, without and with laststep (the second needs root)
	$(BIN)/python bench/hang_on_two_ranks.py --env reported
	$(BIN)/python bench/inside_memory_limit.py --env reported
	$(BIN)/python bench/inside_memory_limit.py --env current

accuracy: envs                    ## every fault made for real, its log diagnosed: how many are named rightly
	$(BIN)/python bench/accuracy.py

bench: envs                       ## every bar, one after the other
	set -e; for bench in $(BENCHES); do echo "== $$bench"; $(BIN)/python bench/$$bench.py; done

envs: tools                       ## the two training environments
	scripts/make_environments training

tools:                            ## laststep itself and its development tools
	scripts/make_environments tools

clean:                            ## everything that was made here
	rm -rf .venv .envs .lab dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
