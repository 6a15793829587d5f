/**
 * Saves: a save makes bytes that an endpoint has written to a peer durable there, and gives the writer a completion
 * when they are. The writer has a {@link io.ofi4j.durable.Saver}, the owner of the memory a
 * {@link io.ofi4j.durable.SaveService}.
 */
package io.ofi4j.durable;
