.PHONY: test check
test:
	cargo test --workspace
check:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
