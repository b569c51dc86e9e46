# `make` says what there is. The work is done by the scripts, so that each can be run and read alone.
.DEFAULT_GOAL := help
.PHONY: help run test check bench fuzz dist

help: ## say what there is
	@sed -n 's/^\([a-z]*\): ## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

run: ## build the release program and serve examples/site with it
	@scripts/run

test: ## everything that must hold: set-up, check, all tests, a minute of fuzzing, dist
	@scripts/test

check: ## format, lints, the tidy test, generated files, licences and versions of dependencies
	@scripts/check

bench: ## measure against nginx, lighttpd and h2o, and against other load generators
	@bench/lab labs/performance.toml --out target/performance.lab
	@bench/lab labs/generators.toml --out target/generators.lab

fuzz: ## fuzz each target for ten minutes
	@fuzz/run 600

dist: ## one static program in dist/, its size and idle memory bounded
	@scripts/dist
