/**
 * Programs of many processes. {@link io.ofi4j.job.Job} finds out how this process was started, and its rank.
 * {@link io.ofi4j.job.Ranks} exchanges addresses and regions of all ranks. {@link io.ofi4j.job.JobCollectives} has
 * barriers, all-reduce and the like. {@link io.ofi4j.job.Rendezvous} exchanges addresses and keys between processes
 * that no launcher starts together. {@link io.ofi4j.job.PeerServer} takes clients that come and go, and tells who has
 * gone. A {@link io.ofi4j.job.Doorbell} wakes who waits for peers of the same machine.
 *
 * <p>The package uses only the public API of {@code io.ofi4j}. Nothing in {@code io.ofi4j} needs it.
 */
package io.ofi4j.job;
