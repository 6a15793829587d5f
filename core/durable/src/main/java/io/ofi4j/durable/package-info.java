/**
 * Saves: what an endpoint has written to a peer becomes durable there, and the writer is told. The writer has a
 * {@link io.ofi4j.durable.Saver}, the owner of the memory a {@link io.ofi4j.durable.SaveService}.
 */
package io.ofi4j.durable;
