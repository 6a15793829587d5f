/**
 * What many programs build on libfabric's objects, ready to use: {@link io.ofi4j.util.PollGroup} polls several queues and
 * sockets in one loop, {@link io.ofi4j.util.Pipeline} keeps a window of transfers in flight, {@link io.ofi4j.util.Futures} makes
 * futures of them.
 *
 * <p>Everything here is made of the public objects of {@code io.ofi4j}, and nothing there needs it.
 */
package io.ofi4j.util;
