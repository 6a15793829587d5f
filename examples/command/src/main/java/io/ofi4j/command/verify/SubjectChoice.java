package io.ofi4j.command.verify;

import io.ofi4j.Libfabric;
import io.ofi4j.command.CommandFailure;
import io.ofi4j.command.Loopback;
import io.ofi4j.conformance.Subject;
import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.AddressFormat;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricInfo;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** What is tried: the provider that was asked for, as it is on this machine. */
final class SubjectChoice {
    /** FI_SOCKADDR, FI_SOCKADDR_IN and FI_SOCKADDR_IN6 of fi_getinfo(3). */
    private static final Set<AddressFormat> INTERNET = EnumSet.of(AddressFormat.SOCKADDR, AddressFormat.SOCKADDR_IN,
            AddressFormat.SOCKADDR_IN6);
    private static final List<EndpointType> TYPES = List.of(EndpointType.RDM, EndpointType.MSG, EndpointType.DGRAM);
    private static final Path SHM = Path.of("/dev/shm");
    private static final long MEBIBYTE = 1 << 20;
    /** Three endpoints, about. */
    private static final long LEAST_SHM = 64 * MEBIBYTE;

    /** What is tried. */
    final Subject subject;
    /** What libfabric has of it. */
    final FabricInfo info;

    private SubjectChoice(Subject subject, FabricInfo info) {
        this.subject = subject;
        this.info = info;
    }

    /**
     * Finds it.
     *
     * @param type the type of its endpoints; without one, the first that it has of RDM, MSG and DGRAM
     * @param source an address of this machine; without one, the usual one where the provider has that
     * @param usual an internet address of this machine
     */
    static SubjectChoice of(Libfabric libfabric, String provider, Optional<EndpointType> type, Optional<String> source,
            String usual, Duration deadline) {
        source.ifPresent(SubjectChoice::requireOwn);
        NoProviderException missing = null;
        for (EndpointType one : type.map(List::of).orElse(TYPES)) {
            try {
                return of(libfabric, new Subject(provider, one, source, deadline), usual);
            } catch (NoProviderException e) {
                if (missing == null) { missing = e; }
            }
        }
        throw missing;
    }

    private static SubjectChoice of(Libfabric libfabric, Subject asked, String usual) {
        FabricInfo info = libfabric.info(asked.hints()).getFirst();
        Subject subject = new Subject(info.provider(), asked.type(), asked.source(), asked.deadline());
        if (subject.source().isPresent() || !INTERNET.contains(info.addressFormat())) {
            requireRoom(info.provider());
            return new SubjectChoice(subject, info);
        }
        Subject here = new Subject(info.provider(), asked.type(), Optional.of(usual), asked.deadline());
        try {
            return new SubjectChoice(here, libfabric.info(here.hints()).getFirst());
        } catch (NoProviderException e) {
            return new SubjectChoice(subject, info); // a device has an address of its own
        }
    }

    private static void requireOwn(String address) {
        try {
            if (Loopback.isOwn(InetAddress.getByName(address))) { return; }
        } catch (UnknownHostException e) {
            throw new CommandFailure("There is no host '" + address + "': -s takes an address of this machine.", e);
        }
        throw new CommandFailure("'" + address + "' is no address of this machine: name one with -s.");
    }

    private static void requireRoom(String provider) {
        if (!provider.equals("shm") && !provider.equals("sm2")) { return; }
        try {
            long room = Files.getFileStore(SHM).getUsableSpace();
            if (room < LEAST_SHM) {
                throw new CommandFailure("There is too little room in /dev/shm: it has " + room / MEBIBYTE
                        + " MiB free, and the trials need " + LEAST_SHM / MEBIBYTE
                        + ": 'ofi4j doctor --clean' removes what killed processes left, "
                        + "'mount -o remount,size=2g /dev/shm' makes it larger.");
            }
        } catch (IOException e) {
            throw new CommandFailure(
                    "There is no /dev/shm, in which the provider " + provider + " lives: mount a tmpfs.", e);
        }
    }
}
