/**
 * The same work in three layers, so that the cost of each can be seen: the generated bindings called plainly, the calls
 * as core makes them with nothing around them, and the public API with all its checks.
 *
 * <p>Each layer has a {@link io.ofi4j.jmh.Layer} that does the work, and each kind of work a class whose methods are
 * the layers. All of it happens in one process, on one thread, between two endpoints with a completion queue each. The
 * initiator's queue is polled first, and the target's, for progress, only where that found nothing.
 */
package io.ofi4j.jmh;
