package io.ofi4j.command.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.command.control.ControlException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a server of {@code verify} demands of clients. */
@Tag("once")
class IntroductionTest {
    private static final Introduction SERVER = new Introduction("1.2.3", "2.1", "tcp;ofi_rxm", "RDM", 1000);

    @Test
    void anotherReleaseOfOfi4jIsRefusedByName() {
        Introduction client = new Introduction("1.2.4", "2.1", "tcp;ofi_rxm", "RDM", 1000);

        assertThatThrownBy(() -> client.require(SERVER)).isInstanceOf(ControlException.class)
                .hasMessage("the client runs ofi4j 1.2.4, the server 1.2.3: run the same release at both ends.");
    }

    @Test
    void anotherLibfabricIsAllowedOverANetwork() {
        Introduction client = new Introduction("1.2.3", "1.17", "tcp;ofi_rxm", "RDM", 1000);

        assertThatCode(() -> client.require(SERVER)).doesNotThrowAnyException();
    }

    @Test
    void anotherLibfabricIsRefusedOverSharedMemory() {
        Introduction server = new Introduction("1.2.3", "2.1", "shm", "RDM", 1000);
        Introduction client = new Introduction("1.2.3", "1.17", "shm", "RDM", 1000);

        assertThatThrownBy(() -> client.require(server)).isInstanceOf(ControlException.class)
                .hasMessageContaining("the client uses libfabric 1.17, the server 2.1: ");
        assertThat(client.isOfOneMachine()).isTrue();
    }
}
