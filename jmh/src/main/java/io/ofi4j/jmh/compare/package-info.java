/**
 * What {@code scripts/bench} runs: the public API beside a C program that does the same through libfabric's own calls.
 *
 * <p>Each side is a process that lives as long as its provider is measured ({@link io.ofi4j.jmh.compare.JavaWorker},
 * and the C sources in {@code jmh/src/main/c}), and runs a slice of a few milliseconds on command. The driver
 * ({@link io.ofi4j.jmh.compare.Bench}) alternates the two, which one is first changing each time, so that what else
 * happens on the machine meets both. A ratio is the median of those of neighbouring slices; beside it stand the
 * quartiles.
 */
package io.ofi4j.jmh.compare;
