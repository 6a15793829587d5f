package io.ofi4j.internal.quirks.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.support.FaultPeer;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An endpoint whose file belongs to another user is refused, whichever of both may open the other's file. */
@Tag("gate")
class ShmUsersTest {
    private static final int NOBODY = 65534;
    private static final int EACCES = 13;
    private static final List<String> WITHOUT_PRIVILEGES = List.of("setpriv", "--bounding-set=-all", "--inh-caps=-all");

    @BeforeEach
    void requireRoot() {
        List<String> output = new ArrayList<>();
        boolean mayGiveAway = FaultPeer.exit(
                List.of("sh", "-c",
                        "file=$(mktemp) && trap 'rm -f $file' EXIT && chown " + NOBODY + " $file && [ $(id -u) = 0 ]"),
                output) == 0;
        assumeTrue(mayGiveAway, () -> "giving a file to another user needs root: " + output);
    }

    private static Path giveAway(Pair pair) throws IOException {
        Path file = ShmFiles.find(pair.farEndpoint.address()).orElseThrow();
        Files.setAttribute(file, "unix:uid", NOBODY);
        return file;
    }

    @Test
    void whoMayOpenTheFileOfAUserIsRefusedForTheUserMayNotOpenIts() throws IOException {
        try (Pair pair = new Pair("shm")) {
            Path file = giveAway(pair);

            assertThatThrownBy(() -> pair.vector.insert(pair.farEndpoint.address()))
                    .isInstanceOfSatisfying(FabricException.class, e -> assertThat(e.errno()).isEqualTo(EACCES))
                    .hasMessageContainingAll(file.toString(), "one user");
        }
    }

    @Test
    void aFileThatItsOwnerHasOpenedToAllIsNotRefused() throws IOException {
        try (Pair pair = new Pair("shm")) {
            Files.setPosixFilePermissions(giveAway(pair), PosixFilePermissions.fromString("rw-rw-rw-"));

            assertThat(pair.vector.insert(pair.farEndpoint.address())).isNotNull();
        }
    }

    @Test
    void whoMayNotOpenTheFileIsToldSo() throws IOException {
        assumeTrue(FaultPeer.exit(List.of("setpriv", "--version"), new ArrayList<>()) == 0, "there is no setpriv");
        try (Pair pair = new Pair("shm")) {
            giveAway(pair);
            String address = HexFormat.of().formatHex(pair.farEndpoint.address().toBytes());

            Forked.Result result = Forked.startBehind(WITHOUT_PRIVILEGES, Inserts.class, address).await();

            assertThat(result.output()).contains("errno " + EACCES, "one user");
        }
    }

    /** Of a process without privileges. */
    static final class Inserts {
        private Inserts() {}

        public static void main(String[] arguments) {
            try (Pair pair = new Pair("shm")) {
                pair.vector.insert(EndpointAddress.of(HexFormat.of().parseHex(arguments[0])));
            } catch (FabricException e) {
                System.out.println("errno " + e.errno() + " " + e.getMessage());
            }
        }
    }
}
