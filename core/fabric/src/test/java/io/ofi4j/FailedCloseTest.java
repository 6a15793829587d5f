package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.Direction;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.internal.engine.NativeFabricInfo;
import io.ofi4j.internal.ffi.DomainOps;
import io.ofi4j.internal.ffi.FabricOps;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Handle;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.TestProviders;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What is left of an object that the provider has not closed, because native code still uses it: it is closed here, and
 * another close has nothing to do. In a JVM of its own, in which the native objects stay.
 */
@Tag("gate")
class FailedCloseTest {
    /** What native code uses, and what libfabric's call is named in the exception. */
    enum Used {
        COMPLETION_QUEUE("completion queue"),
        COUNTER("counter"),
        ADDRESS_VECTOR("address vector"),
        DOMAIN("domain"),
        FABRIC("fabric");

        private final String words;

        Used(String words) { this.words = words; }

        private String failure() { return "fi_close(" + words + ") " + Errno.EBUSY; }
    }

    /** The provider sockets closes a fabric that has domains. */
    static Stream<Arguments> objects() {
        return TestProviders.rma()
                .flatMap(provider -> Stream.of(Used.values())
                        .filter(used -> used != Used.FABRIC || !provider.equals("sockets"))
                        .map(used -> Arguments.of(provider, used)));
    }

    @ForEachProvider
    @MethodSource("objects")
    void anObjectThatNativeCodeUsesIsClosedAfterItsCloseHasFailed(String provider, Used used) {
        Forked.Result result = Forked.run(ClosesWhatIsUsed.class, provider, used.name());

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output().lines()).containsSubsequence("first close: " + used.failure(), "it is closed",
                "second close: none");
    }

    /** Arguments: the provider, and the object. */
    static final class ClosesWhatIsUsed {
        private ClosesWhatIsUsed() {}

        public static void main(String[] arguments) throws Exception {
            FabricInfo info = TestProviders.info(arguments[0]);
            Fabric fabric = Libfabric.load().openFabric(info);
            switch (Used.valueOf(arguments[1])) {
                case COMPLETION_QUEUE -> {
                    CompletionQueue queue = fabric.openDomain().openCompletionQueue();
                    bindNatively(queue.domain(), queue.handle(), Direction.TRANSMIT.bit() | Direction.RECEIVE.bit());
                    closeTwice(queue, queue::progress);
                }
                case COUNTER -> {
                    Counter counter = fabric.openDomain().openCounter();
                    bindNatively(counter.domain(), counter.handle(), Access.WRITE.bit());
                    closeTwice(counter, counter::read);
                }
                case ADDRESS_VECTOR -> {
                    AddressVector vector = fabric.openDomain().openAddressVector();
                    bindNatively(vector.domain(), vector.handle(), 0);
                    closeTwice(vector, () -> vector.peer(0));
                }
                case DOMAIN -> {
                    Domain domain = fabric.openDomain();
                    opened(DomainOps.fi_cntr_open(domain.handle(), 0));
                    closeTwice(domain, domain::progress);
                }
                case FABRIC -> {
                    opened(FabricOps.fi_domain(fabric.handle(), NativeFabricInfo.of(info).handle()));
                    closeTwice(fabric, fabric::openDomain);
                }
            }
            Runtime.getRuntime().halt(0);
        }

        private static void bindNatively(Domain domain, Handle object, long flags) {
            Handle endpoint = opened(
                    DomainOps.fi_endpoint(domain.handle(), NativeFabricInfo.of(domain.info()).handle()));
            int status = FidOps.fi_bind(endpoint, object, flags);
            if (status != 0) { throw new AssertionError("fi_ep_bind returned " + status); }
        }

        private static Handle opened(OpenResult out) {
            if (out.status() != 0) { throw new AssertionError("nothing was opened: " + out.status()); }
            return out.handle();
        }

        private static void closeTwice(AutoCloseable object, Runnable use) throws Exception {
            System.out.println("first close: " + failure(object));
            try {
                use.run();
                System.out.println("it is open");
            } catch (IllegalStateException e) {
                System.out.println(e.getMessage().endsWith(" is closed") ? "it is closed" : e.getMessage());
            }
            System.out.println("second close: " + failure(object));
        }

        private static String failure(AutoCloseable object) throws Exception {
            try {
                object.close();
                return "none";
            } catch (FabricException e) {
                return e.operation() + " " + e.errno();
            }
        }
    }
}
