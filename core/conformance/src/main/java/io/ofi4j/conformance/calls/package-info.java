/** A trial for each of libfabric's calls that ofi4j makes. */
package io.ofi4j.conformance.calls;
