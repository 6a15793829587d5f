package io.ofi4j.info;

/**
 * What is registered with a domain now; see {@link io.ofi4j.Domain#statistics}.
 *
 * @param regions the number of memory regions, including those that are closing with operations in flight
 * @param registeredBytes their total length in bytes
 * @param closingRegions the number of closed regions that are deregistered when their last operation has completed
 */
public record DomainStatistics(int regions, long registeredBytes, int closingRegions) {}
