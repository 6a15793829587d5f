package io.ofi4j.job.internal;

import java.net.InetSocketAddress;

/**
 * A job whose ranks meet at rank 0, because no launcher connects them.
 *
 * @param name who started it, for messages
 * @param address where rank 0 listens
 * @param secret the secret of the rendezvous
 */
public record Meeting(String name, int rank, int size, InetSocketAddress address, String secret) {}
