package io.ofi4j.misuse;

import static io.ofi4j.misuse.Misuse.refused;
import static io.ofi4j.misuse.MisuseStage.IGNORING;
import static io.ofi4j.misuse.MisuseStage.elsewhere;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.PreparedRma;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.Pair;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Calls from a thread to which the threading model does not give the object, and interrupted ones. */
final class MisuseOfThreads {
    private MisuseOfThreads() {}

    static Stream<Misuse> cases() {
        return Stream.concat(Stream.of(ThreadingModel.DOMAIN, ThreadingModel.COMPLETION).flatMap(MisuseOfThreads::of),
                Stream.of(
                        wrong(ThreadingModel.DOMAIN, "handing over the domain",
                                o -> o.pair.domain.handOver(Thread.currentThread())),
                        wrong(ThreadingModel.COMPLETION, "handing over a queue",
                                o -> o.pair.queue.handOver(Thread.currentThread())),
                        refused("handing over a domain of any thread", IllegalStateException.class,
                                "ThreadingModel.SAFE", s -> s.pair.domain.handOver(Thread.currentThread())),
                        refused("handing over a queue of any thread", IllegalStateException.class,
                                "ThreadingModel.SAFE", s -> s.pair.queue.handOver(Thread.currentThread())),
                        refused("handing over a counter of any thread", IllegalStateException.class,
                                "ThreadingModel.SAFE",
                                s -> s.opened(s.pair.domain.openCounter()).handOver(Thread.currentThread())),
                        refused("await while interrupted", FabricException.class, "interrupted",
                                s -> MisuseStage.interrupted(() -> s.pair.queue.await(IGNORING, 1, Pair.DEADLINE)))));
    }

    /** What is called elsewhere. */
    private record Owned(Pair pair, MemoryRegion here, MemoryRegion there) {
        /** Made by the thread that calls this. */
        PreparedRma message() {
            return pair.rma().prepare().peer(pair.far).local(here, 0, 8).remote(there.remote(), 0, 8);
        }
    }

    private static Misuse wrong(ThreadingModel model, String name, Consumer<Owned> call) {
        return refused(model + ": " + name + " from another thread", WrongThreadException.class,
                "threading model " + model, s -> {
                    Pair pair = s.owned(model);
                    MemoryRegion here = s.region(pair, Access.WRITE, Access.READ);
                    MemoryRegion there = s.region(pair, Access.REMOTE_WRITE, Access.REMOTE_READ);
                    elsewhere(() -> call.accept(new Owned(pair, here, there)));
                });
    }

    private static Stream<Misuse> of(ThreadingModel model) {
        return Stream.of(
                wrong(model, "write", o -> o.pair.rma().write(o.here.slice(0, 8), o.pair.far, o.there.remote(), 1)),
                wrong(model, "tryRead", o -> o.pair.rma().tryRead(o.here, 0, 8, o.pair.far, o.there.remote(), 0, 1)),
                wrong(model, "injectWrite",
                        o -> o.pair.rma().injectWrite(o.here.slice(0, 8), o.pair.far, o.there.remote())),
                wrong(model, "writeData",
                        o -> o.pair.rma().writeData(o.here.slice(0, 8), 1, o.pair.far, o.there.remote(), 1)),
                wrong(model, "message write", o -> o.message().write(1)),
                wrong(model, "poll", o -> o.pair.queue.poll(IGNORING, 1)),
                wrong(model, "await", o -> o.pair.queue.await(IGNORING, 1, Duration.ofSeconds(1))),
                wrong(model, "progress", o -> o.pair.queue.progress()),
                wrong(model, "close of the queue", o -> o.pair.queue.close()),
                wrong(model, "tryWait", o -> o.pair.queue.tryWait()),
                wrong(model, "progress of the domain", o -> o.pair.domain.progress()),
                wrong(model, "close of the endpoint", o -> o.pair.endpoint.close()));
    }
}
