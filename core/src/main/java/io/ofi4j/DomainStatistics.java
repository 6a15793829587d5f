package io.ofi4j;

/**
 * What is registered with a domain at one moment; see {@link Domain#statistics}.
 *
 * @param regions how many memory regions there are: those that are closing, with operations in flight, included
 * @param registeredBytes how many bytes they have together
 * @param closingRegions how many of them are closed, and are deregistered when their last operation has completed
 */
public record DomainStatistics(int regions, long registeredBytes, int closingRegions) {
}
