package io.ofi4j.misuse;

import static io.ofi4j.misuse.Misuse.refused;

import io.ofi4j.Access;
import io.ofi4j.Counter;
import io.ofi4j.DeferredOperation;
import io.ofi4j.DeferredWork;
import io.ofi4j.MemoryRegion;
import io.ofi4j.PreparedMessage;
import io.ofi4j.PreparedRma;
import io.ofi4j.Waiting;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Work that cannot be queued, and what cannot be done to it. */
final class MisuseOfDeferredWork {
    private static final Class<? extends Throwable> ARGUMENT = IllegalArgumentException.class;
    private static final Class<? extends Throwable> STATE = IllegalStateException.class;
    private static final Class<? extends Throwable> UNSUPPORTED = UnsupportedOperationException.class;

    private MisuseOfDeferredWork() {}

    /** Two endpoints, a region and two counters. */
    private record Parts(MisuseStage stage, Pair pair, MemoryRegion region, Counter trigger, Counter done) {
        static Parts on(MisuseStage stage) {
            Pair pair = open(stage);
            Counter trigger = stage.opened(pair.domain.openCounter());
            Counter done = stage.opened(pair.domain.openCounter());
            MemoryRegion region = stage.opened(pair.domain.allocate(64, Access.values()));
            stage.opened(pair.endpoint); // before its counters
            Parts parts = new Parts(stage, pair, region, trigger, done);
            stage.opened((AutoCloseable) parts::runWhatWaits);
            return parts;
        }

        /** Endpoints and counters are closed after their work. */
        private void runWhatWaits() {
            try {
                trigger.add(1);
            } catch (IllegalStateException e) {
                return; // closed: nothing waits for it
            }
            Waiting.YIELD.until(() -> {
                pair.poll();
                return region.operationsInFlight() == 0;
            }, Pair.DEADLINE);
        }

        static Pair open(MisuseStage stage) {
            return stage.opened(new Pair(TestProviders.hints("sockets").capabilities(Capability.RMA, Capability.MSG,
                    Capability.ATOMIC, Capability.TRIGGER)));
        }

        DeferredWork deferred() { return pair.domain.deferredWork(); }

        DeferredWork.When when() { return deferred().when(trigger, 1); }

        PreparedRma write() {
            return pair.rma().prepare().peer(pair.far).local(region, 0, 8).remote(region.remote(), 8, 8);
        }

        PreparedMessage send() { return pair.endpoint.messages().prepare().peer(pair.far).local(region, 0, 8); }
    }

    private static Misuse on(String name, Class<? extends Throwable> expected, String words, Consumer<Parts> call) {
        return refused("deferred work: " + name, expected, words, s -> call.accept(Parts.on(s)));
    }

    static Stream<Misuse> cases() { return Stream.of(counters(), messages(), others()).flatMap(cases -> cases); }

    private static Stream<Misuse> counters() {
        return Stream.of(
                on("no counter to wait for", NullPointerException.class, "null", p -> p.deferred().when(null, 1)),
                on("no counter of completions", NullPointerException.class, "null",
                        p -> p.when().write(p.write(), null, 1)),
                on("no counter to change", NullPointerException.class, "null", p -> p.when().add(null, 1)),
                on("a threshold below 0", ARGUMENT, "not -1", p -> p.deferred().when(p.trigger, -1)),
                on("a threshold that the provider cannot count", ARGUMENT, "0 to 2147483647",
                        p -> p.deferred().when(p.trigger, Long.MAX_VALUE)),
                on("a closed counter to wait for", STATE, "Counter of sockets is closed",
                        p -> p.deferred().when(MisuseStage.closed(p.trigger), 1)),
                on("a counter that was closed since", STATE, "Counter of sockets is closed", p -> {
                    DeferredWork.When when = p.when();
                    p.trigger.close();
                    when.write(p.write(), p.done, 1);
                }),
                on("a closed counter of completions", STATE, "Counter of sockets is closed",
                        p -> p.when().send(p.send(), MisuseStage.closed(p.done), 1)),
                on("another domain's counter to wait for", ARGUMENT, "another domain",
                        p -> p.deferred().when(p.stage.opened(Parts.open(p.stage).domain.openCounter()), 1)),
                on("another domain's counter of completions", ARGUMENT, "another domain",
                        p -> p.when().write(p.write(), p.stage.opened(Parts.open(p.stage).domain.openCounter()), 1)),
                on("a count below 0", ARGUMENT, "0 or more, not -1", p -> p.when().set(p.done, -1)),
                on("closing a counter that work waits for", STATE, "deferred fi_writemsg", p -> {
                    p.when().write(p.write(), p.done, 1);
                    p.trigger.close();
                }), on("closing a counter that work will count with", STATE, "deferred fi_sendmsg", p -> {
                    p.when().send(p.send(), p.done, 1);
                    p.done.close();
                }), on("closing an endpoint whose work waits", STATE, "deferred fi_writemsg", p -> {
                    p.when().write(p.write(), p.done, 1);
                    p.pair.endpoint.close();
                }), on("closing a counter that a change waits for", STATE, "deferred fi_cntr_add", p -> {
                    p.when().add(p.done, 1);
                    p.trigger.close();
                }));
    }

    private static Stream<Misuse> messages() {
        return Stream.of(
                on("another domain's message", ARGUMENT, "another domain",
                        p -> p.when().write(Parts.open(p.stage).rma().prepare(), p.done, 1)),
                on("a message without a peer", STATE, "peer", p -> p.when().send(p.send().anyPeer(), p.done, 1)),
                on("an empty write", STATE, "segments", p -> p.when().write(p.write().clear(), p.done, 1)),
                on("a region without the right", ARGUMENT, "lacks", p -> {
                    MemoryRegion readable = p.stage.opened(p.pair.domain.allocate(64, Access.READ));
                    p.when().write(p.write().replaceLocal(0, readable, 0, 8), p.done, 1);
                }), on("a closed region", STATE, "closed", p -> {
                    PreparedRma message = p.write();
                    p.region.close();
                    p.when().write(message, p.done, 1);
                }), on("a closed endpoint", STATE, "closed", p -> {
                    PreparedMessage message = p.send();
                    p.pair.endpoint.close();
                    p.when().send(message, p.done, 1);
                }), on("a removed peer", STATE, "removed", p -> {
                    PreparedMessage message = p.send();
                    p.pair.vector.remove(p.pair.far);
                    p.when().send(message, p.done, 1);
                }),
                on("an inject", ARGUMENT, "INJECT",
                        p -> p.when().write(p.write().flags(OperationFlag.INJECT), p.done, 1)),
                on("a receive with flags", ARGUMENT, "no flag but COMPLETION",
                        p -> p.when().receive(p.send().flags(OperationFlag.MORE), p.done, 1)),
                on("a compare without comparands", STATE, "comparand",
                        p -> p.when().compare(AtomicOperation.CSWAP,
                                p.pair.endpoint.atomics().prepare(Datatype.INT64).peer(p.pair.far).local(p.region, 0, 1)
                                        .result(p.region, 8, 1).remote(p.region.remote(), 16, 1),
                                p.done, 1)),
                refused("deferred work: on another thread", WrongThreadException.class, "DOMAIN", s -> {
                    Pair pair = owned(s);
                    Counter counter = s.opened(pair.domain.openCounter());
                    DeferredWork deferred = pair.domain.deferredWork();
                    MisuseStage.elsewhere(() -> deferred.when(counter, 1));
                }), owned("the state of queued work on another thread", DeferredOperation::state),
                owned("a cancel of queued work on another thread", DeferredOperation::cancel),
                on("another thread's message", WrongThreadException.class, "prepared by thread", p -> {
                    PreparedMessage message = p.send();
                    MisuseStage.elsewhere(() -> p.when().send(message, p.done, 1));
                }));
    }

    private static Pair owned(MisuseStage s) {
        return s.opened(new Pair(TestProviders.hints("sockets").threading(ThreadingModel.DOMAIN)
                .capabilities(Capability.RMA, Capability.MSG, Capability.ATOMIC, Capability.TRIGGER)));
    }

    /** Of an operation that changes one counter when another is raised, at the end. */
    private static Misuse owned(String name, Consumer<DeferredOperation> call) {
        return refused("deferred work: " + name, WrongThreadException.class, "DOMAIN", s -> {
            Pair pair = owned(s);
            Counter trigger = s.opened(pair.domain.openCounter());
            Counter changed = s.opened(pair.domain.openCounter());
            DeferredOperation queued = pair.domain.deferredWork().when(trigger, 1).add(changed, 1);
            s.opened((AutoCloseable) () -> trigger.add(1));
            MisuseStage.elsewhere(() -> call.accept(queued));
        });
    }

    private static Stream<Misuse> others() {
        return Stream.of(refused("deferred work: a provider without", UNSUPPORTED,
                "fi_control(FI_QUEUE_WORK) is not offered by the provider shm", s -> s.pair.domain.deferredWork()),
                on("a closed domain", STATE, "closed", p -> {
                    Pair other = Parts.open(p.stage);
                    other.close();
                    other.domain.deferredWork();
                }),
                on("a cancel that the provider does not have", UNSUPPORTED, "fi_control(FI_CANCEL_WORK)",
                        p -> p.when().write(p.write(), p.done, 1).cancel()),
                on("a counter that changes itself", UNSUPPORTED, "lead back", p -> p.when().set(p.trigger, 0)));
    }
}
