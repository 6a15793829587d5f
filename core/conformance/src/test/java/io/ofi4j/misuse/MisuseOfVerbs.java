package io.ofi4j.misuse;

import static io.ofi4j.misuse.Misuse.refused;

import io.ofi4j.verbs.QueuePairAddress;
import io.ofi4j.verbs.RemoteMemory;
import io.ofi4j.verbs.Verbs;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.stream.Stream;

/** Misuse of the verbs path that needs no device; {@code VerbsMisuseTableTest} has the rest. */
final class MisuseOfVerbs {
    private static final Class<? extends Throwable> ARGUMENT = IllegalArgumentException.class;
    private static final InetSocketAddress HERE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private MisuseOfVerbs() {}

    static Stream<Misuse> cases() {
        return Stream.of(refused("verbs: memory of no bytes", ARGUMENT, "bytes", s -> RemoteMemory.decode(new byte[0])),
                refused("verbs: the address of a queue pair of no bytes", ARGUMENT, "bytes",
                        s -> QueuePairAddress.decode(new byte[0])),
                refused("verbs: a device that is not there", ARGUMENT, "nonsense", s -> Verbs.load().open("nonsense")),
                refused("verbs: a backlog of nothing", ARGUMENT, "at least 1", s -> Verbs.load().listen(HERE, 0)),
                refused("verbs: no time to resolve", ARGUMENT, "above zero",
                        s -> Verbs.load().resolve(HERE, HERE, Duration.ZERO)));
    }
}
