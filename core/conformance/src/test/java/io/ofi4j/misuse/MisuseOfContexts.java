package io.ofi4j.misuse;

import static io.ofi4j.misuse.Misuse.refused;

import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.ScalableEndpoint;
import io.ofi4j.SharedReceiveContext;
import io.ofi4j.info.AddressVectorAttributes;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.Limit;
import io.ofi4j.info.PeekAction;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Scalable endpoints, shared contexts and receive contexts of peers, used out of turn or where there are none. */
final class MisuseOfContexts {
    private static final Class<? extends Throwable> ARGUMENT = IllegalArgumentException.class;
    private static final Class<? extends Throwable> STATE = IllegalStateException.class;
    private static final Class<? extends Throwable> NOT_OFFERED = UnsupportedOperationException.class;
    private static final int CONTEXTS = 2;

    private MisuseOfContexts() {}

    static Stream<Misuse> cases() { return Stream.of(scalable(), shared(), peers()).flatMap(cases -> cases); }

    private static FabricHints scalableHints() {
        return TestProviders.hints("sockets")
                .capabilities(Capability.MSG, Capability.TAGGED, Capability.RMA, Capability.NAMED_RX_CTX)
                .attributes(AttributeHints.none().atLeast(Limit.TRANSMIT_CONTEXTS, CONTEXTS)
                        .atLeast(Limit.RECEIVE_CONTEXTS, CONTEXTS));
    }

    private record Scalable(MisuseStage s, Domain domain, AddressVector vector, ScalableEndpoint endpoint) {}

    private static Misuse scalable(String name, Class<? extends Throwable> expected, String words,
            Consumer<Scalable> call) {
        return refused("scalable endpoint: " + name, expected, words, s -> {
            Domain domain = s.domain(scalableHints());
            call.accept(new Scalable(s, domain, s.opened(domain.openAddressVector()),
                    s.opened(domain.openScalableEndpoint())));
        });
    }

    private static Stream<Misuse> scalable() {
        return Stream.of(
                refused("scalable endpoint: of a provider without", NOT_OFFERED, "scalable endpoints",
                        s -> s.pair.domain.openScalableEndpoint()),
                scalable("its address before it is enabled", STATE, "first", t -> t.endpoint.address()),
                scalable("enable it without a vector", STATE, "bind an address vector", t -> t.endpoint.enable()),
                scalable("enable it twice", STATE, "enabled already", t -> {
                    CompletionQueue queue = t.s.opened(t.domain.openCompletionQueue());
                    t.s.opened(t.endpoint.bind(t.vector).openTransmitContext(0)).bind(queue).enable();
                    t.endpoint.enable();
                    t.endpoint.enable();
                }),
                scalable("bind the vector of another domain", ARGUMENT, "same domain",
                        t -> t.endpoint.bind(t.s.pair.vector)),
                scalable("bind a second vector", STATE, "already has an address vector",
                        t -> t.endpoint.bind(t.vector).bind(t.vector)),
                scalable("open a context without a vector", STATE, "bind an address vector",
                        t -> t.endpoint.openTransmitContext(0)),
                scalable("open a context that is open", STATE, "is open", t -> {
                    t.s.opened(t.endpoint.bind(t.vector).openTransmitContext(0));
                    t.endpoint.openTransmitContext(0);
                }), scalable("open a context that is not there", IndexOutOfBoundsException.class, "2",
                        t -> t.endpoint.bind(t.vector).openTransmitContext(CONTEXTS)));
    }

    private static FabricHints sharedHints(AttributeHints attributes) {
        return TestProviders.hints("sockets").capabilities(Capability.MSG, Capability.TAGGED, Capability.RMA)
                .attributes(attributes);
    }

    private static Stream<Misuse> shared() {
        return Stream.of(
                refused("a shared receive context of a provider without", NOT_OFFERED, "shared receive contexts",
                        s -> s.pair.domain.openSharedReceiveContext()),
                refused("a shared transmit context of a provider without", NOT_OFFERED, "shared transmit contexts",
                        s -> s.pair.domain.openSharedTransmitContext()),
                refused("share a receive context with an endpoint that has its own", STATE, "sharedReceiveContext()",
                        s -> {
                            Domain domain = s.domain(sharedHints(AttributeHints.none().sharedReceiveContext()));
                            SharedReceiveContext context = receiving(s, domain);
                            Endpoint plain = domain
                                    .openEndpoint(TestProviders.info(sharedHints(AttributeHints.none())));
                            s.opened(plain).bind(context);
                        }),
                context("bind a queue of another domain to a shared receive context", ARGUMENT, "same domain",
                        t -> t.context.bind(t.s.pair.queue)),
                context("bind a second queue to a shared receive context", STATE, "already has",
                        t -> t.context.bind(t.queue)),
                context("enable a shared receive context twice", STATE, "enabled", t -> t.context.enable().enable()),
                context("receive through a shared context that is not enabled", STATE, "first",
                        t -> t.context.messages()),
                context("receive tags through a shared context that is not enabled", STATE, "first",
                        t -> t.context.tagged()),
                refused("receive through a shared context without messages", NOT_OFFERED, "Capability.MSG",
                        s -> onlyOf(s, Capability.TAGGED).messages()),
                refused("receive tags through a shared context without them", NOT_OFFERED, "Capability.TAGGED",
                        s -> onlyOf(s, Capability.MSG).tagged()),
                refused("share a transmit context with an endpoint that has its own", STATE, "sharedTransmitContext()",
                        s -> {
                            Domain domain = s.domain(sharedHints(AttributeHints.none().sharedTransmitContext()));
                            Endpoint plain = domain
                                    .openEndpoint(TestProviders.info(sharedHints(AttributeHints.none())));
                            s.opened(plain).bind(s.opened(domain.openSharedTransmitContext()));
                        }),
                refused("look for a message in a shared receive context", NOT_OFFERED, "shared context", s -> {
                    Domain domain = s.domain(sharedHints(AttributeHints.none().sharedReceiveContext()));
                    receiving(s, domain).tagged().tryPeek(PeekAction.KEEP, 1, 0, 1);
                }), refused("cancel a receive of a shared context", NOT_OFFERED, "close the context", s -> {
                    Domain domain = s.domain(sharedHints(AttributeHints.none().sharedReceiveContext()));
                    receiving(s, domain).messages().cancel(1);
                }));
    }

    /** A shared receive context that has a queue, and is not enabled. */
    private record Shared(MisuseStage s, SharedReceiveContext context, CompletionQueue queue) {}

    private static Misuse context(String name, Class<? extends Throwable> expected, String words,
            Consumer<Shared> call) {
        return refused(name, expected, words, s -> {
            Domain domain = s.domain(sharedHints(AttributeHints.none().sharedReceiveContext()));
            CompletionQueue queue = s.opened(domain.openCompletionQueue());
            call.accept(new Shared(s, s.opened(domain.openSharedReceiveContext()).bind(queue), queue));
        });
    }

    private static SharedReceiveContext onlyOf(MisuseStage s, Capability capability) {
        return receiving(s, s.domain(TestProviders.hints("sockets").capabilities(capability)
                .attributes(AttributeHints.none().sharedReceiveContext())));
    }

    private static SharedReceiveContext receiving(MisuseStage s, Domain domain) {
        return s.opened(domain.openSharedReceiveContext().bind(s.opened(domain.openCompletionQueue())).enable());
    }

    private static Stream<Misuse> peers() {
        return Stream.of(
                refused("the receive context of another vector's peer", ARGUMENT, "not in this address vector",
                        s -> s.pair.vector.receiveContext(s.other("shm").far, 0)),
                refused("a receive context that does not fit", IndexOutOfBoundsException.class, "receiveContextBits",
                        s -> {
                            Pair pair = s.other("sockets");
                            AddressVector vector = s.opened(pair.domain
                                    .openAddressVector(AddressVectorAttributes.defaults().receiveContextBits(1)));
                            vector.receiveContext(vector.insert(pair.endpoint.address()), 2);
                        }));
    }
}
