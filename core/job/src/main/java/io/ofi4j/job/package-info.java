/**
 * Many processes that somebody else starts: {@link io.ofi4j.job.Job} finds out who has started this one and which rank
 * it is, {@link io.ofi4j.job.Ranks} brings addresses and regions of all ranks together,
 * {@link io.ofi4j.job.JobCollectives} has barriers, all-reduce and the like. {@link io.ofi4j.job.Rendezvous} brings
 * addresses and keys to the other side where nobody starts the processes together.
 *
 * <p>Everything here is made of the public objects of {@code io.ofi4j}, and nothing there needs it.
 */
package io.ofi4j.job;
