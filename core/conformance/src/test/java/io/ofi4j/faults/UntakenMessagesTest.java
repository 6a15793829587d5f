package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** Endpoints are closed while messages wait that nobody has received: with tags and without, of 1 byte to 64 KiB. */
@Tag("gate")
@Timeout(300)
class UntakenMessagesTest {
    static Stream<String> providers() { return Stream.concat(TestProviders.rma(), Stream.of("sm2")); }

    @ForEachProvider
    @MethodSource("providers")
    void bothEndsAreOfOneProcess(String provider) {
        requireClosed(Forked.run(UntakenMessages.class, provider, "close"));
    }

    @ForEachProvider
    @MethodSource("providers")
    void theProcessOfTheSenderEndsFirst(String provider) throws IOException {
        Forked.Running holder = Forked.start(UntakenMessages.class, provider, "at");
        String address = holder.awaitLine("address ");
        assumeFalse(address.equals(UntakenMessages.NO_PROVIDER), "this libfabric has no such provider");
        Forked.Result sender = Forked.run(UntakenMessages.class, provider, "to", address);
        holder.process().getOutputStream().write('.');
        holder.process().getOutputStream().close();

        requireClosed(sender);
        requireClosed(holder.await());
    }

    private static void requireClosed(Forked.Result result) {
        assumeFalse(result.output().contains(UntakenMessages.NO_PROVIDER), "this libfabric has no such provider");

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("closed");
    }
}
