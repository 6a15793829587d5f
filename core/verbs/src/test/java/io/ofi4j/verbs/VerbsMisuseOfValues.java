package io.ofi4j.verbs;

import static io.ofi4j.verbs.VerbsMisuse.value;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.stream.Stream;

/** Bytes, names, addresses and durations that are not what they should be: no device is needed to say so. */
final class VerbsMisuseOfValues {
    private static final String GID = "00000000000000000000ffffc6120001";
    private static final InetSocketAddress HERE = new InetSocketAddress("127.0.0.1", 1);
    private static final InetSocketAddress NOWHERE = InetSocketAddress.createUnresolved("nowhere", 1);

    private VerbsMisuseOfValues() {}

    static Stream<VerbsMisuse> cases() { return Stream.of(bytes(), addresses(), names()).flatMap(cases -> cases); }

    private static byte[] memory(int damagedAt) {
        byte[] bytes = new RemoteMemory(4096, 100, 1, VerbsAccess.REMOTE, false).encode();
        bytes[damagedAt] ^= 1;
        return bytes;
    }

    private static Stream<VerbsMisuse> bytes() {
        return Stream.of(value("no bytes as memory", "32 bytes, not 0", () -> RemoteMemory.decode(new byte[0])),
                value("a byte too many as memory", "32 bytes, not 33", () -> RemoteMemory.decode(new byte[33])),
                value("zeros as memory", "not encoded memory", () -> RemoteMemory.decode(new byte[32])),
                value("memory of another format", "run the same release", () -> RemoteMemory.decode(memory(5))),
                value("memory with a changed length", "checksum", () -> RemoteMemory.decode(memory(23))),
                value("memory with a changed key", "checksum", () -> RemoteMemory.decode(memory(26))),
                value("memory with changed rights", "checksum", () -> RemoteMemory.decode(memory(7))),
                value("no bytes as queue pair", "not the address of a queue pair",
                        () -> QueuePairAddress.decode(new byte[0])),
                value("zeros as queue pair", "not the address of a queue pair",
                        () -> QueuePairAddress.decode(new byte[36])),
                value("memory as queue pair", "not the address of a queue pair",
                        () -> QueuePairAddress.decode(memory(31))));
    }

    private static Stream<VerbsMisuse> addresses() {
        return Stream.of(
                value("a queue pair at a short GID", "16 bytes", () -> new QueuePairAddress(1, 1, 0, 1024, "00")),
                value("a queue pair with a negative number", "queue pair is 0 to 16777215, not -1",
                        () -> new QueuePairAddress(-1, 1, 0, 1024, GID)),
                value("a queue pair with a number of 25 bits", "not 16777216",
                        () -> new QueuePairAddress(1 << 24, 1, 0, 1024, GID)),
                value("a first packet of 25 bits", "packet is 0 to 16777215",
                        () -> new QueuePairAddress(1, 1 << 24, 0, 1024, GID)),
                value("a subnet address of 17 bits", "subnet is 0 to 65535",
                        () -> new QueuePairAddress(1, 1, 1 << 16, 1024, GID)),
                value("packets of no bytes", "not 0", () -> new QueuePairAddress(1, 1, 0, 0, GID)),
                value("packets of 1500 bytes", "not 1500", () -> new QueuePairAddress(1, 1, 0, 1500, GID)),
                value("a short GID", "16 bytes", () -> new Gid(0, "ffff", "")));
    }

    private static Stream<VerbsMisuse> names() {
        Duration least = Duration.ofSeconds(Long.MIN_VALUE);
        return Stream.of(
                value("a device that is not there", "no RDMA device 'nonsense'", () -> Verbs.load().open("nonsense")),
                value("a device without a name", "no RDMA device ''", () -> Verbs.load().open("")),
                value("a device's name with a zero in it", "no RDMA device", () -> Verbs.load().open("rxe0\0x")),
                value("listen at an unresolved address", "not resolved", () -> Verbs.load().listen(NOWHERE, 1)),
                value("listen for nobody", "at least 1, not 0", () -> Verbs.load().listen(HERE, 0)),
                value("listen for less than nobody", "at least 1, not -5", () -> Verbs.load().listen(HERE, -5)),
                value("connect to an unresolved address", "not resolved",
                        () -> Verbs.load().resolve(null, NOWHERE, Duration.ofSeconds(1))),
                value("connect from an unresolved address", "not resolved",
                        () -> Verbs.load().resolve(NOWHERE, HERE, Duration.ofSeconds(1))),
                value("connect within no time", "above zero", () -> Verbs.load().resolve(null, HERE, Duration.ZERO)),
                value("connect within negative time", "above zero", () -> Verbs.load().resolve(null, HERE, least)));
    }
}
