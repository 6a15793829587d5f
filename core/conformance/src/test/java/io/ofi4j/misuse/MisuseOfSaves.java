package io.ofi4j.misuse;

import static io.ofi4j.misuse.Misuse.refused;

import io.ofi4j.Access;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Messages;
import io.ofi4j.Rma;
import io.ofi4j.SaveService;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Durability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Saves that cannot be. */
final class MisuseOfSaves {
    private static final Class<? extends Throwable> ARGUMENT = IllegalArgumentException.class;
    private static final Class<? extends Throwable> STATE = IllegalStateException.class;
    private static final Class<? extends Throwable> UNSUPPORTED = UnsupportedOperationException.class;

    private MisuseOfSaves() {}

    /** Two endpoints, and a region whose owner has a service. */
    private record Saving(Pair pair, SaveService service, MemoryRegion target) implements AutoCloseable {
        static Saving over(FabricHints hints) {
            Pair pair = new Pair(hints.capabilities(Capability.RMA, Capability.MSG));
            return new Saving(pair, pair.domain.openSaveService(), pair.domain.allocate(64, Access.REMOTE_WRITE));
        }

        void save(Rma rma) { rma.trySave(pair.far, target.remote(), Durability.DELIVERED, 1); }

        @Override
        public void close() {
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
        return Stream.of(on("save where no service is known", STATE, "saveThrough", s -> s.save(s.pair.rma())),
                on("save what cannot last", UNSUPPORTED, "DELIVERED at most", s -> {
                    s.pair.rma().saveThrough(s.pair.far, s.service.ticket());
                    s.pair.rma().save(s.pair.far, s.target.remote(), Durability.POWER_SAFE, 1);
                }), on("save on a closed endpoint", STATE, "closed", s -> {
                    Rma rma = s.pair.rma();
                    rma.saveThrough(s.pair.far, s.service.ticket());
                    s.pair.endpoint.close();
                    s.save(rma);
                }), on("saveThrough on a closed endpoint", STATE, "closed", s -> {
                    Rma rma = s.pair.rma();
                    s.pair.endpoint.close();
                    rma.saveThrough(s.pair.far, s.service.ticket());
                }), on("saveThrough of a removed peer", STATE, "removed", s -> {
                    s.pair.vector.remove(s.pair.far);
                    s.pair.rma().saveThrough(s.pair.far, s.service.ticket());
                }),
                on("a ticket of too few bytes", ARGUMENT, "not an encoded ticket",
                        s -> SaveService.Ticket.decode(new byte[40])),
                on("a ticket of other bytes", ARGUMENT, "not an encoded region",
                        s -> SaveService.Ticket.decode(new byte[80])),
                refused("saveThrough of another vector's peer", ARGUMENT, "address vector", stage -> {
                    Saving one = stage.opened(Saving.over(TestProviders.hints("shm")));
                    Saving other = stage.opened(Saving.over(TestProviders.hints("shm")));
                    one.pair.rma().saveThrough(other.pair.far, one.service.ticket());
                }), refused("saveThrough of an alias", UNSUPPORTED, "the endpoint it was made from", stage -> {
                    Saving over = stage.opened(Saving.over(TestProviders.hints("sockets")));
                    Endpoint alias = stage.opened(over.pair.endpoint.alias(Set.of()));
                    alias.rma().saveThrough(over.pair.far, over.service.ticket());
                }), refused("save on another thread", WrongThreadException.class, "DOMAIN", stage -> {
                    Saving owned = stage
                            .opened(Saving.over(TestProviders.hints("shm").threading(ThreadingModel.DOMAIN)));
                    owned.pair.rma().saveThrough(owned.pair.far, owned.service.ticket());
                    MisuseStage.elsewhere(() -> owned.save(owned.pair.rma()));
                }),
                on("save messages where no service is known", STATE, "saveThrough",
                        s -> s.pair.endpoint.messages().save(s.pair.far, Durability.DELIVERED, 1)),
                on("save messages on a closed endpoint", STATE, "closed", s -> {
                    Messages messages = s.pair.endpoint.messages();
                    messages.saveThrough(s.pair.far, s.service.ticket());
                    s.pair.endpoint.close();
                    messages.save(s.pair.far, Durability.DELIVERED, 1);
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
                }), refused("a service without messages", UNSUPPORTED, "Capability.MSG",
                        stage -> stage.pair.domain.openSaveService()));
    }
}
