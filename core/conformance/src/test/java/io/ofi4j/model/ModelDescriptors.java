package io.ofi4j.model;

import io.ofi4j.Libfabric;
import io.ofi4j.Waiting;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The file descriptors of this process, beside those of the JVM's own files, and its files in {@code /dev/shm}: after
 * each program there are as many of each kind as before the first one.
 *
 * <p>Rule: ofi_rxm keeps the socket of a connection that a peer had begun and the endpoint had not accepted when it was
 * closed; a C program of the same calls loses one each time, on 1.17 and on 2.1. tcp's xnet_pep_close says that it must
 * abort them and does not, and ofi_eq_cleanup frees the requests without their sockets. Nothing refers to them any
 * more, and to close what looks like one in {@code /proc/self/fd} could close what another thread has opened since.
 * Their peers are closed as well by the end of a program, which tells them from every other descriptor: they are TCP
 * sockets in state CLOSE_WAIT. tcp of libfabric 1.x keeps the socket of a client that was closed before it had asked:
 * where it reads the end, rx_cm_data takes for the reason what errno has from an earlier call, and waits for more where
 * that is EAGAIN. sockets keeps the socket of a request that its passive endpoint had not told of when it was closed.
 * Where a provider keeps a fabric that seems busy, see {@link Fact}, it keeps what the fabric waits with.
 */
final class ModelDescriptors {
    /** Some have threads that close them. */
    private static final Duration CLOSE_TIMEOUT = Patience.seconds(5);
    private static final Path FOLDER = Path.of("/proc/self/fd");
    private static final Pattern SOCKET = Pattern.compile("socket:\\[(\\d+)]");
    private static final Pattern NUMBER = Pattern.compile("\\[\\d+]");
    private static final String OF_THE_JVM = System.getProperty("java.home");
    /** Columns of {@code /proc/net/tcp}, and a value: include/net/tcp_states.h. */
    private static final int STATE = 3;
    private static final int INODE = 9;
    private static final String CLOSE_WAIT = "08";
    private static final List<String> TABLES = List.of("/proc/self/net/tcp", "/proc/self/net/tcp6");
    private static final Set<String> OF_A_FABRIC = Set.of("anon_inode:[eventpoll]", "socket:");
    private static final String KEPT = "socket that the provider keeps";

    private final boolean keepsSockets;
    private final boolean keepsFabrics;
    /** The inodes of those that the provider has kept, and will keep. */
    private final Set<String> kept = new HashSet<>();
    private final Map<String, Long> before;
    private long judged;

    ModelDescriptors(FabricInfo info) {
        keepsSockets = info.provider().equals("tcp;ofi_rxm")
                || info.provider().equals("tcp") && Libfabric.load().version().major() < 2
                || info.provider().equals("sockets") && info.endpoint().type() == EndpointType.MSG;
        keepsFabrics = info.provider().equals("tcp") && info.endpoint().type() == EndpointType.RDM
                && info.domain().threading() == ThreadingModel.COMPLETION && !TestProviders.isBefore(2, 2);
        before = kinds();
        judged = count();
    }

    /** How many sockets of the provider's have stayed, so far. */
    long kept() {
        return kept.size() - before.getOrDefault(KEPT, 0L);
    }

    /** What a program has left, as text; empty where it is nothing. */
    String left() {
        Map<String, Long> more = Map.of();
        if (count() > judged) { // to look at each costs more
            Waiting.YIELD.tryUntil(() -> more().isEmpty(), CLOSE_TIMEOUT);
            more = more();
        }
        judged = count();
        List<String> files = filesInMemory();
        return (more.isEmpty() ? "" : "descriptors " + more + " among " + kinds())
                + (files.isEmpty() ? "" : " in /dev/shm " + files);
    }

    private Map<String, Long> more() {
        Map<String, Long> more = kinds();
        more.remove(KEPT);
        if (keepsFabrics) { more.keySet().removeAll(OF_A_FABRIC); }
        more.replaceAll((kind, number) -> number - before.getOrDefault(kind, 0L));
        more.values().removeIf(number -> number <= 0);
        return more;
    }

    private static List<String> filesInMemory() {
        String mine = ProcessHandle.current().pid() + ":";
        return list(Path.of("/dev/shm")).stream().map(file -> file.getFileName().toString())
                .filter(name -> name.startsWith(mine)).toList();
    }

    private static int count() { return list(FOLDER).size(); }

    /** How many descriptors there are, by what they are. */
    private Map<String, Long> kinds() {
        List<String> targets = targets();
        Set<String> sockets = targets.stream().map(SOCKET::matcher).filter(Matcher::matches)
                .map(socket -> socket.group(1)).collect(Collectors.toSet());
        if (keepsSockets && !kept.containsAll(sockets)) {
            kept.addAll(closingSockets());
            kept.retainAll(sockets); // others are another process'
        }
        return targets.stream().filter(target -> !isOfTheJvm(target)).map(this::kind)
                .collect(Collectors.groupingBy(kind -> kind, TreeMap::new, Collectors.counting()));
    }

    private String kind(String target) {
        Matcher socket = SOCKET.matcher(target);
        return socket.matches() && kept.contains(socket.group(1)) ? KEPT : NUMBER.matcher(target).replaceAll("");
    }

    private static boolean isOfTheJvm(String target) {
        return target.startsWith(OF_THE_JVM) || target.endsWith(".jar") || target.endsWith("random")
                || target.startsWith("/proc/");
    }

    private static List<String> targets() {
        List<String> targets = new ArrayList<>();
        for (Path descriptor : list(FOLDER)) {
            try {
                targets.add(Files.readSymbolicLink(descriptor).toString());
            } catch (IOException e) {
                continue; // closed since: that of the list itself
            }
        }
        return targets;
    }

    /** The inodes of sockets whose peer has closed. */
    private static Set<String> closingSockets() {
        Set<String> inodes = new HashSet<>();
        for (String table : TABLES) {
            try (Stream<String> lines = Files.lines(Path.of(table))) {
                lines.filter(line -> line.contains(" " + CLOSE_WAIT + " ")).map(line -> line.strip().split("\\s+"))
                        .filter(row -> row.length > INODE && row[STATE].equals(CLOSE_WAIT))
                        .forEach(row -> inodes.add(row[INODE]));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return inodes;
    }

    private static List<Path> list(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
