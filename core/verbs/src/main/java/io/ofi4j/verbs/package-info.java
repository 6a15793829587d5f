/**
 * RDMA without libfabric: a path of its own over libibverbs and librdmacm, for features that libfabric lacks. Use
 * package {@code io.ofi4j} unless you need memory windows, invalidation or another feature that is only here.
 *
 * <p>{@link io.ofi4j.verbs.Verbs} &rarr; {@link io.ofi4j.verbs.DeviceContext} &rarr;
 * {@link io.ofi4j.verbs.ProtectionDomain} with {@link io.ofi4j.verbs.VerbsMemoryRegion},
 * {@link io.ofi4j.verbs.MemoryWindow} and {@link io.ofi4j.verbs.QueuePair}; beside it
 * {@link io.ofi4j.verbs.VerbsCompletionQueue}. {@link io.ofi4j.verbs.VerbsConnection} connects a queue pair by address.
 * The names are those of the verbs API, spelled out, so that the man pages apply.
 *
 * <pre>{@code
 * VerbsConnection connection = Verbs.load().resolve(null, listener, Duration.ofSeconds(5));
 * DeviceContext device = connection.context();
 * try (ProtectionDomain domain = device.openProtectionDomain();
 *         VerbsCompletionQueue queue = device.openCompletionQueue(256);
 *         VerbsMemoryRegion region = domain.allocate(4096, VerbsAccess.LOCAL_WRITE);
 *         connection) {
 *     QueuePair pair = connection.openQueuePair(domain, QueuePairAttributes.of(queue));
 *     connection.connect(new byte[0], Duration.ofSeconds(5));
 *     RemoteMemory there = RemoteMemory.decode(Arrays.copyOf(connection.privateData(), RemoteMemory.ENCODED_LENGTH));
 *     pair.tryWrite(region, 0, 64, there, 0, WorkFlags.SIGNALED, 42);
 *     Waiting.YIELD.until(() -> queue.poll(handler, 16) > 0, Duration.ofSeconds(5));
 * }
 * }</pre>
 */
package io.ofi4j.verbs;
