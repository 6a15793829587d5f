package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.info.CompletionQueueStatistics;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The rooms of core: which package may use which, and who knows providers by name. */
@Tag("once")
class RoomsTest {
    private static final Path SOURCES = Path.of("src/main/java");
    private static final Path CLASSES = Path.of("target/classes");
    private static final String API = "io.ofi4j";
    private static final String INTERNAL = API + ".internal.";
    private static final String BINDINGS = API + ".bindings";
    /** From the bottom to the top: a room uses those before it. */
    private static final List<String> ROOMS = List.of(API + ".info", INTERNAL + "os", INTERNAL + "ffi",
            INTERNAL + "verbs", INTERNAL + "observe", INTERNAL + "quirks", INTERNAL + "engine", INTERNAL + "job", API,
            API + ".util", API + ".job", API + ".verbs");
    /** What every room may speak of: exceptions, handlers, and how to wait. */
    private static final Set<String> VOCABULARY = Set.of("FabricException", "CompletionError", "CompletionHandler",
            "DetailedCompletionHandler", "Waitable", "Waiting");
    /** The one class outside its room that a value names: who implements it. */
    private static final Set<String> PERMITTED = Set.of(API + ".info.FabricInfo -> " + INTERNAL + "engine.FoundInfo");
    private static final Pattern PROVIDER = Pattern
            .compile("\"(shm|tcp|net|sockets|verbs|udp|ofi_rxm|ofi_rxd|efa|cxi|psm3|opx|lnx|ucx)[\";]");
    private static final Pattern VERSION = Pattern.compile("\\.(major|minor)\\(\\)|isTwo\\(\\)");
    /** What libfabric's interface has in which version, whatever the provider: bits, and the length of structs. */
    private static final Set<String> INTERFACE = Set.of("Version.java", "Capability.java", "FabricCalls.java",
            "Attributes.java", "InfoHandle.java");

    @Test
    void aRoomUsesOnlyRoomsBelowIt() {
        Set<String> wrong = new TreeSet<>();
        for (String[] one : dependencies()) {
            int from = ROOMS.indexOf(room(one[0]));
            int to = ROOMS.indexOf(room(one[1]));
            boolean isWord = room(one[1]).equals(API) && VOCABULARY.contains(simpleName(one[1]));
            if (!one[1].startsWith(BINDINGS) && to > from && !isWord && !PERMITTED.contains(one[0] + " -> " + one[1])) {
                wrong.add(one[0] + " -> " + one[1]);
            }
        }
        assertThat(wrong).isEmpty();
    }

    @Test
    void onlyTheInlineLayersAndTheSystemsRoomUseTheGeneratedBindings() {
        Set<String> users = new TreeSet<>();
        for (String[] one : dependencies()) {
            if (one[1].startsWith(BINDINGS)) { users.add(room(one[0])); }
        }
        assertThat(users).containsExactly(INTERNAL + "ffi", INTERNAL + "os", INTERNAL + "verbs");
    }

    @Test
    void everyClassIsInARoom() {
        assertThat(dependencies().stream().map(one -> room(one[0])).distinct()).isSubsetOf(ROOMS);
        assertThat(dependencies()).hasSizeGreaterThan(500);
    }

    @Test
    void nobodyButTheQuirksNamesAProviderOrComparesAVersion() {
        Set<String> found = new TreeSet<>();
        for (Path source : sources()) {
            boolean isQuirk = source.toString().contains("/quirks/");
            boolean isInterface = INTERFACE.contains(source.getFileName().toString());
            for (String line : read(source).split("\n")) {
                boolean isComment = line.strip().startsWith("*") || line.strip().startsWith("/");
                boolean names = !isQuirk && PROVIDER.matcher(line).find();
                boolean compares = !isQuirk && !isInterface && VERSION.matcher(line).find();
                if (!isComment && (names || compares)) { found.add(source + ": " + line.strip()); }
            }
        }
        assertThat(found).isEmpty();
    }

    /** Pairs of a class and one that it uses, of this project. */
    private static List<String[]> dependencies() {
        StringWriter out = new StringWriter();
        int status = ToolProvider.findFirst("jdeps").orElseThrow().run(new PrintWriter(out), new PrintWriter(out),
                "--ignore-missing-deps", "-verbose:class", "-filter:none", CLASSES.resolve("io").toString());
        assertThat(status).as(out.toString()).isZero();
        return out.toString().lines().map(String::strip).filter(line -> line.startsWith(API + "."))
                .map(line -> line.split("\\s+"))
                .filter(words -> words[1].equals("->") && words[2].startsWith(API + "."))
                .map(words -> new String[]{words[0], words[2]}).toList();
    }

    private static String room(String className) {
        String itsPackage = className.substring(0, className.lastIndexOf('.'));
        return itsPackage.startsWith(INTERNAL + "quirks") ? INTERNAL + "quirks" : itsPackage;
    }

    /** Of a nested class, that of the one around it. */
    private static String simpleName(String className) {
        return className.substring(className.lastIndexOf('.') + 1).replaceFirst("\\$.*", "");
    }

    private static List<Path> sources() {
        try (Stream<Path> files = Files.walk(SOURCES)) {
            return files.filter(file -> file.toString().endsWith(".java")).toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
