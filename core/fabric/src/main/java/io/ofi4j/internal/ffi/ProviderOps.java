package io.ofi4j.internal.ffi;

import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_efa_mr_attr;
import io.ofi4j.bindings.fi_efa_ops_domain;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.os.NativeWords;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Tables of a provider's own functions, which fi_open_ops gives. */
public final class ProviderOps {
    private ProviderOps() {}

    /** The name of the table that {@link #queryMr} takes. */
    public static String efaDomainOps() {
        return fabric_h.FI_EFA_DOMAIN_OPS().getString(0);
    }

    /** The status, and the three numbers, each below 0 where the provider does not say it. */
    public record Interconnects(int status, int receive, int rdmaRead, int rdmaReceive) {}

    /** {@code struct fi_efa_ops_domain}, query_mr. */
    public static Interconnects queryMr(MemorySegment table, Handle region) {
        long function = NativeWords.get(table.address(), fi_efa_ops_domain.query_mr$offset());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = OwnedStruct.allocate(arena, fi_efa_mr_attr.layout());
            int status = function == 0
                    ? -Errno.ENOSYS
                    : fi_efa_ops_domain.query_mr.invoke(MemorySegment.ofAddress(function), region.pointer(),
                            attributes);
            int valid = fi_efa_mr_attr.ic_id_validity(attributes);
            return new Interconnects(status,
                    number(valid, fabric_h.FI_EFA_MR_ATTR_RECV_IC_ID(), fi_efa_mr_attr.recv_ic_id(attributes)),
                    number(valid, fabric_h.FI_EFA_MR_ATTR_RDMA_READ_IC_ID(),
                            fi_efa_mr_attr.rdma_read_ic_id(attributes)),
                    number(valid, fabric_h.FI_EFA_MR_ATTR_RDMA_RECV_IC_ID(),
                            fi_efa_mr_attr.rdma_recv_ic_id(attributes)));
        }
    }

    private static int number(int valid, int bit, short value) {
        return (valid & bit) == 0 ? -1 : Short.toUnsignedInt(value);
    }
}
