package io.ofi4j.internal.quirks.shm;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.Quirk;
import io.ofi4j.internal.quirks.Status;
import io.ofi4j.internal.quirks.Tested;
import io.ofi4j.internal.quirks.VectorView;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * Has the provider find a peer by its file, not by its name in the list of this process's endpoints: a slash in front of the name, which
 * shm_open(3) skips, is in no such list. Names that the provider has made for this process are used once, and need no slash; of those
 * an endpoint that is closed is refused.
 */
final class ShmNames extends Quirk {
    private static final Pattern MADE_HERE = Pattern
            .compile("fi_shm://" + ProcessHandle.current().pid() + ":\\d+:\\d+\0?");
    private static final String SEPARATOR = "://";

    ShmNames() {
        super("shm-names", provider -> provider.is("shm"), Tested.ALL,
                "The list of this process's endpoints keeps the names of those that are closed, with the address of their unmapped"
                        + " memory; an endpoint that has the name of a closed one is looked for there.",
                "ShmNamesTest");
    }

    @Override
    protected <P> P insert(EndpointAddress address, VectorView vector, Supplier<P> insertion, Consumer<P> refusal) {
        if (isMadeHere(address) && ShmFiles.find(address).isEmpty()) {
            throw Status.exception(-Errno.ENOENT, "fi_av_insert", "shm");
        }
        return insertion.get();
    }

    @Override
    protected byte[] spelling(EndpointAddress address) {
        return isMadeHere(address) ? address.toBytes() : slashed(address);
    }

    private static byte[] slashed(EndpointAddress address) {
        byte[] name = address.toBytes();
        int end = text(address).indexOf(SEPARATOR) + SEPARATOR.length();
        return end < SEPARATOR.length()
                ? name
                : ByteBuffer.allocate(name.length + 1).put(name, 0, end).put((byte) '/')
                        .put(name, end, name.length - end).array();
    }

    /** Has the provider map a peer of this process like one of another process. Comes before the names that need no slash. */
    static final class OwnPeers extends Quirk {
        OwnPeers() {
            super("shm-own-peers", provider -> provider.is("shm"), Tested.NEWEST,
                    "A peer found in the list of this process's endpoints is not made known to the endpoints that are enabled: what it"
                            + " sends back leads into nowhere.",
                    "ShmNamesTest");
        }

        @Override
        protected byte[] spelling(EndpointAddress address) { return slashed(address); }
    }

    private static boolean isMadeHere(EndpointAddress address) { return MADE_HERE.matcher(text(address)).matches(); }

    private static String text(EndpointAddress address) {
        return new String(address.toBytes(), StandardCharsets.ISO_8859_1);
    }
}
