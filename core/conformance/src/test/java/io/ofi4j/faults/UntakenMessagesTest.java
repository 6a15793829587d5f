package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.support.Forked;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Endpoints are closed while messages wait that nobody has received: with tags and without, of 1 byte to 64 KiB. A JVM
 * closes those of all providers, and names each before.
 */
@Tag("gate")
@Timeout(300)
class UntakenMessagesTest {
    @Test
    void bothEndsAreOfOneProcess() { requireClosed(Forked.run(UntakenMessages.class, with("close", providers()))); }

    @Test
    void theProcessOfTheSenderEndsFirst() throws IOException {
        Forked.Running holder = Forked.start(UntakenMessages.class, with("at", providers()));
        holder.awaitLine("these are all");
        List<String> addresses = holder.output().lines().filter(line -> line.startsWith("at "))
                .map(line -> line.substring("at ".length())).toList();
        Forked.Result sender = Forked.run(UntakenMessages.class, with("to", addresses));
        holder.process().getOutputStream().write('.');
        holder.process().getOutputStream().close();

        assertThat(addresses).isNotEmpty();
        requireClosed(sender);
        requireClosed(holder.await());
    }

    private static List<String> providers() { return Stream.concat(TestProviders.rma(), Stream.of("sm2")).toList(); }

    private static String[] with(String first, List<String> rest) {
        return Stream.concat(Stream.of(first), rest.stream()).toArray(String[]::new);
    }

    private static void requireClosed(Forked.Result result) {
        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("all is closed");
    }
}
