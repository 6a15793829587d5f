package io.ofi4j.internal.quirks.shm;

import static io.ofi4j.info.VersionRange.from;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.AddressFormat;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.VersionRange;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.quirks.EndpointView;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Quirk;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * Makes the provider find a peer by its file, not by its name in the list of this process's endpoints. It puts a slash
 * in front of the name: no name in that list has one, and shm_open(3) skips it. Names that the provider has made need
 * no slash: those of this process are used once, and a closed endpoint is refused; those of other processes are not in
 * the list. They must have no slash, because the peer's first operation gives its name without one. shm of 1.x would
 * then map the peer anew, which ends this process if the peer has ended meanwhile.
 */
final class ShmNames extends Quirk {
    private static final String UPSTREAM = """
            The list of this process's endpoints keeps the names of those that are closed, with the address of their \
            unmapped memory; an endpoint that has the name of a closed one is looked for there.""";
    private static final Pattern MADE = Pattern.compile("fi_shm://\\d+:\\d+:\\d+\0?");
    private static final String HERE = "fi_shm://" + ProcessHandle.current().pid() + ":";
    /**
     * Makes the provider map a peer of this process like one of another process. Takes precedence over shm-names, which
     * leaves these names without a slash. 488dc58b5 made it necessary.
     */
    static final Quirk OWN_PEERS = new Quirk("shm-own-peers", provider -> provider.is("shm"), from(2, 5), """
            A peer found in the list of this process's endpoints is not made known to the endpoints that are \
            enabled: what it sends back leads into nowhere.""", "ShmNamesTest") {
        @Override
        protected byte[] nativeAddress(EndpointAddress address) {
            return isMadeHere(address) ? slashed(address) : null; // chosen names have one anyway
        }
    };

    /**
     * Refuses a chosen name that an endpoint of this process had before. The read of the peer's memory is in the source
     * of 1.20.2, not in that of 1.19.1; 2.0.0 maps a peer later, and does not read there.
     */
    static final Quirk USED = new Quirk("shm-used-names", provider -> provider.is("shm"), from(1, 20).to(1, 22), """
            The provider reads the memory of a peer that is inserted, or that has sent something. Under a name that \
            was used in this process before, it finds that of the closed endpoint, and the process ends.""",
            "ShmNamesTest") {
        private final Set<EndpointAddress> used = ConcurrentHashMap.newKeySet();

        @Override
        protected int enable(Supplier<EndpointAddress> address, long transmitSize, long receiveSize,
                IntSupplier enable) {
            if (used.contains(address.get())) {
                throw new FabricException("fi_enable failed on provider shm: an endpoint of this process had the name "
                        + address.get() + " before, which this version of libfabric cannot use again: choose another"
                        + " name.", "fi_enable", Errno.EADDRINUSE);
            }
            return enable.getAsInt();
        }

        @Override
        protected void closed(EndpointView endpoint) {
            if (!isMadeHere(endpoint.address())) { used.add(endpoint.address()); }
        }
    };

    /** 9cf1cb7fb brought it. 1.18.3 and 1.16.1 do not have it. */
    static final Quirk UNKNOWN_SOURCES = new Quirk("shm-unknown-sources", provider -> provider.is("shm"),
            VersionRange.from(1, 17).to(1, 17),
            "The source of a message of a peer that is not in the vector is 0, as if it were the first one.",
            "UnknownSourceTest", Fact.UNKNOWN_SOURCES_ARE_ZERO) {
        /** The file of the first peer under another name: the provider ignores the text before ://. */
        @Override
        protected byte[] placeholder(EndpointAddress first) {
            byte[] name = slashed(first);
            name[0] = PLACEHOLDER_PREFIX;
            return name;
        }
    };
    private static final byte PLACEHOLDER_PREFIX = 'p';

    /**
     * Gives an endpoint another name if the file of the name that the provider has made is in use. A name that the
     * program chose stays.
     */
    static final Quirk TAKEN = new Quirk("shm-taken-names", provider -> provider.is("shm"), from(1, 15), """
            A name is made of the number of the process, which a process of another container may have, too.""",
            "ShmNamesTest") {
        private final SecureRandom random = new SecureRandom();

        @Override
        protected EndpointAddress anotherName(Supplier<EndpointAddress> address) {
            EndpointAddress made = address.get();
            if (!isMadeHere(made) || ShmFiles.path(made).filter(ShmFileReservation::isTaken).isEmpty()) { return null; }
            String name = text(made).replaceFirst(":\\d+\0?$",
                    ":" + random.nextInt(FIRST_FREE, Integer.MAX_VALUE) + "\0");
            return EndpointAddress.of(name.getBytes(StandardCharsets.ISO_8859_1), AddressFormat.STR);
        }
    };

    /** The provider counts its endpoints from 0. */
    private static final int FIRST_FREE = 1 << 20;

    /** Addresses that this process has chosen, and that look as if the provider had made them for another process. */
    private final Set<EndpointAddress> lookAlikes = ConcurrentHashMap.newKeySet();

    ShmNames() {
        super("shm-names", provider -> provider.is("shm"), VersionRange.from(1, 15), UPSTREAM, "ShmNamesTest");
    }

    @Override
    protected void beforeInsert(EndpointAddress address) {
        if (isMadeHere(address)) { ShmFiles.requireExists(address); }
    }

    @Override
    protected byte[] nativeAddress(EndpointAddress address) {
        boolean isMade = MADE.matcher(text(address)).matches() && !lookAlikes.contains(address);
        return isMade ? address.toBytes() : slashed(address);
    }

    @Override
    protected void enabled(EndpointView endpoint) {
        if (MADE.matcher(text(endpoint.address())).matches() && !isMadeHere(endpoint.address())) {
            lookAlikes.add(endpoint.address());
        }
    }

    static byte[] slashed(EndpointAddress address) {
        return text(address).replaceFirst("://", ":///").getBytes(StandardCharsets.ISO_8859_1);
    }

    private static boolean isMadeHere(EndpointAddress address) {
        return text(address).startsWith(HERE) && MADE.matcher(text(address)).matches();
    }

    private static String text(EndpointAddress address) {
        return new String(address.toBytes(), StandardCharsets.ISO_8859_1);
    }
}
