package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.CompletionError;
import io.ofi4j.info.Capability;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Mailbox;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages that are longer than their receives. */
@Tag("gate")
@Timeout(300)
class LongMessageTest {
    /** A critical call that does not return would keep every thread of the JVM from its next safepoint. */
    @ParameterizedTest
    @ValueSource(strings = {"receive", "receive beside"})
    void aPollOfShmThatMayNotReturnDoesNotStopTheJvm(String how) throws Exception {
        String here = "ofi4j-long-" + ProcessHandle.current().pid();
        Forked.Running receiver = Forked.start(LongMessage.class, how, here + "-r", here + "-s");
        receiver.awaitLine("ready");
        Forked.Running sender = Forked.start(LongMessage.class, "send", here + "-r", here + "-s");
        sender.awaitLine("sent");
        receiver.process().getOutputStream().close();
        sender.process().getOutputStream().close();
        Forked.Result received = receiver.await();
        Forked.Result sent = sender.await();
        Files.deleteIfExists(Path.of("/dev/shm", here + "-r"));
        Files.deleteIfExists(Path.of("/dev/shm", here + "-s"));

        assertThat(received.exit()).as(received.output()).isZero();
        assertThat(received.output()).contains("alive");
        assertThat(sent.exit()).as(sent.output()).isZero();
    }

    @Test
    void aMessageLongerThanItsReceiveIsAnErrorAndTheNextOneArrives() {
        try (Mailbox box = new Mailbox("sockets", Capability.MSG, Capability.RMA)) {
            box.pair.farEndpoint.messages().receive(box.far.slice(0, 8), 1);
            box.pair.farEndpoint.messages().receive(box.far.slice(0, 8), 2);
            box.write(100, 6);
            box.pair.endpoint.messages().send(box.near.slice(0, 100), box.pair.far, 3);
            box.pair.endpoint.messages().send(box.near.slice(0, 8), box.pair.far, 4);
            box.await(2, 2);

            assertThat(box.farDone.errors).extracting(CompletionError::token).containsExactly(1L);
            assertThat(box.farDone.errors).extracting(CompletionError::errno).containsExactly(Errno.ETRUNC);
            assertThat(box.farDone.errors.getFirst().overflow()).isEqualTo(92);
            assertThat(box.farDone.tokens()).containsExactly(2L);
        }
    }
}
