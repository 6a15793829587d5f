package io.ofi4j;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.Direction;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.ffi.EndpointOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.quirks.Status;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/**
 * Settings of an enabled endpoint; fi_control, fi_tx_size_left and fi_rx_size_left, fi_endpoint(3). Returned by
 * {@link Endpoint#control}.
 *
 * <p>The {@link ThreadingModel} of the domain decides which threads may call it; others get
 * {@link WrongThreadException}. Every method throws {@link IllegalStateException} unless the endpoint is enabled and
 * open, {@link UnsupportedOperationException} if the provider does not offer the call, as most do not, and
 * {@link FabricException} if libfabric reports an error.
 */
public final class EndpointControl {
    private static final Set<OperationFlag> LEVELS = EnumSet.of(OperationFlag.INJECT_COMPLETE,
            OperationFlag.TRANSMIT_COMPLETE, OperationFlag.DELIVERY_COMPLETE, OperationFlag.COMMIT_COMPLETE);

    private final Endpoint endpoint;

    EndpointControl(Endpoint endpoint) { this.endpoint = endpoint; }

    /** {@return the flags of operations that are posted without flags; FI_GETOPSFLAG} */
    public Set<OperationFlag> defaultFlags() {
        long bits = endpoint.whileOpen(true, this::flagBits);
        Set<OperationFlag> flags = EnumSet.noneOf(OperationFlag.class);
        for (OperationFlag flag : OperationFlag.values()) {
            if ((bits & flag.bit()) != 0) { flags.add(flag); }
        }
        return Collections.unmodifiableSet(flags);
    }

    /**
     * Sets the completion level of operations that are posted without flags; FI_SETOPSFLAG.
     *
     * @param levels any of INJECT_COMPLETE, TRANSMIT_COMPLETE, DELIVERY_COMPLETE and COMMIT_COMPLETE; if empty, the
     *         provider decides
     * @throws IllegalArgumentException if there are other flags, which only a prepared operation such as
     *         {@link PreparedRma} can have
     */
    public void defaultFlags(Set<OperationFlag> levels) {
        long wanted = requireLevels(levels);
        check(endpoint.whileOpen(true, handle -> {
            long others = flagBits(handle) & ~requireLevels(LEVELS); // such as FI_COMPLETION
            return EndpointOps.setOperationFlags(handle, others | wanted | Direction.TRANSMIT.bit());
        }), "fi_control(FI_SETOPSFLAG)");
    }

    private long flagBits(Handle handle) {
        EndpointOps.Number found = EndpointOps.getOperationFlags(handle, Direction.TRANSMIT.bit());
        check(found.status(), "fi_control(FI_GETOPSFLAG)");
        return found.value();
    }

    private static long requireLevels(Set<OperationFlag> flags) {
        long bits = 0;
        for (OperationFlag flag : flags) {
            if (!LEVELS.contains(flag)) {
                throw new IllegalArgumentException(flag
                        + " cannot be a default: set it for single operations, with PreparedRma.flags; defaults are "
                        + LEVELS);
            }
            bits |= flag.bit();
        }
        return bits;
    }

    /** {@return an estimate of how many more operations can be posted; fi_tx_size_left} */
    public long transmitSizeLeft() {
        return check(endpoint.whileOpen(true, EndpointOps::fi_tx_size_left), "fi_tx_size_left");
    }

    /** {@return an estimate of how many more receives can be posted; fi_rx_size_left} */
    public long receiveSizeLeft() {
        return check(endpoint.whileOpen(true, EndpointOps::fi_rx_size_left), "fi_rx_size_left");
    }

    /** Makes the native alias, with these levels as its defaults. */
    Handle alias(Set<OperationFlag> levels) {
        endpoint.bindings.requireWhole("aliases");
        long wanted = requireLevels(levels);
        OpenResult out = endpoint.whileOpen(true,
                handle -> EndpointOps.fi_ep_alias(handle, wanted | Direction.TRANSMIT.bit()));
        check(out.status(), "fi_ep_alias");
        return out.handle();
    }

    private long check(long status, String call) {
        Status.checkOffered(status, call, endpoint.info().provider());
        return status;
    }
}
