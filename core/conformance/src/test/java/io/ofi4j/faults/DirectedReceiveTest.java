package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.ProviderFault;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Receives from one peer, in JVMs of their own: what is not refused may end one. */
@Tag("gate")
@Timeout(600)
class DirectedReceiveTest {
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void receivesFromOnePeerAndFromAnyAreMatchedInOrderAndComeBackOrAreRefused(String provider) {
        Forked.Result result = Forked.run(DirectedReceives.class, provider);

        assertThat(result.exit()).as(result.output()).isZero();
        if (ProviderFault.anyOf(provider, ProviderFault.DIRECTED_RECEIVES_IGNORED,
                ProviderFault.DIRECTED_RECEIVES_CRASH)) {
            assertThat(result.output())
                    .contains("refused: ofi4j refuses receives of messages from one peer over " + provider);
        } else {
            assertThat(result.output()).contains("received [1] canceled [4, ", "closed");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aReceiveOfTagsOverShmRecognizesThePeerOfAnotherProcessOrIsRefused(boolean chosen) throws IOException {
        String name = "ofi4j-directed-" + ProcessHandle.current().pid();
        Forked.Running sender = Forked.start(DirectedPeer.class, "send", chosen ? name + "-s" : "none");
        Forked.Running receiver = Forked.start(DirectedPeer.class, "receive", chosen ? name + "-r" : "none");
        tell(receiver, sender.awaitLine("address "));
        if (chosen && ProviderFault.RESPELLED_PEERS_UNRECOGNIZED.isOf("shm")) {
            assertThat(receiver.awaitLine("refused: ")).contains("from one with a chosen name");
            sender.process().destroyForcibly();
            Files.deleteIfExists(Path.of("/dev/shm", name + "-s"));
            return;
        }
        receiver.awaitLine("posted");
        tell(sender, receiver.awaitLine("address "));
        receiver.awaitLine("done [1]");
        sender.awaitLine("done [1]");
        tell(sender, "");
        tell(receiver, "");
        assertThat(receiver.await().exit()).as(receiver.output()).isZero();
        assertThat(sender.await().exit()).as(sender.output()).isZero();
    }

    private static void tell(Forked.Running other, String line) throws IOException {
        other.process().getOutputStream().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
        other.process().getOutputStream().flush();
    }
}
