# `make` says what there is. The work is done by the scripts, so that each can be run and read alone.
.DEFAULT_GOAL := help
.PHONY: help run test check bench fuzz dist

help: ## list the targets
	@sed -n 's/^\([a-z]*\): ## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

run: ## build quickly (about three minutes on 2 cores) and serve examples/site
	@scripts/run

test: ## the whole gate: set-up, checks, all tests, fuzzing, the static program
	@scripts/test

check: ## format, lints, rules of the repository, licenses and versions of dependencies
	@scripts/check

bench: ## measure against nginx, lighttpd and h2o, and against other load generators
	@bench/lab labs/performance.toml --out target/performance.lab
	@bench/lab labs/generators.toml --out target/generators.lab

fuzz: ## fuzz each target for ten minutes
	@fuzz/run 600

dist: ## the fast static program in dist/, with profile-guided optimization
	@scripts/dist
