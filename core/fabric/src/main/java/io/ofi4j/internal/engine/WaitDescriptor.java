package io.ofi4j.internal.engine;

import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.quirks.Status;
import io.ofi4j.internal.os.Descriptors;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;

/**
 * A file descriptor that is readable while the provider's is, or after {@link #wake}. Not every provider's descriptor
 * can be made readable from outside, and a provider does not know of completions that this library keeps.
 */
public final class WaitDescriptor {
    private static final int TICK_NANOS = 1_000_000;
    private static final int NONE = -1;

    public final int number;
    private final int provider;
    private final int event;
    private int timer = NONE;
    private boolean isDeaf;
    private boolean closed;

    private WaitDescriptor(int provider) {
        this.provider = provider;
        this.event = required(Descriptors.event());
        int all = Descriptors.epoll(provider, event);
        if (all < 0) { Descriptors.close(event); }
        this.number = required(all);
    }

    private static int required(int descriptor) {
        if (descriptor < 0) { throw Status.exception(-Errno.EMFILE, "eventfd", "none"); }
        return descriptor;
    }

    /** {@return the descriptor of an object, or null if it has none and none was asked for} */
    public static WaitDescriptor open(Handle opened, WaitObject asked) {
        boolean wanted = asked == WaitObject.FD || asked == WaitObject.UNSPECIFIED && hasDescriptor(opened);
        FidOps.Control got = wanted ? FidOps.fi_control(opened, FabricConstants.FI_GETWAIT) : null;
        boolean isOffered = got != null && got.status() == 0;
        if (!isOffered && asked == WaitObject.FD) {
            throw new UnsupportedOperationException("a wait descriptor is not offered by the provider "
                    + opened.provider() + ": ask for WaitObject.UNSPECIFIED or NONE");
        }
        return isOffered ? new WaitDescriptor(got.value()) : null;
    }

    private static boolean hasDescriptor(Handle opened) {
        FidOps.Control chosen = FidOps.fi_control(opened, FabricConstants.FI_GETWAITOBJ);
        return chosen.status() == 0 && chosen.value() == WaitObject.FD.value();
    }

    public boolean isProviderReady() { return Descriptors.poll(0, provider) > 0; }

    /** Makes it readable until {@link #rest}. Any thread may call this at any time. */
    public synchronized void wake() {
        if (!closed) { Descriptors.signal(event); }
    }

    public synchronized void rest() {
        if (closed) { return; }
        if (!isDeaf || timer != NONE) { // without a timer it stays readable: nobody may block
            Descriptors.reset(event);
        }
        if (timer != NONE) { Descriptors.reset(timer); }
    }

    /**
     * Stops polling the provider and its descriptor. From now on this one is readable every millisecond, so that
     * blocked threads check again.
     */
    public synchronized void deafen() {
        if (closed || isDeaf) { return; }
        isDeaf = true;
        timer = Math.max(NONE, Descriptors.timer(TICK_NANOS));
        Descriptors.replace(number, provider, timer);
        Descriptors.signal(event);
    }

    public synchronized boolean isDeaf() { return isDeaf; }

    public synchronized void close() {
        if (closed) { return; }
        closed = true;
        Descriptors.close(number);
        Descriptors.close(event);
        if (timer != NONE) { Descriptors.close(timer); }
    }
}
