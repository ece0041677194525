# Sourced by the tiers that check everything.

# Steps on which no other depends: they run in the processor time that the tests leave.
style_and_packages() {
    # Cargo locks what is built until it has begun the tests.
    sleep 15
    step lints cargo clippy --workspace --all-targets --locked -- -D warnings
    step documentation env RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet
    step "what is published and deployed" tests/deploy/run --files
    step "the Python package" tests/python/run
}

step format cargo fmt --all --check
step "compiling the tests" cargo test --workspace --locked --no-run
step "tools, installed beside the compiler" wait_for_tools
# Built with the tests: by itself it would be compiled anew, with features of its own.
step catalogue "${CARGO_TARGET_DIR:-target}/debug/pericore-catalog-compiler" catalog
step "the comparison of revisions, its own tests" tests/compare/run --own-tests
step "the league of tools, its own tests" tests/league/run --own-tests
step "planted faults, their own tests" tests/mutants/run --own-tests
step "the book, its own tests" tests/book/run --own-tests
step "the book" tests/book/run
beside style_and_packages
# One more than there are cores: guests, scrapers and recordings wait more than they compute.
step tests env RUST_TEST_THREADS=$(($(nproc) + 1)) cargo test --workspace --locked --no-fail-fast
say "SKIPPED: a release, its packages and its image in clean places, which take half an hour: tests/run deploy"
step "the league of tools, a few cases" tests/league/run --quick
# The lines that have changed since the main branch, in what is left of twenty minutes; what there is no time for is named.
left=$(python3 -c "print(max(30, min(180, 1170 - $SECONDS)) / 60)")
step "faults in what has changed" tests/mutants/run --diff --budget "${MUTANT_MINUTES:-$left}"
wait_for_those_beside
