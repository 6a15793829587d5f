source scripts/common
need tests
run_maven -pl bindings,core -Djacoco.skip -Dformatter.skip=true -Dsurefire.failIfNoSpecifiedTests=false -Dtest="$1" verify 2>&1 | grep -E "Tests run:|SIGSEGV|ERROR.*(Closed|Shm|Test)|AssertionError|Caused" | head -${2:-12}
