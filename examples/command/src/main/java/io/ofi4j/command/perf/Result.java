package io.ofi4j.command.perf;

/**
 * What came of a measurement beside its rows.
 *
 * @param errors how many operations were wrong
 * @param isInterrupted whether the user has ended it
 */
record Result(long errors, boolean isInterrupted) {}
