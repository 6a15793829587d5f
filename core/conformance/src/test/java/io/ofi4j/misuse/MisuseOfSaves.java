package io.ofi4j.misuse;

import static io.ofi4j.misuse.Misuse.refused;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.durable.Durability;
import io.ofi4j.durable.SaveService;
import io.ofi4j.durable.Saver;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Saves and flushes that cannot be. */
final class MisuseOfSaves {
    private static final Class<? extends Throwable> ARGUMENT = IllegalArgumentException.class;
    private static final Class<? extends Throwable> STATE = IllegalStateException.class;
    private static final Class<? extends Throwable> UNSUPPORTED = UnsupportedOperationException.class;

    private MisuseOfSaves() {}

    /** Two endpoints, of which one saves, and a region whose owner has a service. */
    private record Saving(Pair pair, SaveService service, Saver saver, MemoryRegion target) implements AutoCloseable {
        static Saving over(FabricHints hints) {
            Pair pair = new Pair(hints.capabilities(Capability.RMA, Capability.MSG));
            return new Saving(pair, new SaveService(pair.domain), new Saver(pair.domain, pair.endpoint, pair.queue),
                    pair.domain.allocate(64, Access.REMOTE_WRITE));
        }

        /** Names the service first. */
        void begin() { saver.saveThrough(pair.far, service.ticket()); }

        void save() { saver.trySave(pair.far, target.remote(), Durability.DELIVERED, 1); }

        @Override
        public void close() {
            saver.close();
            service.close();
            target.close();
            pair.close();
        }
    }

    private static Misuse on(String name, Class<? extends Throwable> expected, String words, Consumer<Saving> call) {
        return refused(name, expected, words,
                stage -> call.accept(stage.opened(Saving.over(TestProviders.hints("shm")))));
    }

    static Stream<Misuse> cases() {
        return Stream.of(on("save where no service is known", STATE, "saveThrough", Saving::save),
                on("save what cannot last", UNSUPPORTED, "reaches at most DELIVERED", s -> {
                    s.begin();
                    s.saver.save(s.pair.far, s.target.remote(), Durability.POWER_SAFE, 1);
                }), on("save on a closed endpoint", STATE, "closed", s -> {
                    s.begin();
                    s.pair.endpoint.close();
                    s.save();
                }), on("save through a closed saver", STATE, "closed", s -> {
                    s.begin();
                    s.saver.close();
                    s.save();
                }), on("saveThrough on a closed endpoint", STATE, "closed", s -> {
                    s.pair.endpoint.close();
                    s.begin();
                }), on("save to a removed peer", STATE, "removed", s -> {
                    s.begin();
                    s.pair.vector.remove(s.pair.far);
                    s.save();
                }),
                on("a saver of a queue that reports no write of its endpoint", ARGUMENT, "no write of",
                        s -> new Saver(s.pair.domain, s.pair.endpoint, s.pair.farQueue)),
                on("a ticket of too few bytes", ARGUMENT, "not an encoded ticket",
                        s -> SaveService.Ticket.decode(new byte[40])),
                on("a ticket of other bytes", ARGUMENT, "not an encoded region",
                        s -> SaveService.Ticket.decode(new byte[80])),
                refused("save to another vector's peer", ARGUMENT, "address vector", stage -> {
                    Saving one = stage.opened(Saving.over(TestProviders.hints("shm")));
                    Saving other = stage.opened(Saving.over(TestProviders.hints("shm")));
                    one.saver.saveThrough(other.pair.far, one.service.ticket());
                    one.saver.trySave(other.pair.far, one.target.remote(), Durability.DELIVERED, 1);
                }), refused("save on another thread", WrongThreadException.class, "DOMAIN", stage -> {
                    Saving owned = stage
                            .opened(Saving.over(TestProviders.hints("shm").threading(ThreadingModel.DOMAIN)));
                    owned.begin();
                    MisuseStage.elsewhere(owned::save);
                }), refused("serve saves on another thread", WrongThreadException.class, "DOMAIN", stage -> {
                    Saving owned = stage
                            .opened(Saving.over(TestProviders.hints("shm").threading(ThreadingModel.DOMAIN)));
                    MisuseStage.elsewhere(owned.service::progress);
                }), refused("a thread of a service that is one thread's", STATE, "SAFE", stage -> {
                    Saving owned = stage
                            .opened(Saving.over(TestProviders.hints("shm").threading(ThreadingModel.DOMAIN)));
                    owned.service.start();
                }), on("two threads of a service", STATE, "thread already", s -> {
                    s.service.start();
                    s.service.start();
                }), on("serve saves after close", STATE, "closed", s -> {
                    s.service.close();
                    s.service.progress();
                }),
                on("save messages where no service is known", STATE, "saveThrough",
                        s -> s.saver.saveMessages(s.pair.far, Durability.DELIVERED, 1)),
                on("save messages on a closed endpoint", STATE, "closed", s -> {
                    s.begin();
                    s.pair.endpoint.close();
                    s.saver.saveMessages(s.pair.far, Durability.DELIVERED, 1);
                }),
                on("cover receives of a region that takes none", ARGUMENT, "lacks RECEIVE",
                        s -> s.service.coverReceives(s.target)),
                on("cover receives for a closed service", STATE, "SaveService", s -> {
                    MemoryRegion inbox = s.pair.domain.allocate(64, Access.RECEIVE);
                    s.service.close();
                    try {
                        s.service.coverReceives(inbox);
                    } finally {
                        inbox.close();
                    }
                }),
                refused("a saver without messages", UNSUPPORTED, "Capability.MSG",
                        s -> new Saver(s.pair.domain, s.pair.endpoint, s.pair.queue)),
                on("a saver of a closed endpoint", STATE, "closed", s -> {
                    s.pair.endpoint.close();
                    new Saver(s.pair.domain, s.pair.endpoint, s.pair.queue);
                }),
                refused("a service without messages", UNSUPPORTED, "Capability.MSG",
                        stage -> new SaveService(stage.pair.domain)),
                on("poll a saver with no handler", NullPointerException.class, "handler", s -> s.saver.poll(null, 1)),
                on("poll a saver for nothing", ARGUMENT, "limit", s -> s.saver.poll((t, f, l, d) -> {}, 0)),
                on("flush with a region that lacks the right", ARGUMENT, "lacks",
                        s -> s.pair.rma().tryFlush(s.pair.far, new RemoteRegion(0, 64, 0, 0), 1)),
                on("flush on a closed endpoint", STATE, "closed", s -> {
                    Rma rma = s.pair.rma();
                    s.pair.endpoint.close();
                    rma.tryFlush(s.pair.far, s.service.ticket().flushed(), 1);
                }));
    }
}
