package io.ofi4j.misuse;

import static io.ofi4j.misuse.Misuse.refused;

import io.ofi4j.info.VersionRange;
import io.ofi4j.Libfabric;
import io.ofi4j.Access;
import io.ofi4j.PreparedAtomic;
import io.ofi4j.Atomics;
import io.ofi4j.MemoryRegion;
import io.ofi4j.PackagePrivate;
import io.ofi4j.RemoteRegion;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Operations, elements, targets and regions that an atomic operation cannot have. */
final class MisuseOfAtomics {
    /** As the quirk shm-atomic-reads. */
    private static final boolean READS_ARE_REFUSED = VersionRange.from(1, 20).to(1, 21)
            .contains(Libfabric.load().version());

    private static final Class<? extends Throwable> RANGE = IndexOutOfBoundsException.class;
    private static final Class<? extends Throwable> ARGUMENT = IllegalArgumentException.class;
    private static final Class<? extends Throwable> STATE = IllegalStateException.class;
    private static final Class<? extends Throwable> NOT_OFFERED = UnsupportedOperationException.class;
    private static final AtomicOperation SUM = AtomicOperation.SUM;
    private static final AtomicOperation CSWAP = AtomicOperation.CSWAP;
    private static final Datatype INT64 = Datatype.INT64;
    private static final String OUTSIDE = "not inside a region of 4096 bytes";
    private static final int LENGTH = MisuseStage.LENGTH;

    private MisuseOfAtomics() {}

    /** Endpoints with atomic operations, and regions for every part of one. */
    private static final class Two {
        final MisuseStage s;
        final Pair pair;
        final Atomics atomics;
        final MemoryRegion source;
        final MemoryRegion sink;
        final MemoryRegion cell;
        final MemoryRegion target;

        Two(MisuseStage s, ThreadingModel model) {
            this.s = s;
            pair = s.opened(new Pair(TestProviders.atomicHints("shm").threading(model)));
            atomics = pair.endpoint.atomics();
            source = s.region(pair, Access.WRITE);
            sink = s.region(pair, Access.READ);
            cell = s.region(pair, Access.WRITE, Access.READ);
            target = s.region(pair, Access.REMOTE_READ, Access.REMOTE_WRITE);
        }

        void execute(AtomicOperation operation, Datatype datatype, long offset, long count, long remoteOffset) {
            atomics.tryExecute(operation, datatype, source, offset, count, pair.far, target.remote(), remoteOffset, 1);
        }

        void fetch(MemoryRegion operands, MemoryRegion results, RemoteRegion remote) {
            atomics.tryFetch(SUM, INT64, operands, 0, 1, results, 0, pair.far, remote, 0, 1);
        }

        void compare(AtomicOperation operation, MemoryRegion operands, MemoryRegion comparands, MemoryRegion results,
                long at) {
            atomics.tryCompare(operation, INT64, operands, at, 1, comparands, at, results, at, pair.far,
                    target.remote(), 0, 1);
        }

        RemoteRegion only(Access... access) { return s.region(pair, access).remote(); }

        PreparedAtomic message() { return atomics.prepare(INT64).peer(pair.far); }
    }

    private static Misuse atomic(String name, Class<? extends Throwable> expected, String words, Consumer<Two> call) {
        return refused("atomic: " + name, expected, words, s -> call.accept(new Two(s, ThreadingModel.SAFE)));
    }

    static Stream<Misuse> cases() {
        return Stream.of(operations(), ranges(), rights(), owners(), messages()).flatMap(cases -> cases);
    }

    private static Stream<Misuse> operations() {
        return Stream
                .of(refused("atomics of an endpoint without them", NOT_OFFERED, "FabricHints.capabilities",
                        s -> s.pair.endpoint.atomics()),
                        atomic("an exchange as a change", NOT_OFFERED, "fi_compare_atomic is",
                                t -> t.execute(CSWAP, INT64, 0, 1, 0)),
                        atomic("a read as a change", NOT_OFFERED, READS_ARE_REFUSED
                                ? "refuses ATOMIC_READ"
                                : "fi_fetch_atomic is", t -> t.execute(AtomicOperation.ATOMIC_READ, INT64, 0, 1, 0)),
                        atomic("a sum as an exchange", NOT_OFFERED, "SUM of INT64",
                                t -> t.compare(SUM, t.source, t.source, t.sink, 0)),
                        atomic("bits of floating-point numbers", NOT_OFFERED, "BOR of DOUBLE",
                                t -> t.execute(AtomicOperation.BOR, Datatype.DOUBLE, 0, 1, 0)),
                        atomic("the smaller complex number", NOT_OFFERED, "MIN of FLOAT_COMPLEX",
                                t -> t.execute(AtomicOperation.MIN, Datatype.FLOAT_COMPLEX, 0, 1, 0)),
                        atomic("a long double", NOT_OFFERED, "shm", t -> t.execute(SUM, Datatype.LONG_DOUBLE, 0, 1, 0)),
                        atomic("no element", ARGUMENT, "1 to 512", t -> t.execute(SUM, INT64, 0, 0, 0)),
                        atomic("less than no element", ARGUMENT, "not -1", t -> t.execute(SUM, INT64, 0, -1, 0)),
                        atomic("too many elements", ARGUMENT, "not 513", t -> t.execute(SUM, INT64, 0, 513, 0)),
                        atomic("as many elements as a number can say", ARGUMENT, "1 to",
                                t -> t.execute(SUM, INT64, 0, Long.MAX_VALUE, 0)),
                        atomic("so many that their bytes overflow", ARGUMENT, "1 to",
                                t -> t.execute(SUM, INT64, 0, 1L << 61, 0)),
                        atomic("a number that does not fit", ARGUMENT, "INT8 has no element 256",
                                t -> t.atomics.tryInject(SUM, Datatype.INT8, 256, t.pair.far, t.target.remote(), 0)),
                        atomic("a number of an unsigned type in a signed one", ARGUMENT, "INT8 has no element 200",
                                t -> t.atomics.tryInject(SUM, Datatype.INT8, 200, t.pair.far, t.target.remote(), 0)),
                        atomic("a number below 0 of an unsigned type", ARGUMENT, "UINT32 has no element -1",
                                t -> t.atomics.tryInject(SUM, Datatype.UINT32, -1, t.pair.far, t.target.remote(), 0)),
                        atomic("a fetch with a number that does not fit", ARGUMENT, "INT8 has no element 256",
                                t -> t.atomics.tryFetch(SUM, Datatype.INT8, 256, t.cell, 0, t.pair.far,
                                        t.target.remote(), 0, 1)),
                        atomic("a number of a closed endpoint", STATE, "closed", t -> {
                            RemoteRegion remote = t.target.remote();
                            t.pair.endpoint.close();
                            t.atomics.tryInject(SUM, INT64, 1, t.pair.far, remote, 0);
                        }),
                        atomic("a number into a region that is read only", ARGUMENT, "remote region",
                                t -> t.atomics.tryInject(SUM, INT64, 1, t.pair.far, t.only(Access.REMOTE_READ), 0)),
                        atomic("a number past the end", RANGE, OUTSIDE,
                                t -> t.atomics.tryInject(SUM, INT64, 1, t.pair.far, t.target.remote(), LENGTH - 7)),
                        atomic("a number of another vector's peer", ARGUMENT, "address vector",
                                t -> t.atomics.tryInject(SUM, INT64, 1, t.s.pair.far, t.target.remote(), 0)),
                        atomic("operands in a slice that ends inside one", ARGUMENT, "ends inside an element",
                                t -> t.atomics.execute(SUM, INT64, t.source.slice(0, 12), t.pair.far, t.target.remote(),
                                        1)),
                        atomic("injected operands in a slice that ends inside one", ARGUMENT, "ends inside an element",
                                t -> t.atomics.inject(SUM, INT64, t.source.slice(0, 12), t.pair.far,
                                        t.target.remote())),
                        atomic("a result in a longer slice than the operands'", ARGUMENT, "different lengths",
                                t -> t.atomics.fetch(SUM, INT64, t.source.slice(0, 8), t.sink.slice(0, 16), t.pair.far,
                                        t.target.remote(), 1)),
                        atomic("comparands in a longer slice than the operands'", ARGUMENT, "different lengths",
                                t -> t.atomics.compare(CSWAP, INT64, t.source.slice(0, 8), t.source.slice(0, 16),
                                        t.sink.slice(0, 8), t.pair.far, t.target.remote(), 1)),
                        atomic("a slice that is too short for the cell of a fetch", RANGE, "2 elements of INT64",
                                t -> t.atomics.fetch(SUM, INT64, 1, t.cell.slice(0, 15), t.pair.far, t.target.remote(),
                                        1)),
                        atomic("a slice that is too short for the cell of an exchange", RANGE, "3 elements of INT64",
                                t -> t.atomics.compare(CSWAP, INT64, 1, 2, t.cell.slice(0, 16), t.pair.far,
                                        t.target.remote(), 1)),
                        atomic("an inject above the limit", ARGUMENT, "not 4097", t -> {
                            long limit = t.atomics.injectSize();
                            t.atomics.tryInject(SUM, Datatype.INT8, t.source, 0, limit + 1, t.pair.far,
                                    t.target.remote(), 0);
                        }));
    }

    private static Stream<Misuse> ranges() {
        return Stream.of(atomic("operands past the end", RANGE, OUTSIDE, t -> t.execute(SUM, INT64, LENGTH - 7, 1, 0)),
                atomic("operands before the beginning", RANGE, OUTSIDE, t -> t.execute(SUM, INT64, -8, 1, 0)),
                atomic("a target past the end", RANGE, OUTSIDE, t -> t.execute(SUM, INT64, 0, 2, LENGTH - 8)),
                atomic("a target before the beginning", RANGE, OUTSIDE, t -> t.execute(SUM, INT64, 0, 1, -8)),
                atomic("a target at the end of numbers", RANGE, OUTSIDE,
                        t -> t.execute(SUM, INT64, 0, 1, Long.MAX_VALUE - 7)),
                atomic("a target that is not aligned", ARGUMENT, "not aligned: INT64",
                        t -> t.execute(SUM, INT64, 0, 1, 4)),
                atomic("a target of shorts that is not aligned", ARGUMENT, "a multiple of 2",
                        t -> t.execute(SUM, Datatype.INT16, 0, 1, 1)),
                atomic("a fetch from where it is not aligned", ARGUMENT, "not aligned",
                        t -> t.atomics.fetch(SUM, INT64, 1, t.cell.slice(0, 16), t.pair.far,
                                t.target.remote().slice(1, 8), 1)),
                atomic("a result past the end", RANGE, OUTSIDE,
                        t -> t.atomics.tryFetch(SUM, INT64, t.source, 0, 2, t.sink, LENGTH - 8, t.pair.far,
                                t.target.remote(), 0, 1)),
                atomic("comparands past the end", RANGE, OUTSIDE,
                        t -> t.atomics.tryCompare(CSWAP, INT64, t.source, 0, 2, t.source, LENGTH - 8, t.sink, 0,
                                t.pair.far, t.target.remote(), 0, 1)),
                atomic("a cell past the end", RANGE, "Out of bound",
                        t -> t.atomics.tryFetch(SUM, INT64, 1, t.cell, LENGTH - 8, t.pair.far, t.target.remote(), 0,
                                1)),
                atomic("a cell for less than an exchange", RANGE, "Out of bound", t -> t.atomics.tryCompare(CSWAP,
                        INT64, 1, 2, t.cell, LENGTH - 16, t.pair.far, t.target.remote(), 0, 1)));
    }

    private static Stream<Misuse> rights() {
        return Stream.of(
                atomic("operands of a region for results", ARGUMENT, "lacks [WRITE]",
                        t -> t.fetch(t.sink, t.sink, t.target.remote())),
                atomic("results in a region for operands", ARGUMENT, "lacks [READ]",
                        t -> t.fetch(t.source, t.source, t.target.remote())),
                atomic("comparands of a region for results", ARGUMENT, "lacks [WRITE]",
                        t -> t.compare(CSWAP, t.source, t.sink, t.sink, 0)),
                atomic("a cell that no result may go to", ARGUMENT, "lacks [READ]",
                        t -> t.atomics.fetch(SUM, INT64, 1, t.source.slice(0, 16), t.pair.far, t.target.remote(), 1)),
                atomic("a change of what may be read only", ARGUMENT, "lacks [REMOTE_WRITE]",
                        t -> t.atomics.tryExecute(SUM, INT64, t.source, 0, 1, t.pair.far, t.only(Access.REMOTE_READ), 0,
                                1)),
                atomic("a fetch from what may be written only", ARGUMENT, "lacks [REMOTE_READ]",
                        t -> t.fetch(t.source, t.sink, t.only(Access.REMOTE_WRITE))),
                atomic("a fetch and add to what may be read only", ARGUMENT, "lacks [REMOTE_WRITE]",
                        t -> t.fetch(t.source, t.sink, t.only(Access.REMOTE_READ))),
                atomic("an exchange with what may be read only", ARGUMENT, "lacks [REMOTE_WRITE]",
                        t -> t.atomics.compare(CSWAP, INT64, 1, 2, t.cell.slice(0, 24), t.pair.far,
                                t.only(Access.REMOTE_READ), 1)),
                atomic("a read of what may be written only", READS_ARE_REFUSED ? NOT_OFFERED : ARGUMENT,
                        READS_ARE_REFUSED ? "refuses ATOMIC_READ" : "lacks [REMOTE_READ]",
                        t -> t.atomics.tryFetch(AtomicOperation.ATOMIC_READ, INT64, null, 0, 1, t.sink, 0, t.pair.far,
                                t.only(Access.REMOTE_WRITE), 0, 1)));
    }

    private static Stream<Misuse> owners() {
        return Stream.of(atomic("another domain's region", ARGUMENT, "another domain", t -> {
            MemoryRegion theirs = t.s.source;
            t.atomics.tryExecute(SUM, INT64, theirs, 0, 1, t.pair.far, t.target.remote(), 0, 1);
        }), atomic("another domain's result", ARGUMENT, "another domain",
                t -> t.fetch(t.source, t.s.sink, t.target.remote())),
                atomic("another vector's peer", ARGUMENT, "address vector",
                        t -> t.atomics.tryExecute(SUM, INT64, t.source, 0, 1, t.s.pair.far, t.target.remote(), 0, 1)),
                atomic("a closed region", STATE, "closed", t -> {
                    t.source.close();
                    t.execute(SUM, INT64, 0, 1, 0);
                }), atomic("a closed result", STATE, "closed", t -> {
                    t.sink.close();
                    t.fetch(t.source, t.sink, t.target.remote());
                }), atomic("a closed cell", STATE, "closed", t -> {
                    t.cell.close();
                    t.atomics.fetch(SUM, INT64, 1, t.cell.slice(0, 16), t.pair.far, t.target.remote(), 1);
                }), atomic("a removed peer", STATE, "removed", t -> {
                    t.pair.vector.remove(t.pair.far);
                    t.execute(SUM, INT64, 0, 1, 0);
                }), atomic("a closed endpoint", STATE, "closed", t -> {
                    t.pair.endpoint.close();
                    t.execute(SUM, INT64, 0, 1, 0);
                }), atomic("an exchange on a closed endpoint", STATE, "closed", t -> {
                    t.pair.endpoint.close();
                    t.atomics.compare(CSWAP, INT64, 1, 2, t.cell.slice(0, 24), t.pair.far, t.target.remote(), 1);
                }), refused("atomic: by a thread that is not the owner", WrongThreadException.class, "thread", s -> {
                    Two t = new Two(s, ThreadingModel.DOMAIN);
                    MisuseStage.elsewhere(() -> t.execute(SUM, INT64, 0, 1, 0));
                }));
    }

    private static Stream<Misuse> messages() {
        return Stream.of(atomic("a message without a peer", STATE, "no peer", t -> {
            PreparedAtomic message = t.atomics.prepare(INT64);
            message.local(t.source, 0, 1).remote(t.target.remote(), 0, 1).tryExecute(SUM, 1);
        }), atomic("a message of nothing", STATE, "0 elements", t -> t.message().execute(SUM, 1)),
                atomic("a message without a target", STATE, "0 in remote ones",
                        t -> t.message().local(t.source, 0, 1).execute(SUM, 1)),
                atomic("a fetch without a result", STATE, "in result segments",
                        t -> t.message().local(t.source, 0, 1).remote(t.target.remote(), 0, 1).fetch(SUM, 1)),
                atomic("an exchange without a comparand", STATE, "in comparand segments",
                        t -> t.message().local(t.source, 0, 1).result(t.sink, 0, 1).remote(t.target.remote(), 0, 1)
                                .compare(CSWAP, 1)),
                atomic("unequal numbers of elements", STATE, "the same number in both",
                        t -> t.message().local(t.source, 0, 2).remote(t.target.remote(), 0, 1).execute(SUM, 1)),
                atomic("a segment of no element", ARGUMENT, "at least one", t -> t.message().local(t.source, 0, 0)),
                atomic("a segment past the end", RANGE, OUTSIDE, t -> t.message().result(t.sink, LENGTH - 8, 2)),
                atomic("a segment whose bytes overflow", RANGE, OUTSIDE,
                        t -> t.message().comparand(t.source, 0, 1L << 61)),
                atomic("a remote segment past the end", RANGE, OUTSIDE,
                        t -> t.message().remote(t.target.remote(), LENGTH, 1)),
                atomic("a remote segment that is not aligned", ARGUMENT, "not aligned",
                        t -> t.message().remote(t.target.remote(), 12, 1)),
                atomic("too many segments", ARGUMENT, "operand segments", t -> {
                    PreparedAtomic message = t.message();
                    for (int i = 0; i <= message.localLimit(); i++) {
                        message.local(t.source, 0, 1);
                    }
                }), atomic("too many remote segments", ARGUMENT, "remote segments", t -> {
                    PreparedAtomic message = t.message();
                    for (int i = 0; i <= message.remoteLimit(); i++) {
                        message.remote(t.target.remote(), 0, 1);
                    }
                }), atomic("numbers of elements that overflow together", STATE, "the same number in both", t -> {
                    RemoteRegion endless = new RemoteRegion(0, Long.MAX_VALUE, 1, PackagePrivate.ALL_RIGHTS);
                    PreparedAtomic message = t.atomics.prepare(Datatype.INT8).peer(t.pair.far).local(t.source, 0, 1);
                    message.remote(endless, 0, Long.MAX_VALUE).remote(endless, 0, Long.MAX_VALUE).remote(endless, 0, 3)
                            .execute(SUM, 1);
                }),
                atomic("a message with data", NOT_OFFERED, "REMOTE_CQ_DATA",
                        t -> t.message().flags(OperationFlag.REMOTE_CQ_DATA)),
                atomic("a message with a fence", NOT_OFFERED, "FENCE", t -> t.message().flags(OperationFlag.FENCE)),
                atomic("a message of another vector's peer", ARGUMENT, "address vector",
                        t -> t.message().peer(t.s.pair.far)),
                atomic("a message of another domain's region", ARGUMENT, "another domain",
                        t -> t.message().local(t.s.source, 0, 1)),
                atomic("a message from a region for results", ARGUMENT, "lacks [WRITE]",
                        t -> t.message().local(t.sink, 0, 1).remote(t.target.remote(), 0, 1).execute(SUM, 1)),
                atomic("a region closed since", STATE, "closed", t -> {
                    PreparedAtomic message = t.message().local(t.source, 0, 1).remote(t.target.remote(), 0, 1);
                    t.source.close();
                    message.execute(SUM, 1);
                }), atomic("a peer removed since", STATE, "removed", t -> {
                    PreparedAtomic message = t.message().local(t.source, 0, 1).remote(t.target.remote(), 0, 1);
                    t.pair.vector.remove(t.pair.far);
                    message.execute(SUM, 1);
                }));
    }
}
