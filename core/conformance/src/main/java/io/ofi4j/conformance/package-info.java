/**
 * Trials that show whether a provider does what its man pages say, as ofi4j uses it: of every call
 * ({@link io.ofi4j.conformance.calls}). They use the public API of ofi4j alone, as a program does, and no library for
 * tests. The tests of ofi4j, and the command {@code ofi4j verify}, run them.
 */
package io.ofi4j.conformance;
