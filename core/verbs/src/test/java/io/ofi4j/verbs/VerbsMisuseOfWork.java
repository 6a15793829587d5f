package io.ofi4j.verbs;

import static io.ofi4j.verbs.VerbsAccess.LOCAL_WRITE;
import static io.ofi4j.verbs.VerbsAccess.REMOTE_READ;
import static io.ofi4j.verbs.VerbsAccess.REMOTE_WRITE;
import static io.ofi4j.verbs.VerbsMisuse.ARGUMENT;
import static io.ofi4j.verbs.VerbsMisuse.BOUNDS;
import static io.ofi4j.verbs.VerbsMisuse.STATE;
import static io.ofi4j.verbs.VerbsMisuse.refused;
import static io.ofi4j.verbs.WorkFlags.INLINE;
import static io.ofi4j.verbs.WorkFlags.SIGNALED;

import java.lang.foreign.Arena;
import java.util.stream.Stream;

/** Operations with ranges, rights, flags and windows that are not right, or at the wrong time. */
final class VerbsMisuseOfWork {
    private VerbsMisuseOfWork() {}

    static Stream<VerbsMisuse> cases() {
        return Stream.of(ranges(), rights(), states(), atomics(), windows()).flatMap(cases -> cases);
    }

    private static Stream<VerbsMisuse> ranges() {
        return Stream.of(
                refused("write from before a region", BOUNDS, "",
                        s -> s.write(s.near.region, -1, 8, s.there, 0, SIGNALED)),
                refused("write from beyond a region", BOUNDS, "",
                        s -> s.write(s.near.region, VerbsLink.LENGTH - 7, 8, s.there, 0, SIGNALED)),
                refused("write a negative length", BOUNDS, "",
                        s -> s.write(s.near.region, 0, -1, s.there, 0, SIGNALED)),
                refused("write to before the peer's memory", BOUNDS, "",
                        s -> s.write(s.near.region, 0, 8, s.there, -8, SIGNALED)),
                refused("write to one byte beyond the peer's memory", BOUNDS, "",
                        s -> s.write(s.near.region, 0, 8, s.there, VerbsLink.LENGTH - 7, SIGNALED)),
                refused("write to the end of all addresses", BOUNDS, "",
                        s -> s.write(s.near.region, 0, 8, s.there, Long.MAX_VALUE, SIGNALED)),
                refused("read to beyond a region", BOUNDS, "",
                        s -> s.near.pair.tryRead(s.near.region, VerbsLink.LENGTH, 1, s.there, 0, SIGNALED, 1)),
                refused("send from beyond a region", BOUNDS, "",
                        s -> s.near.pair.trySend(s.near.region, VerbsLink.LENGTH, 1, SIGNALED, 1)),
                refused("receive to beyond a region", BOUNDS, "",
                        s -> s.near.pair.tryReceive(s.near.region, 1, VerbsLink.LENGTH, 1)),
                refused("more inline than there is room", ARGUMENT, "at most 64 bytes, not 65",
                        s -> s.write(s.near.region, 0, 65, s.there, 0, INLINE)),
                refused("an inline range beyond a region", BOUNDS, "",
                        s -> s.write(s.near.region, VerbsLink.LENGTH - 7, 8, s.there, 0, INLINE)));
    }

    private static Stream<VerbsMisuse> rights() {
        return Stream.of(
                refused("a read into a region that cannot be written", ARGUMENT, "lacks LOCAL_WRITE",
                        s -> s.near.pair.tryRead(s.region(), 0, 8, s.there, 0, SIGNALED, 1)),
                refused("a receive into a region that cannot be written", ARGUMENT, "lacks LOCAL_WRITE",
                        s -> s.near.pair.tryReceive(s.region(), 0, 8, 1)),
                refused("a write to memory that may be read alone", ARGUMENT, "the right REMOTE_WRITE",
                        s -> s.write(s.near.region, 0, 8, s.region(LOCAL_WRITE, REMOTE_READ).remote(), 0, SIGNALED)),
                refused("a read of memory that may be written alone", ARGUMENT, "the right REMOTE_READ",
                        s -> s.near.pair.tryRead(s.near.region, 0, 8, s.region(LOCAL_WRITE, REMOTE_WRITE).remote(), 0,
                                SIGNALED, 1)),
                refused("a write to memory without rights", ARGUMENT, "the right REMOTE_WRITE",
                        s -> s.write(s.near.region, 0, 8, s.region().remote(), 0, SIGNALED)),
                refused("a region of another protection domain", ARGUMENT, "another protection domain",
                        s -> s.write(s.far.region, 0, 8, s.there, 0, SIGNALED)),
                refused("an inline write of another protection domain", ARGUMENT, "another protection domain",
                        s -> s.write(s.far.region, 0, 8, s.there, 0, INLINE)),
                refused("an unknown flag", ARGUMENT, "the flags 0x100",
                        s -> s.write(s.near.region, 0, 8, s.there, 0, SIGNALED | 0x100)),
                refused("an inline read", ARGUMENT, "the flags 0x8",
                        s -> s.near.pair.tryRead(s.near.region, 0, 8, s.there, 0, SIGNALED | INLINE, 1)));
    }

    private static Stream<VerbsMisuse> states() {
        return Stream.of(
                refused("a write before the connection", STATE, "not connected",
                        s -> s.unconnected().tryWrite(s.near.region, 0, 8, s.there, 0, SIGNALED, 1)),
                refused("a send before the connection", STATE, "not connected",
                        s -> s.unconnected().trySend(s.near.region, 0, 8, SIGNALED, 1)),
                refused("a write on a closed queue pair", STATE, "is closed", s -> {
                    QueuePair pair = s.unconnected();
                    pair.close();
                    pair.tryWrite(s.near.region, 0, 8, s.there, 0, SIGNALED, 1);
                }), refused("a receive on a closed queue pair", STATE, "is closed", s -> {
                    QueuePair pair = s.unconnected();
                    pair.close();
                    pair.tryReceive(s.near.region, 0, 8, 1);
                }), refused("connect a closed queue pair", STATE, "is closed", s -> {
                    QueuePair pair = s.unconnected();
                    pair.close();
                    pair.connect(VerbsPathTest.SOMEWHERE);
                }), refused("end a closed queue pair", STATE, "is closed", s -> {
                    QueuePair pair = s.unconnected();
                    pair.close();
                    pair.fail();
                }), refused("a write from a closed region", STATE, "is closed", s -> {
                    VerbsMemoryRegion region = s.region(LOCAL_WRITE);
                    region.close();
                    s.write(region, 0, 8, s.there, 0, SIGNALED);
                }), refused("a write from memory that was freed", STATE, "freed", s -> {
                    Arena arena = Arena.ofShared();
                    VerbsMemoryRegion region = s.opened(s.near.domain.register(arena.allocate(64), LOCAL_WRITE));
                    arena.close();
                    s.write(region, 0, 8, s.there, 0, SIGNALED);
                }));
    }

    private static Stream<VerbsMisuse> atomics() {
        return Stream.of(
                refused("an addition to what is not aligned", ARGUMENT, "multiple of 8",
                        s -> s.near.pair.tryFetchAdd(s.near.region, 0, s.there, 4, 1, SIGNALED, 1)),
                refused("a comparison with what is not aligned", ARGUMENT, "multiple of 8",
                        s -> s.near.pair.tryCompareSwap(s.near.region, 0, s.there, 1, 1, 2, SIGNALED, 1)),
                refused("an addition beyond the peer's memory", BOUNDS, "",
                        s -> s.near.pair.tryFetchAdd(s.near.region, 0, s.there, VerbsLink.LENGTH, 1, SIGNALED, 1)),
                refused("an addition whose result is beyond a region", BOUNDS, "",
                        s -> s.near.pair.tryFetchAdd(s.near.region, VerbsLink.LENGTH - 4, s.there, 0, 1, SIGNALED, 1)),
                refused("an inline addition", ARGUMENT, "the flags 0x8",
                        s -> s.near.pair.tryFetchAdd(s.near.region, 0, s.there, 0, 1, SIGNALED | INLINE, 1)),
                refused("an addition without the right", ARGUMENT, "the right REMOTE_ATOMIC",
                        s -> s.near.pair.tryFetchAdd(s.near.region, 0, s.region(LOCAL_WRITE, REMOTE_WRITE).remote(), 0,
                                1, SIGNALED, 1)));
    }

    private static VerbsMisuse window(String name, Class<? extends Throwable> expected, String words,
            java.util.function.Consumer<VerbsMisuseStage> call) {
        return refused(name, expected, words, call);
    }

    private static Stream<VerbsMisuse> windows() {
        return Stream.of(
                window("the key of a window that is not bound", STATE, "and this one is FREE",
                        s -> s.window().remote()),
                window("take back a window that is not bound", STATE, "and this one is FREE",
                        s -> s.far.pair.tryInvalidate(s.window(), 0, 1)),
                window("bind a bound window", STATE, "and this one is BOUND",
                        s -> s.far.pair.tryBind(s.bound(), s.far.region, 0, 8, 0, 1, REMOTE_WRITE)),
                window("bind a window of another protection domain", ARGUMENT, "another protection domain",
                        s -> s.near.pair.tryBind(s.window(), s.near.region, 0, 8, 0, 1, REMOTE_WRITE)),
                window("bind to nothing", ARGUMENT, "at least 1 byte",
                        s -> s.far.pair.tryBind(s.window(), s.far.region, 0, 0, 0, 1, REMOTE_WRITE)),
                window("bind beyond a region", BOUNDS, "",
                        s -> s.far.pair.tryBind(s.window(), s.far.region, 8, VerbsLink.LENGTH, 0, 1, REMOTE_WRITE)),
                window("bind without rights", ARGUMENT, "at least one",
                        s -> s.far.pair.tryBind(s.window(), s.far.region, 0, 8, 0, 1)),
                window("bind with rights of this side", ARGUMENT, "remote rights",
                        s -> s.far.pair.tryBind(s.window(), s.far.region, 0, 8, 0, 1, LOCAL_WRITE)),
                window("bind to a region that allows none", ARGUMENT, "lacks WINDOW_BIND",
                        s -> s.far.pair.tryBind(s.window(), s.opened(s.far.domain.allocate(64, LOCAL_WRITE)), 0, 8, 0,
                                1, REMOTE_WRITE)),
                window("bind inline", ARGUMENT, "the flags 0x8",
                        s -> s.far.pair.tryBind(s.window(), s.far.region, 0, 8, INLINE, 1, REMOTE_WRITE)),
                window("write beyond a window", BOUNDS, "",
                        s -> s.write(s.near.region, 0, 8, s.bound().remote(), 57, SIGNALED)),
                window("read through a window for writes", ARGUMENT, "the right REMOTE_READ",
                        s -> s.near.pair.tryRead(s.near.region, 0, 8, s.bound().remote(), 0, SIGNALED, 1)),
                window("take a region back by a send", ARGUMENT, "not a window of type 2",
                        s -> s.near.pair.trySendInvalidate(s.near.region, 0, 8, s.there, SIGNALED, 1)),
                window("bind a closed window", STATE, "and this one is CLOSED", s -> {
                    MemoryWindow window = s.window();
                    window.close();
                    s.far.pair.tryBind(window, s.far.region, 0, 8, 0, 1, REMOTE_WRITE);
                }));
    }
}
