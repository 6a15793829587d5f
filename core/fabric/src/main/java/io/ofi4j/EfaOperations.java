package io.ofi4j;

import io.ofi4j.internal.ffi.ProviderOps;
import io.ofi4j.internal.quirks.Status;
import java.lang.foreign.MemorySegment;
import java.util.OptionalInt;

/**
 * The operations of Amazon's Elastic Fabric Adapter on a domain; {@code struct fi_efa_ops_domain}, fi_efa(7). Any
 * thread may call it. It must not be used once the domain is closed. It has not been tried on such an adapter.
 */
public final class EfaOperations {
    private final Domain domain;
    private final MemorySegment table;

    private EfaOperations(Domain domain, MemorySegment table) {
        this.domain = domain;
        this.table = table;
    }

    /**
     * {@return the operations of a domain; fi_open_ops with FI_EFA_DOMAIN_OPS}
     *
     * @throws UnsupportedOperationException if the domain is of another provider
     * @throws IllegalStateException if the domain is closed
     */
    public static EfaOperations of(Domain domain) {
        return new EfaOperations(domain, domain.operations(ProviderOps.efaDomainOps()));
    }

    /** For tests, which have a table of their own. */
    static EfaOperations ofTable(Domain domain, MemorySegment table) {
        return new EfaOperations(domain, table);
    }

    /**
     * The identifiers of the device's interconnects that move the data of a region, 0 to 65,535; each is empty where
     * the device does not report it.
     *
     * @param receive the interconnect of receives
     * @param rdmaRead the interconnect of reads by this process
     * @param rdmaReceive the interconnect of writes of peers
     */
    public record Interconnects(OptionalInt receive, OptionalInt rdmaRead, OptionalInt rdmaReceive) {}

    /**
     * {@return the interconnects of a region; query_mr, fi_efa(7)}
     *
     * @param region an open region of the domain
     * @throws IllegalArgumentException if the region is of another domain
     * @throws IllegalStateException if the region or the domain is closed
     * @throws UnsupportedOperationException if this version of the provider lacks query_mr
     * @throws FabricException if the provider reports an error
     */
    public Interconnects interconnects(MemoryRegion region) {
        if (region.domain != domain) {
            throw new IllegalArgumentException(region + " is registered in another domain");
        }
        ProviderOps.Interconnects found = region.whileRegistered(handle -> ProviderOps.queryMr(table, handle));
        Status.checkOffered(found.status(), "query_mr", domain.info().provider());
        return new Interconnects(optional(found.receive()), optional(found.rdmaRead()), optional(found.rdmaReceive()));
    }

    private static OptionalInt optional(int number) {
        return number < 0 ? OptionalInt.empty() : OptionalInt.of(number);
    }
}
