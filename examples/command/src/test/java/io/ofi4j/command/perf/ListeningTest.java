package io.ofi4j.command.perf;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.command.Forked;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where a server's control port can be reached from, by what the kernel says of its sockets. */
@Tag("gate")
@Tag("once") // what it is about is the command, not libfabric
class ListeningTest {
    /** 127.0.0.1 as the kernel writes it: a word in the machine's order. */
    private static final String LOOPBACK = java.nio.ByteOrder.nativeOrder() == java.nio.ByteOrder.LITTLE_ENDIAN
            ? "0100007F"
            : "7F000001";
    private static final String LISTENING = "0A";

    /** The addresses at which somebody listens at this port, of IPv4 and IPv6. */
    private static List<String> addresses(String port) throws IOException {
        String hexadecimal = ":%04X".formatted(Integer.parseInt(port));
        List<String> found = new ArrayList<>();
        for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
            if (Files.exists(Path.of(table))) { // not every machine has IPv6
                Files.readAllLines(Path.of(table)).stream().map(line -> line.strip().split(" +"))
                        .filter(fields -> fields[1].endsWith(hexadecimal) && fields[3].equals(LISTENING))
                        .map(fields -> fields[1].substring(0, fields[1].length() - hexadecimal.length()))
                        .forEach(found::add);
            }
        }
        return found;
    }

    private static boolean isLoopback(String address) {
        return address.equals(LOOPBACK) || address.equals("0000000000000000FFFF0000" + LOOPBACK);
    }

    private static boolean isAny(String address) { return address.matches("0+"); }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "sockets"})
    void aServerIsReachedFromThisMachineOnly(String provider) throws IOException {
        try (Forked server = Forked.server("perf", "write", "-p", provider)) {
            assertThat(addresses(server.port())).hasSize(1).allMatch(ListeningTest::isLoopback);
        }
    }

    /** Of such addresses the kernel lists the first alone; 127.0.1.1 is what a machine's name means on Debian. */
    @ParameterizedTest
    @ValueSource(strings = {"127.0.1.1", "127.0.0.2"})
    void anAddressThatNoInterfaceListsCanBeListenedAt(String address) throws IOException {
        try (Forked server = Forked.server("perf", "write", "-p", "tcp;ofi_rxm", "-s", address);
                Forked client = Forked.start("perf", "write", address, "-P", server.port(), "-p", "tcp;ofi_rxm", "-S",
                        "8", "-I", "10", "-w", "1")) {
            client.await().succeeded();
            assertThat(server.await().exitCode()).isZero();
        }
    }

    @Test
    void itIsReachedFromOthersWhereThatIsAskedFor() throws IOException {
        try (Forked server = Forked.server("perf", "write", "-p", "shm", "-s", "0.0.0.0")) {
            assertThat(addresses(server.port())).hasSize(1).allMatch(ListeningTest::isAny);
        }
        try (Forked server = Forked.server("perf", "write", "-p", "shm", "-s", "127.0.0.1")) {
            assertThat(addresses(server.port())).hasSize(1).allMatch(ListeningTest::isLoopback);
        }
    }
}
