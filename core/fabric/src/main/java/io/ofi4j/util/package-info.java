/**
 * Helpers for common patterns: {@link io.ofi4j.util.PollGroup} polls several queues and channels in one loop,
 * {@link io.ofi4j.util.Pipeline} keeps a window of transfers in flight, {@link io.ofi4j.util.FutureThread} makes a
 * {@link io.ofi4j.util.FabricFuture} of each operation, {@link io.ofi4j.util.RegisteredPool} divides a region into
 * pieces that are taken and given back.
 *
 * <p>They use only the public API of {@code io.ofi4j}. Nothing in {@code io.ofi4j} needs them.
 */
package io.ofi4j.util;
