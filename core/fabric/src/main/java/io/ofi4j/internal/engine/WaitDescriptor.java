package io.ofi4j.internal.engine;

import io.ofi4j.info.WaitObject;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.os.Blocker;
import io.ofi4j.internal.os.Descriptors;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Status;

/**
 * A file descriptor that is readable while the provider's is, or after {@link #wake}. Not every provider's descriptor
 * can be made readable by this library, and a provider does not know of completions that this library has buffered.
 */
public final class WaitDescriptor {
    private static final int TICK_NANOS = 1_000_000;
    private static final int NONE = -1;

    public final int number;
    private final int provider;
    private final int event;
    private int timer = NONE;
    private boolean isDetached;
    private boolean closed;

    private WaitDescriptor(int provider) {
        this.provider = provider;
        this.event = required(Descriptors.event());
        int epoll = Descriptors.epoll(provider, event);
        if (epoll < 0) { Descriptors.close(event); }
        this.number = required(epoll);
    }

    private static int required(int descriptor) {
        if (descriptor < 0) { throw Status.exception(-Errno.EMFILE, "eventfd", "none"); }
        return descriptor;
    }

    /**
     * {@return the descriptor of an object, or null if it has none and none was asked for}
     *
     * @param what the kind of object, for the message of an exception
     */
    public static WaitDescriptor open(Handle opened, String what, WaitObject asked) {
        boolean wanted = asked == WaitObject.FD || asked == WaitObject.UNSPECIFIED && hasDescriptor(opened);
        FidOps.Control got = wanted ? FidOps.fi_control(opened, FabricConstants.FI_GETWAIT) : null;
        boolean isOffered = got != null && got.status() == 0;
        if (!isOffered && asked == WaitObject.FD) { throw notOffered(what, asked, opened.provider()); }
        return isOffered ? new WaitDescriptor(got.value()) : null;
    }

    /** Throws if the status of opening an object means that the provider lacks the wait object. */
    public static void requireOffered(int status, String what, WaitObject asked, String provider) {
        boolean isRefused = status == -Errno.ENOSYS || status == -Errno.EOPNOTSUPP || status == -Errno.EINVAL;
        if (isRefused && asked != WaitObject.NONE) { throw notOffered(what, asked, provider); }
    }

    private static UnsupportedOperationException notOffered(String what, WaitObject asked, String provider) {
        String others = asked == WaitObject.UNSPECIFIED ? "NONE" : "UNSPECIFIED or NONE";
        return new UnsupportedOperationException(what + " with the wait object " + asked
                + " is not offered by the provider " + provider + ": ask for WaitObject." + others);
    }

    private static boolean hasDescriptor(Handle opened) {
        FidOps.Control chosen = FidOps.fi_control(opened, FabricConstants.FI_GETWAITOBJ);
        return chosen.status() == 0 && chosen.value() == WaitObject.FD.value();
    }

    public boolean isProviderReady() { return Blocker.isReadable(provider); }

    /** Makes it readable until {@link #reset}. Any thread may call this at any time. */
    public synchronized void wake() {
        if (!closed) { Descriptors.signal(event); }
    }

    public synchronized void reset() {
        if (closed) { return; }
        if (!isDetached || timer != NONE) { // without a timer it stays readable: nobody may block
            Descriptors.reset(event);
        }
        if (timer != NONE) { Descriptors.reset(timer); }
    }

    /**
     * Stops polling the provider and its descriptor. From now on this one is readable every millisecond, so that
     * blocked threads check again.
     */
    public synchronized void detachProvider() {
        if (closed || isDetached) { return; }
        isDetached = true;
        timer = Math.max(NONE, Descriptors.timer(TICK_NANOS));
        Descriptors.replace(number, provider, timer);
        Descriptors.signal(event);
    }

    public synchronized boolean isDetached() { return isDetached; }

    public synchronized void close() {
        if (closed) { return; }
        closed = true;
        Descriptors.close(number);
        Descriptors.close(event);
        if (timer != NONE) { Descriptors.close(timer); }
    }
}
