package io.ofi4j.support;

import io.ofi4j.Libfabric;
import io.ofi4j.info.VersionRange;
import java.util.List;
import java.util.stream.Stream;

/**
 * What single providers do wrong, as the tests expect it: by provider and version of libfabric. The tests do not ask
 * the quirks, so that a quirk that is on or off by mistake fails a test.
 */
public enum ProviderFault {
    /** A fetch with ATOMIC_READ gives no value. */
    ATOMIC_READS_RETURN_NOTHING(in("shm", VersionRange.from(1, 20).to(1, 21))),
    /** Atomic operations with completion data damage the target, or lose the data. */
    ATOMICS_CARRY_NO_DATA(always("shm"), always(";ofi_rxm")),
    /** Atomic operations with INJECT never complete. */
    ATOMIC_INJECTS_ARE_SILENT(always(";ofi_rxm")),
    /** A claimed message is lost. */
    CLAIMS_LOSE_MESSAGES(in("net", VersionRange.from(1, 16).to(1, 16))),
    /**
     * An older message that is received while one of several packets arrives takes the rest of it: keep them within
     * one.
     */
    ARRIVALS_MIXED(always(";ofi_rxd")),
    /** A claim takes a part of a long message, and ends the process. */
    CLAIMS_TAKE_ONE_SEGMENT(in("verbs;ofi_rxm", VersionRange.from(1, 15).to(1, 22)),
            in("tcp;ofi_rxm", VersionRange.from(1, 19).to(1, 22))),
    /** A claimed message of several packets is cut short. */
    CLAIMS_TRUNCATE(always(";ofi_rxd")),
    /** A receive of messages from one peer may end the process. */
    DIRECTED_RECEIVES_CRASH(in("shm", VersionRange.from(1, 19)), in(";ofi_rxm", VersionRange.from(2, 0))),
    /** A receive of messages from one peer takes those of any peer. */
    DIRECTED_RECEIVES_IGNORED(always("tcp"), always("net")),
    /** The sender of a long message that is discarded waits for ever. */
    DISCARDED_SENDS_HANG(always(";ofi_rxm"), always(";ofi_rxd"), in("shm", VersionRange.from(1, 19).to(1, 19))),
    /** A discard never completes. */
    DISCARDS_INCOMPLETE(in("net", VersionRange.from(1, 16).to(1, 16))),
    /** A discard writes to the memory of the sender's endpoint. */
    DISCARDS_OVERWRITE(in("shm", VersionRange.from(1, 20).to(2, 4))),
    /** A read of an event queue may complete operations of the endpoints that are bound to it. */
    EVENT_READS_COMPLETE(in("tcp", VersionRange.from(1, 15).to(1, 17))),
    /** Messages with INJECT never complete. */
    INJECTED_MESSAGES_HANG(always(";ofi_rxd")),
    /** A message may be written beyond the end of a receive of many messages. */
    LONG_MESSAGES_OVERWRITE(always("shm"), always(";ofi_rxd"), in(";ofi_rxm", VersionRange.from(2, 0))),
    /** A message that came before its receive is matched without the mask. */
    MASKS_IGNORED(in("shm", VersionRange.from(1, 17).to(1, 18))),
    /** A message with completion data may be reported without the flag of the data. */
    MESSAGE_DATA_UNFLAGGED(always("sockets")),
    /** A tagged message that comes before its receive stops the connection until a receive takes it. */
    NO_EARLY_TAGS_SAVED(in("net", VersionRange.from(1, 16).to(1, 16))),
    /** Reading an option of an endpoint that is not enabled ends the process. */
    OPTIONS_NEED_ENABLE(in("shm", VersionRange.from(1, 17)), in(";ofi_rxm", VersionRange.from(2, 0).to(2, 0))),
    /** A look for a message receives it. */
    PEEK_RECEIVES(in("shm", VersionRange.from(1, 15).to(1, 18))),
    /** Setting the least room of a receive of many messages before the endpoint is enabled ends the process. */
    RECEIVE_OPTIONS_NEED_ENABLE(in("shm", VersionRange.from(1, 17).to(1, 22))),
    /** A receive from one peer does not recognize a peer with a chosen name. */
    RESPELLED_PEERS_UNRECOGNIZED(in("shm", VersionRange.from(1, 15).to(1, 16)), in("shm", VersionRange.from(1, 19)));

    /** @param provider a provider's name, or the end of one that begins with a semicolon */
    private record Where(String provider, VersionRange versions) {
        boolean matches(String name) {
            return (provider.startsWith(";") ? name.endsWith(provider) : name.equals(provider))
                    && versions.contains(Libfabric.load().version());
        }
    }

    private final List<Where> places;

    ProviderFault(Where... places) { this.places = List.of(places); }

    private static Where always(String provider) { return in(provider, VersionRange.from(1, 15)); }

    private static Where in(String provider, VersionRange versions) { return new Where(provider, versions); }

    /**
     * {@return whether the provider has it, in the libfabric that is tested}
     *
     * @param provider as in {@link TestProviders}, such as {@code MSG sockets}
     */
    public boolean isOf(String provider) {
        String name = provider.substring(provider.indexOf(' ') + 1);
        return places.stream().anyMatch(place -> place.matches(name));
    }

    /** {@return whether the provider has one of these} */
    public static boolean anyOf(String provider, ProviderFault... faults) {
        return Stream.of(faults).anyMatch(fault -> fault.isOf(provider));
    }
}
