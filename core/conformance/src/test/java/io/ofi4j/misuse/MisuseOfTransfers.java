package io.ofi4j.misuse;

import static io.ofi4j.misuse.Misuse.refused;

import io.ofi4j.PackagePrivate;
import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.PreparedRma;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Bytes, rights, peers and regions that a transfer cannot have. */
final class MisuseOfTransfers {
    private static final Class<? extends Throwable> RANGE = IndexOutOfBoundsException.class;
    private static final Class<? extends Throwable> ARGUMENT = IllegalArgumentException.class;
    private static final Class<? extends Throwable> STATE = IllegalStateException.class;
    private static final String OUTSIDE = "not inside a region of 4096 bytes";

    private MisuseOfTransfers() {}

    static Stream<Misuse> cases() {
        return Stream.of(ranges(), rights(), owners(), messages()).flatMap(cases -> cases);
    }

    private static Stream<Misuse> ranges() {
        long[][] ranges = {{-1, 8, 0}, {0, -1, 0}, {0, 8, -1}, {4089, 8, 0}, {0, 4097, 0}, {0, 8, 4089}, {4097, 0, 0},
                {0, 0, 4097}, {Long.MAX_VALUE, 8, 0}, {0, Long.MAX_VALUE, 0}, {0, 8, Long.MAX_VALUE},
                {Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE}, {Long.MIN_VALUE, 8, 0}, {0, Long.MIN_VALUE, 0},
                {0, 8, Long.MIN_VALUE}, {1L << 32, 8, 0}, {0, 1L << 32, 0}, {0, 8, 1L << 32}};
        return Stream.of(ranges)
                .flatMap(
                        at -> Stream.of(
                                refused("write " + at(at), RANGE, OUTSIDE,
                                        s -> s.rma().tryWrite(s.source, at[0], at[1], s.pair.far, s.target.remote(),
                                                at[2], 1)),
                                refused("read " + at(at), RANGE, OUTSIDE,
                                        s -> s.rma().tryRead(s.sink, at[0], at[1], s.pair.far, s.target.remote(), at[2],
                                                1)),
                                refused("write with data " + at(at), RANGE, OUTSIDE, s -> s.rma().tryWriteData(s.source,
                                        at[0], at[1], 1, s.pair.far, s.target.remote(), at[2], 1))));
    }

    private static String at(long[] at) { return at[1] + " bytes from " + at[0] + " to " + at[2]; }

    private static Stream<Misuse> rights() {
        RemoteRegion readable = new RemoteRegion(0, MisuseStage.LENGTH, 1, Access.REMOTE_READ.bit());
        RemoteRegion writable = new RemoteRegion(0, MisuseStage.LENGTH, 1, Access.REMOTE_WRITE.bit());
        return Stream.of(
                refused("write from a region for reads", ARGUMENT, "local region is registered for [READ]",
                        s -> s.rma().tryWrite(s.sink, 0, 8, s.pair.far, s.target.remote(), 0, 1)),
                refused("write to a region for reads", ARGUMENT, "which lacks [REMOTE_WRITE]",
                        s -> s.rma().tryWrite(s.source, 0, 8, s.pair.far, readable, 0, 1)),
                refused("read into a region for writes", ARGUMENT, "local region is registered for [WRITE]",
                        s -> s.rma().tryRead(s.source, 0, 8, s.pair.far, s.target.remote(), 0, 1)),
                refused("read from a region for writes", ARGUMENT, "which lacks [REMOTE_READ]",
                        s -> s.rma().tryRead(s.sink, 0, 8, s.pair.far, writable, 0, 1)),
                refused("inject more than the limit", ARGUMENT, "at most ", s -> {
                    MemoryRegion large = s.opened(s.pair.domain.allocate(1 << 16, Access.WRITE, Access.REMOTE_WRITE));
                    s.rma().tryInjectWrite(large, 0, 1 << 16, s.pair.far, large.remote(), 0);
                }), refused("read with inject's limit as length, past the end", RANGE, OUTSIDE,
                        s -> s.rma().tryRead(s.sink, 1, 4096, s.pair.far, s.target.remote(), 0, 1)));
    }

    private static Stream<Misuse> owners() {
        return Stream.of(
                refused("write from another domain's region", ARGUMENT, "another domain",
                        s -> s.rma().tryWrite(s.region(s.other("shm"), Access.WRITE), 0, 8, s.pair.far,
                                s.target.remote(), 0, 1)),
                refused("write to another vector's peer", ARGUMENT, "address vector",
                        s -> s.rma().tryWrite(s.source, 0, 8, s.other("shm").far, s.target.remote(), 0, 1)),
                refused("write to a connected endpoint's peer", ARGUMENT, "address vector",
                        s -> s.rma().tryWrite(s.source, 0, 8, s.other("MSG tcp").far, s.target.remote(), 0, 1)),
                refused("write from a closed region", STATE, "closed",
                        s -> s.rma().tryWrite(MisuseStage.closed(s.source), 0, 8, s.pair.far, s.target.remote(), 0, 1)),
                refused("read into a closed region", STATE, "closed",
                        s -> s.rma().tryRead(MisuseStage.closed(s.sink), 0, 8, s.pair.far, s.target.remote(), 0, 1)),
                refused("inject from a closed region", STATE, "closed", s -> s.rma()
                        .injectWrite(MisuseStage.closed(s.source).slice(0, 8), s.pair.far, s.target.remote())),
                refused("write to a removed peer", STATE, "removed", s -> {
                    s.pair.vector.remove(s.pair.far);
                    s.write(1);
                }), refused("write to a peer of this process that is closed", STATE, "closed", s -> {
                    s.pair.farEndpoint.close();
                    s.write(1);
                }), refused("write on a closed endpoint", STATE, "closed", s -> {
                    Rma rma = s.rma();
                    s.pair.endpoint.close();
                    rma.tryWrite(s.source, 0, 8, s.pair.far, s.target.remote(), 0, 1);
                }), refused("inject on a closed endpoint", STATE, "closed", s -> {
                    Rma rma = s.rma();
                    s.pair.endpoint.close();
                    rma.injectWrite(s.source.slice(0, 8), s.pair.far, s.target.remote());
                }));
    }

    private static Misuse message(String name, Class<? extends Throwable> expected, String words,
            Consumer<Prepared> call) {
        return refused("message: " + name, expected, words, s -> call.accept(new Prepared(s, s.rma().prepare())));
    }

    /** A message of a stage. */
    private record Prepared(MisuseStage s, PreparedRma message) {
        PreparedRma whole() { return message.peer(s.pair.far).local(s.source, 0, 8).remote(s.target.remote(), 0, 8); }
    }

    private static Stream<Misuse> messages() {
        return Stream.of(message("nothing set", STATE, "peer", p -> p.message.tryWrite(1)),
                message("no segments", STATE, "local", p -> p.message.peer(p.s.pair.far).write(1)),
                message("no remote", STATE, "remote",
                        p -> p.message.peer(p.s.pair.far).local(p.s.source, 0, 8).tryWrite(1)),
                message("unequal lengths", STATE, "bytes",
                        p -> p.message.peer(p.s.pair.far).local(p.s.source, 0, 8).remote(p.s.target.remote(), 0, 9)
                                .tryWrite(1)),
                message("local past the end", RANGE, OUTSIDE, p -> p.message.local(p.s.source, 4090, 8)),
                message("local overflowing", RANGE, OUTSIDE,
                        p -> p.message.local(p.s.source, Long.MAX_VALUE, Long.MAX_VALUE)),
                message("remote past the end", RANGE, OUTSIDE, p -> p.message.remote(p.s.target.remote(), 4096, 1)),
                message("remote negative", RANGE, OUTSIDE, p -> p.message.remote(p.s.target.remote(), -1, 1)),
                message("too many local segments", ARGUMENT, "local segments per operation", p -> {
                    for (int i = 0; i <= p.message.localLimit(); i++) {
                        p.message.local(p.s.source, 0, 8);
                    }
                }), message("too many remote segments", ARGUMENT, "remote segments per operation", p -> {
                    for (int i = 0; i <= p.message.remoteLimit(); i++) {
                        p.message.remote(p.s.target.remote(), 0, 8);
                    }
                }), message("lengths that overflow together", STATE, "bytes", p -> {
                    RemoteRegion endless = new RemoteRegion(0, Long.MAX_VALUE, 1, PackagePrivate.ALL_RIGHTS);
                    p.message.peer(p.s.pair.far).local(p.s.source, 0, 8);
                    p.message.remote(endless, 0, Long.MAX_VALUE).remote(endless, 0, 10);
                    p.message.remote(endless, 0, Long.MAX_VALUE).tryWrite(1);
                }),
                message("another domain's region", ARGUMENT, "another domain",
                        p -> p.message.local(p.s.region(p.s.other("shm"), Access.WRITE), 0, 8)),
                message("another vector's peer", ARGUMENT, "address vector", p -> p.message.peer(p.s.other("shm").far)),
                message("write from a region for reads", ARGUMENT, "lacks",
                        p -> p.message.peer(p.s.pair.far).local(p.s.sink, 0, 8).remote(p.s.target.remote(), 0, 8)
                                .tryWrite(1)),
                message("read into a region for writes", ARGUMENT, "lacks", p -> p.whole().tryRead(1)),
                message("region closed since", STATE, "closed", p -> {
                    PreparedRma whole = p.whole();
                    p.s.source.close();
                    whole.tryWrite(1);
                }), message("peer removed since", STATE, "removed", p -> {
                    PreparedRma whole = p.whole();
                    p.s.pair.vector.remove(p.s.pair.far);
                    whole.tryWrite(1);
                }), message("endpoint closed since", STATE, "closed", p -> {
                    PreparedRma whole = p.whole();
                    p.s.pair.endpoint.close();
                    whole.tryWrite(1);
                }));
    }
}
