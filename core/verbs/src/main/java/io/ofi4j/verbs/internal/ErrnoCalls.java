package io.ofi4j.verbs.internal;

import io.ofi4j.errors.FabricException;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.os.Functions;
import io.ofi4j.internal.os.LibC;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Calls of verbs, which report a failure in three ways: NULL or -1 with errno, or the error number itself. All become
 * exceptions. Off the data path.
 */
final class ErrnoCalls {
    private static final Linker.Option CAPTURE = Linker.Option.captureCallState("errno");
    private static final MemoryLayout STATE = Linker.Option.captureStateLayout();
    private static final long ERRNO = STATE.byteOffset(PathElement.groupElement("errno"));

    private ErrnoCalls() {}

    /** A call that returns a pointer. */
    interface PointerCall {
        MemorySegment invoke(MemorySegment state) throws Throwable;
    }

    /** A call that returns an int. */
    interface StatusCall {
        int invoke(MemorySegment state) throws Throwable;
    }

    /** A handle of an exported function. Its first argument is the memory that receives errno. */
    static MethodHandle exported(MemorySegment function, FunctionDescriptor descriptor) {
        return Functions.handle(function, descriptor, CAPTURE);
    }

    /**
     * A handle of functions in a table. Its arguments are the address of the function, the memory that receives errno,
     * and the arguments of the function.
     */
    static MethodHandle inTable(FunctionDescriptor descriptor) { return Functions.byAddress(descriptor, CAPTURE); }

    static MemorySegment pointer(String operation, PointerCall call) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            MemorySegment result = call.invoke(state);
            if (result.address() == 0) { throw failure(operation, state.get(ValueLayout.JAVA_INT, ERRNO)); }
            return result;
        } catch (FabricException | UnsupportedOperationException e) {
            throw e;
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    static void check(String operation, StatusCall call) {
        int errno = status(call);
        if (errno != 0) { throw failure(operation, errno); }
    }

    /** The error number, or 0. */
    static int status(StatusCall call) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            int result = call.invoke(state);
            if (result != -1) { return Math.abs(result); }
            int errno = state.get(ValueLayout.JAVA_INT, ERRNO);
            return errno == 0 ? Errno.EIO : errno; // a failure whose cause is not known
        } catch (Throwable t) {
            throw LibC.unexpected(t);
        }
    }

    static RuntimeException failure(String operation, int errno) {
        String said = operation + " failed: " + LibC.strerror(errno) + " (errno " + errno + ").";
        if (errno == Errno.EOPNOTSUPP || errno == Errno.ENOSYS) {
            return new UnsupportedOperationException(said + " The device or its driver has no such function.");
        }
        return new FabricException(said + remedy(operation, errno), operation, errno);
    }

    private static String remedy(String operation, int errno) {
        boolean registers = operation.startsWith("ibv_reg_mr");
        return switch (errno) {
            case Errno.ENOMEM -> registers
                    ? " Registered memory is locked: raise the limit with 'ulimit -l unlimited'."
                    : " The device's limit for these objects or entries is reached: see DeviceAttributes.";
            case Errno.EINVAL -> registers
                    ? " Does the device have the rights that were asked for?"
                    : " Are the numbers within the device's limits, and the objects in the state that the call"
                            + " expects?";
            case Errno.EFAULT -> " Is the memory mapped, and writable where the rights say so?";
            case Errno.EPERM, EACCES -> " May this process open /dev/infiniband?";
            case Errno.EBUSY -> " Something still uses it: close that first.";
            case Errno.EADDRINUSE -> " Another listener has this port: choose another, or 0.";
            case Errno.EADDRNOTAVAIL, ENODEV ->
                " Does an RDMA device have this address? 'rdma link' and 'ip address' tell.";
            case Errno.EMFILE -> " This process may open no more files: raise 'ulimit -n'.";
            default -> "";
        };
    }

    private static final int EACCES = 13;
    private static final int ENODEV = 19;
}
