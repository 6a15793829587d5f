package io.ofi4j.model;

import io.ofi4j.CompletionQueue;
import io.ofi4j.Counter;
import io.ofi4j.Domain;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.CounterAttributes;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.EventQueueAttributes;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.WaitObject;
import java.util.Random;
import java.util.function.Supplier;

/** Which wait objects a provider's queues and counters have; what it does not offer, it refuses by name. */
final class ModelWaitObjects {
    private static final WaitObject[] SOME = {WaitObject.UNSPECIFIED, WaitObject.FD, WaitObject.YIELD};

    private final FabricInfo info;
    private final Random random;

    ModelWaitObjects(FabricInfo info, Random random) {
        this.info = info;
        this.random = random;
    }

    /** Often none. */
    WaitObject any() {
        return random.nextInt(100) < 40 ? WaitObject.NONE : SOME[random.nextInt(SOME.length)];
    }

    private boolean isShm() { return info.provider().equals("shm"); }

    /** Rule: with COMPLETION on tcp of libfabric 2.x there is none. */
    private boolean hasAny() {
        return !info.provider().equals("tcp") || info.domain().threading() != ThreadingModel.COMPLETION
                || info.endpoint().type() == EndpointType.MSG || Libfabric.load().version().major() < 2;
    }

    private boolean hasQueue(WaitObject object) {
        return switch (object) {
            case NONE -> true;
            case UNSPECIFIED -> hasAny();
            case YIELD -> isShm();
            default -> hasAny() && !isShm() && !info.provider().contains("ofi_rxd");
        };
    }

    private boolean hasCounter(WaitObject object) {
        return switch (object) {
            case NONE -> true;
            case UNSPECIFIED -> hasAny();
            case YIELD -> isShm();
            default -> hasAny() && !isShm();
        };
    }

    /** A queue, or null where it was refused as it should be. */
    CompletionQueue open(Domain domain, CompletionQueueAttributes attributes) {
        return open("openCompletionQueue", attributes.waitObject(), hasQueue(attributes.waitObject()),
                () -> domain.openCompletionQueue(attributes));
    }

    /** A counter, or null where it was refused as it should be. */
    Counter openCounter(Domain domain, WaitObject object) {
        return open("openCounter", object, hasCounter(object),
                () -> domain.openCounter(CounterAttributes.defaults().waitObject(object)));
    }

    /** An event queue, or null where it was refused as it should be. */
    EventQueue open(Fabric fabric, EventQueueAttributes attributes) {
        return open("openEventQueue", attributes.waitObject(), attributes.waitObject() != WaitObject.YIELD || isShm(),
                () -> fabric.openEventQueue(attributes));
    }

    static boolean hasDescriptor(CompletionQueue queue, WaitObject asked) {
        try {
            return asked != WaitObject.NONE && queue.waitDescriptor() >= 0;
        } catch (IllegalStateException e) {
            if (asked == WaitObject.FD) { throw e; }
            return false; // as the provider likes it
        }
    }

    private <T> T open(String call, WaitObject object, boolean offered, Supplier<T> open) {
        try {
            T opened = open.get();
            if (offered) { return opened; }
            throw new AssertionError(call + " succeeded though wait object " + object + " is not offered");
        } catch (UnsupportedOperationException e) {
            if (offered || !e.getMessage().contains(info.provider())) {
                throw new AssertionError(call + " with wait object " + object + " threw " + e, e);
            }
            return null;
        }
    }
}
