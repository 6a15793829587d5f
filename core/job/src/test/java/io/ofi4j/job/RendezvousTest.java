package io.ofi4j.job;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.support.Forked;
import io.ofi4j.support.FreePort;
import io.ofi4j.support.Pair;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Addresses and regions brought to the other side. */
@Tag("gate")
class RendezvousTest {
    private static final String SECRET = Rendezvous.newSecret();
    private static final int GREETING_LENGTH = 40;
    /** Of the request to join: its length, 10 bytes, and 16 that prove who sent it. */
    private static final int JOIN_LENGTH = 4 + 10 + 16;
    private static final Duration SHORT = Duration.ofMillis(100);
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    @Test
    void whatOnePublishesAnotherGets() {
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET);
                Rendezvous client = Rendezvous.join(server.address(), SECRET, Pair.DEADLINE);
                Pair pair = new Pair("tcp;ofi_rxm");
                MemoryRegion region = pair.domain.allocate(64, Access.REMOTE_READ)) {
            server.publish("address", pair.endpoint.address());
            server.publish("region", region.remote());
            client.publish("from the client", new byte[]{1, 2, 3});

            assertThat(client.awaitAddress("address", Pair.DEADLINE)).isEqualTo(pair.endpoint.address());
            assertThat(client.awaitRegion("region", Pair.DEADLINE)).isEqualTo(region.remote());
            assertThat(server.await("from the client", Pair.DEADLINE)).containsExactly(1, 2, 3);
        }
    }

    @Test
    void whoComesFirstWaits() throws Exception {
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET);
                Rendezvous client = Rendezvous.join(server.address(), SECRET, Pair.DEADLINE)) {
            CompletableFuture<byte[]> awaited = CompletableFuture
                    .supplyAsync(() -> client.await("late", Pair.DEADLINE));
            Thread.sleep(50);
            assertThat(awaited).isNotDone();
            server.publish("late", new byte[]{7});
            assertThat(awaited.get(Pair.DEADLINE.toMillis(), TimeUnit.MILLISECONDS)).containsExactly(7);
        }
    }

    @Test
    void theLastValueOfANameCounts() {
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET)) {
            server.publish("name", new byte[]{1});
            server.publish("name", new byte[]{2});
            assertThat(server.await("name", Duration.ZERO)).containsExactly(2);
        }
    }

    @Test
    void aClientMayBeThereBeforeItsServer() throws Exception {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), FreePort.find());
        CompletableFuture<byte[]> got = CompletableFuture.supplyAsync(() -> {
            try (Rendezvous client = Rendezvous.join(address, SECRET, Pair.DEADLINE)) {
                return client.await("name", Pair.DEADLINE);
            }
        });
        Thread.sleep(100);
        try (Rendezvous server = Rendezvous.serve(address, SECRET)) {
            server.publish("name", new byte[]{5});
            assertThat(got.get(Pair.DEADLINE.toMillis(), TimeUnit.MILLISECONDS)).containsExactly(5);
        }
    }

    @Test
    void nothingPublishedInTimeIsATimeout() {
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET)) {
            assertThatThrownBy(() -> server.await("nothing", SHORT)).isInstanceOf(FabricTimeoutException.class)
                    .hasMessageContaining("'nothing'");
        }
    }

    /** With a name of its own that no server of names knows, as in a container. */
    @Test
    @Tag("gate")
    void aHostWhoseNameIsUnknownIsJoinedAtTheWildcardAddress() throws Exception {
        List<String> renamed = List.of("unshare", "--uts", "sh", "-c",
                "echo nowhere.invalid >/proc/sys/kernel/hostname && exec \"$@\"", "sh");
        Process trial = new ProcessBuilder(Stream.concat(renamed.stream(), Stream.of("true")).toList()).inheritIO()
                .start();
        assumeTrue(trial.waitFor() == 0, "it takes root and a name space of host names");
        Forked.Result result = Forked.startBehind(renamed, JoinsAtTheWildcardAddress.class).await();

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("joined");
    }

    static final class JoinsAtTheWildcardAddress {
        private JoinsAtTheWildcardAddress() {}

        public static void main(String[] arguments) {
            String secret = Rendezvous.newSecret();
            try (Rendezvous server = Rendezvous.serve(new InetSocketAddress(0), secret);
                    Rendezvous client = Rendezvous.join(server.address(), secret, Pair.DEADLINE)) {
                client.publish("name", new byte[]{1});
                System.out.println("joined " + server.address());
            }
        }
    }

    @Test
    void anotherSecretIsRefusedAndLearnsNothing() {
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET)) {
            assertThatThrownBy(() -> Rendezvous.join(server.address(), Rendezvous.newSecret(), Pair.DEADLINE))
                    .isInstanceOf(RendezvousException.class).hasMessageContaining("same secret");
            server.publish("still", new byte[]{1});
            assertThat(server.await("still", Duration.ZERO)).containsExactly(1);
        }
    }

    /** As a server does whose time for a stranger is over, because one of the two had no processor. */
    @Test
    void aConnectionThatTheServerHasClosedIsTriedAgain() throws Exception {
        CompletableFuture<InetSocketAddress> address = new CompletableFuture<>();
        CompletableFuture<Rendezvous> serving = CompletableFuture.supplyAsync(() -> {
            try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                address.complete((InetSocketAddress) listener.getLocalSocketAddress());
                try (Socket first = listener.accept()) {
                    first.getOutputStream().write(("OFIMEET\1" + "x".repeat(32)).getBytes(UTF_8));
                    first.getInputStream().readNBytes(GREETING_LENGTH + JOIN_LENGTH);
                }
            } catch (IOException e) {
                throw new AssertionError(e);
            }
            return Rendezvous.serve(address.join(), SECRET);
        });
        InetSocketAddress at = address.get(Pair.DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
        try (Rendezvous member = Rendezvous.join(at, SECRET, Pair.DEADLINE)) {
            member.publish("here", new byte[]{1});
        } finally {
            serving.get(Pair.DEADLINE.toMillis(), TimeUnit.MILLISECONDS).close();
        }
    }

    @Test
    void aPlaceIsEnteredByOneMemberAtATime() {
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET);
                Rendezvous client = Rendezvous.join(server.address(), SECRET, Pair.DEADLINE)) {
            server.enter(1, "the first");
            server.enter(1, "the first, by another name");

            assertThatThrownBy(() -> client.enter(1, "the second")).isInstanceOf(RendezvousException.class)
                    .hasMessage("the first, by another name is at place 1 already");
            client.enter(0, "the second");
        }
    }

    @Test
    void nobodyListeningIsSaid() {
        assertThatThrownBy(
                () -> Rendezvous.join(new InetSocketAddress(InetAddress.getLoopbackAddress(), 1), SECRET, SHORT))
                .isInstanceOf(RendezvousException.class).hasMessageContaining("Is the server running");
        assertThatThrownBy(
                () -> Rendezvous.join(InetSocketAddress.createUnresolved("nowhere.invalid", 1), SECRET, SHORT))
                .isInstanceOf(RendezvousException.class).hasMessageContaining("nowhere.invalid");
    }

    @Test
    void aServerThatHasGoneIsSaid() {
        Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET);
        try (Rendezvous client = Rendezvous.join(server.address(), SECRET, Pair.DEADLINE)) {
            server.close();
            assertThatThrownBy(() -> client.await("name", Pair.DEADLINE)).isInstanceOf(RendezvousException.class)
                    .hasMessageContaining("has gone");
        }
        assertThatThrownBy(() -> server.publish("name", new byte[0])).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void strangersWhoSendAnythingDisturbNobody() throws Exception {
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET)) {
            for (String noise : new String[]{"GET / HTTP/1.1\r\n\r\n",
                    "OFIMEET\1" + "x".repeat(32) + "\0\0\0\20" + "y".repeat(16),
                    "OFIMEET\1" + "x".repeat(32) + "\177\377\377\377"}) {
                try (Socket stranger = new Socket(server.address().getAddress(), server.address().getPort())) {
                    stranger.setSoTimeout((int) Pair.DEADLINE.toMillis());
                    OutputStream out = stranger.getOutputStream();
                    out.write(noise.getBytes(UTF_8));
                    stranger.shutdownOutput();
                    InputStream in = stranger.getInputStream();
                    assertThat(in.readAllBytes().length).as("its greeting, and a refusal").isLessThanOrEqualTo(44);
                } catch (java.net.SocketException e) {
                    assertThat(e).hasMessageContaining("reset");
                }
            }
            server.publish("still", new byte[]{1});
            assertThat(server.await("still", Duration.ZERO)).containsExactly(1);
        }
    }

    @Test
    void whatIsTooLongIsRefused() {
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET)) {
            server.publish("n".repeat(255), new byte[Rendezvous.MAX_VALUE_LENGTH]);
            assertThat(server.await("n".repeat(255), Duration.ZERO)).hasSize(Rendezvous.MAX_VALUE_LENGTH);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> server.publish("n", new byte[Rendezvous.MAX_VALUE_LENGTH + 1]));
            assertThatIllegalArgumentException().isThrownBy(() -> server.publish("n".repeat(256), new byte[0]));
            assertThatIllegalArgumentException().isThrownBy(() -> server.publish("", new byte[0]));
            assertThatIllegalArgumentException().isThrownBy(() -> Rendezvous.serve(ANY_PORT, "too short"))
                    .withMessageContaining("newSecret");
        }
    }

    @Test
    void aServerKeepsSoMuchAndNoMore() {
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET)) {
            assertThatThrownBy(() -> {
                for (int i = 0; i < 2000; i++) {
                    server.publish("name " + i, new byte[Rendezvous.MAX_VALUE_LENGTH]);
                }
            }).isInstanceOf(RendezvousException.class).hasMessageContaining("is full");
            assertThat(server.await("name 0", Duration.ZERO)).hasSize(Rendezvous.MAX_VALUE_LENGTH);
        }
    }

    @Test
    void aPortInUseIsSaid() {
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET)) {
            assertThatThrownBy(() -> Rendezvous.serve(server.address(), SECRET)).isInstanceOf(RendezvousException.class)
                    .hasMessageContaining("Choose another port");
        }
    }

    @Test
    void whoGathersGetsTheValuesOfAllInOrder() throws Exception {
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET);
                Rendezvous client = Rendezvous.join(server.address(), SECRET, Pair.DEADLINE)) {
            for (String name : new String[]{"first", "second"}) {
                CompletableFuture<List<byte[]>> far = CompletableFuture
                        .supplyAsync(() -> client.gather(name, 1, 2, new byte[]{1, 1}, Pair.DEADLINE));
                assertThat(server.gather(name, 0, 2, new byte[0], Pair.DEADLINE)).containsExactly(new byte[0],
                        new byte[]{1, 1});
                assertThat(far.get(Pair.DEADLINE.toMillis(), TimeUnit.MILLISECONDS)).containsExactly(new byte[0],
                        new byte[]{1, 1});
            }
        }
    }

    @Test
    void placesThatHaveNotComeAreNamed() {
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET)) {
            assertThatThrownBy(() -> server.gather("name", 1, 4, new byte[0], SHORT))
                    .isInstanceOf(FabricTimeoutException.class)
                    .hasMessageContaining("These of 4 places have not come: 0, 2, 3.");
        }
    }

    @Test
    void anotherNumberOfPlacesIsRefused() throws Exception {
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET);
                Rendezvous client = Rendezvous.join(server.address(), SECRET, Pair.DEADLINE)) {
            CompletableFuture<List<byte[]>> first = CompletableFuture
                    .supplyAsync(() -> client.gather("name", 0, 2, new byte[0], Pair.DEADLINE));
            Waiting.BACKOFF.until(() -> {
                try {
                    server.gather("name", 1, 3, new byte[0], Duration.ZERO);
                    return false;
                } catch (FabricTimeoutException e) {
                    return false; // it came before the first
                } catch (RendezvousException e) {
                    assertThat(e).hasMessageContaining("which has 2 places");
                    return true;
                }
            }, Pair.DEADLINE);
            server.gather("name", 1, 2, new byte[0], Pair.DEADLINE);
            assertThat(first.get(Pair.DEADLINE.toMillis(), TimeUnit.MILLISECONDS)).hasSize(2);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> server.gather("name", 4, 4, new byte[0], Pair.DEADLINE));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> server.gather("many", 0, Rendezvous.MAX_PLACES + 1, new byte[0], SHORT))
                    .withMessageContaining("at most 512 places");
        }
    }

    @Test
    void aMemberThatIsLostEndsTheWaitsOfOthersByName() throws Exception {
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET);
                Rendezvous failing = Rendezvous.join(server.address(), SECRET, Pair.DEADLINE)) {
            failing.enter(1, "the second");
            CompletableFuture<byte[]> awaited = CompletableFuture.supplyAsync(() -> server.await("x", Pair.DEADLINE));
            failing.fail("it is tired");
            assertThatThrownBy(() -> awaited.get(Pair.DEADLINE.toMillis(), TimeUnit.MILLISECONDS))
                    .hasRootCauseInstanceOf(RendezvousException.class)
                    .hasMessageContaining("the second gave up: it is tired");
            assertThatThrownBy(() -> server.gather("y", 0, 2, new byte[0], Pair.DEADLINE))
                    .isInstanceOf(RendezvousException.class).hasMessageContaining("it is tired");
        }
    }

    @Test
    void whoWaitsIsToldWhyTheServerGivesUp() throws Exception {
        Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET);
        try (Rendezvous client = Rendezvous.join(server.address(), SECRET, Pair.DEADLINE)) {
            server.enter(0, "the first");
            CompletableFuture<List<byte[]>> gathered = CompletableFuture
                    .supplyAsync(() -> client.gather("x", 1, 3, new byte[0], Pair.DEADLINE));
            Waiting.BACKOFF.until(() -> hasCome(server), Pair.DEADLINE);
            server.fail("it is tired");

            assertThatThrownBy(() -> gathered.get(Pair.DEADLINE.toMillis(), TimeUnit.MILLISECONDS))
                    .hasRootCauseInstanceOf(RendezvousException.class)
                    .hasRootCauseMessage("the first gave up: it is tired");
        }
    }

    /** Whether place 1 of the gathering is there. */
    private static boolean hasCome(Rendezvous server) {
        try {
            server.gather("x", 0, 3, new byte[0], Duration.ZERO);
            throw new AssertionError("nobody comes to place 2");
        } catch (FabricTimeoutException e) {
            return e.getMessage().contains("have not come: 2.");
        }
    }

    @Test
    void aMemberThatHasLeftIsNotGatheredFor() {
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET)) {
            Rendezvous leaving = Rendezvous.join(server.address(), SECRET, Pair.DEADLINE);
            server.enter(0, "the first");
            leaving.enter(1, "the second");
            assertThat(server.awaitDepartures(SHORT)).as("the second is here").isFalse();
            leaving.close();
            assertThatThrownBy(() -> server.gather("y", 0, 2, new byte[0], Pair.DEADLINE))
                    .isInstanceOf(RendezvousException.class).hasMessage("the second has left already");
            assertThat(server.awaitDepartures(Pair.DEADLINE)).isTrue();
        }
    }

    @Test
    void nobodyEntersAPlaceThatCannotBeGathered() {
        try (Rendezvous server = Rendezvous.serve(ANY_PORT, SECRET)) {
            for (int place : new int[]{-1, Rendezvous.MAX_PLACES}) {
                assertThatIllegalArgumentException().isThrownBy(() -> server.enter(place, "nobody"))
                        .withMessage("there is no place " + place + ": places are 0 to 511");
            }
            assertThat(server.gather("name", 0, 1, new byte[]{7}, Pair.DEADLINE)).containsExactly(new byte[]{7});
        }
    }
}
