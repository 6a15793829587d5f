package io.ofi4j.command;

import static io.ofi4j.command.Forked.Launch.REFUSING;
import static io.ofi4j.command.Forked.Launch.USUAL;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.ofi4j.Libfabric;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.ProviderQuirk;
import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The machine as it is, and made worse in every way that a process can arrange for another. What is about the machine
 * alone, whatever libfabric is there, runs once.
 */
@Tag("gate")
class DoctorTest {
    @RegisterExtension
    static final AbandonedFilesLock LOCK = new AbandonedFilesLock();

    private static final Map<String, String> MARKS = Map.of("OK", "ok", "HINT", " *", "PROBLEM", "!!");
    private static final List<String> SUBJECTS = List.of("JDK", "native access", "libfabric", "providers", "devices",
            "signal handlers", "registration cache", "quirks", "machine", "locked memory", "descriptors",
            "cross-memory attach", "huge pages", "/dev/shm", "abandoned files");

    @Test
    void aMachineWhereTheTestsRunIsReady() {
        Run run = Run.of("doctor").succeeded();

        assertThat(run.out()).contains(SUBJECTS).contains(Libfabric.load().version().toString(), "shm")
                .endsWith("ready\n").doesNotContain("not ready");
        assertThat(run.lines()).as("one screen").hasSizeLessThan(24)
                .allSatisfy(line -> assertThat(line.length()).as(line).isLessThanOrEqualTo(80));
        assertThat(run.lines()).as("quirks are counted").noneMatch(line -> line.contains(" quirk "));
        assertThat(line(Run.of("doctor", "-v"), "quirks")).matches("ok  quirks +[1-9]\\d* on for libfabric "
                + Libfabric.load().version() + "; ofi4j doctor -v lists them");
    }

    @Test
    void verboseListsTheQuirksWithTheirVersions() {
        Run run = Run.of("doctor", "-v").succeeded();

        assertThat(run.lines()).as("a line for each quirk").filteredOn(line -> line.contains(" quirk shm-names "))
                .singleElement().asString().contains("on for shm (1.15 and newer): ");
        assertThat(run.lines()).filteredOn(line -> line.contains(" quirk shm-looks ")).singleElement().asString()
                .contains("off for shm (1.15 to 1.16): ");
    }

    @Tag("once")
    @Test
    void quirksThatTheSystemPropertySwitchesOffAreCounted() {
        assertThat(said(USUAL.with("JAVA_TOOL_OPTIONS", "-Dio.ofi4j.quirks=none"), 0, "quirks"))
                .startsWith(" *  quirks               0 on for libfabric ")
                .containsPattern("-> the system property io.ofi4j.quirks switches [1-9]\\d* off$");
    }

    /** Level, subject, what was found, and what to do. What other processes change between two runs is left out. */
    @Test
    void jsonSaysTheSame() {
        String text = Run.of("doctor", "-v").succeeded().out();
        JsonObject json = JsonParser.parseString(Run.of("doctor", "--json").succeeded().out()).getAsJsonObject();

        assertThat(steady(asText(json))).isEqualTo(steady(text));
        assertThat(json.get("ready").getAsBoolean()).isTrue();
        assertThat(json.getAsJsonArray("findings")).extracting(finding -> text(finding, "subject"))
                .filteredOn(subject -> !subject.startsWith("quirk ")).containsExactlyElementsOf(SUBJECTS);
    }

    private static String steady(String text) {
        return text.replaceAll("(?m)^.{4}(/dev/shm|abandoned files) .*\\R( +-> .*\\R)?", "");
    }

    private static String asText(JsonObject json) {
        StringBuilder lines = new StringBuilder();
        for (JsonElement finding : json.getAsJsonArray("findings")) {
            lines.append(MARKS.get(text(finding, "level")))
                    .append(String.format("  %-20s %s%n", text(finding, "subject"), text(finding, "found")));
            if (!text(finding, "advice").isEmpty()) {
                lines.append(String.format("%27s %s%n", "->", text(finding, "advice")));
            }
        }
        return lines.append(json.get("ready").getAsBoolean() ? "ready" : "not ready").append(System.lineSeparator())
                .toString();
    }

    private static String text(JsonElement finding, String name) {
        return finding.getAsJsonObject().get(name).getAsString();
    }

    /** Runs the command elsewhere; the lines of one subject, with the advice. */
    private static String said(Forked.Launch launch, int exitCode, String subject) {
        try (Forked text = launch.start("doctor", "-v")) {
            Run run = text.await();
            assertThat(run.exitCode()).as(run.out() + run.err()).isEqualTo(exitCode);
            assertThat(run.out()).endsWith(exitCode == 0 ? "\nready\n" : "\nnot ready\n");
            return line(run, subject);
        }
    }

    /** What is found elsewhere is said so in JSON, too. */
    private static void requireSameInJson(Forked.Launch launch, String subject, String said) {
        try (Forked json = launch.start("doctor", "--json")) {
            JsonObject parsed = JsonParser.parseString(json.await().out()).getAsJsonObject();
            JsonElement found = parsed.getAsJsonArray("findings").asList().stream()
                    .filter(finding -> text(finding, "subject").equals(subject)).findFirst().orElseThrow();
            assertThat(MARKS.get(text(found, "level"))).isEqualTo(said.substring(0, 2));
            assertThat(parsed.get("ready").getAsBoolean()).isEqualTo(!said.startsWith("!!"));
        }
    }

    private static String line(Run run, String subject) {
        List<String> lines = run.lines();
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).startsWith(subject, 4)) {
                boolean advised = lines.get(i + 1).contains("-> ");
                return lines.get(i) + (advised ? lines.get(i + 1) : "");
            }
        }
        throw new AssertionError(subject + " is not in " + run.out());
    }

    @Tag("once")
    @Test
    @Tag("nightly")
    void deepSaysWhatEachProviderDoes() {
        try (Forked doctor = USUAL.with("FI_PROVIDER", "shm").start("doctor", "-v", "--deep")) {
            Run run = doctor.await(100);

            assertThat(run.exitCode()).as(run.out() + run.err()).isZero();
            assertThat(line(run, "shm ")).matches("ok  shm +[1-9]\\d* work.*");
            assertThat(run.err()).contains("ofi4j: trying shm");
        }
    }

    /** Without the one quirk of shm that each version needs: without any of them, many trials end at their deadline. */
    @Tag("once")
    @Test
    void deepSaysWhatIsWrongInAFewLines() {
        String others = Libfabric.load().info(FabricHints.rma().provider("shm")).getFirst().quirks().stream()
                .map(ProviderQuirk::name).filter(name -> !name.equals("shm-atomic-data"))
                .collect(Collectors.joining(","));
        try (Forked doctor = USUAL.with("FI_PROVIDER", "shm").and("-Dio.ofi4j.quirks=" + others).start("doctor", "-v",
                "--deep")) {
            Run run = doctor.await(200);

            assertThat(run.exitCode()).as(run.out() + run.err()).isEqualTo(1);
            assertThat(line(run, "shm ")).matches("!!  shm .*\\((ended the process|hung|wrong): .*"
                    + "'ofi4j verify -p shm --report verify\\.md' says more.*");
        }
    }

    @Tag("once")
    @Test
    void aMonitorThatPatchesMmapIsAProblem() {
        Forked.Launch patching = USUAL.with("FI_MR_CACHE_MONITOR", "memhooks");
        String problem = said(patching, 1, "registration cache");
        requireSameInJson(patching, "registration cache", problem);
        assertThat(problem)
                .startsWith("!!  registration cache   FI_MR_CACHE_MONITOR is memhooks: it patches mmap under the JVM")
                .endsWith("-> unset it, or set it to disabled");
        assertThat(said(USUAL.with("FI_MR_CACHE_MONITOR", "userfaultfd"), 0, "registration cache"))
                .startsWith("ok  registration cache   FI_MR_CACHE_MONITOR is userfaultfd");
        assertThat(said(USUAL, 0, "registration cache")).startsWith("ok").endsWith("FI_MR_CACHE_MONITOR is disabled");
    }

    @Tag("once")
    @Test
    void aJvmWithoutNativeAccessIsToldTheOption() {
        assertThat(said(USUAL.only(), 0, "native access"))
                .startsWith(" *  native access        not enabled: the JVM warns")
                .endsWith("-> start java with " + Forked.NATIVE_ACCESS);
    }

    @Tag("once")
    @Test
    void aJvmThatRefusesNativeAccessIsNotReady() {
        assertThat(said(REFUSING, 1, "libfabric"))
                .startsWith("!!  libfabric            not loaded: the JVM refuses native access")
                .endsWith("-> start java with " + Forked.NATIVE_ACCESS);
        assertThat(said(REFUSING, 1, "native access")).startsWith(" *  native access        not enabled");
        assertThat(said(REFUSING, 1, "cross-memory attach")).contains("was not tried");
    }

    @Tag("once")
    @Test
    void aJvmThatRefusesNativeAccessDoesNotLookAtAbandonedFiles() throws IOException {
        Path left = leaveBehind();
        try (var held = Files.newOutputStream(left)) {
            held.write(0); // as long as it is open, nobody else removes it
            assertThat(said(REFUSING, 1, "abandoned files")).startsWith(" *  abandoned files      not looked at");
        } finally {
            Files.delete(left);
        }
    }

    @Tag("once")
    @Test
    void fewDescriptorsAreSaid() {
        String few = said(limited("ulimit -n 200"), 0, "descriptors");
        requireSameInJson(limited("ulimit -n 200"), "descriptors", few);
        assertThat(few).startsWith(" *  descriptors          200 at most").contains("-> 'ulimit -n 65536'");
        assertThat(said(limited("ulimit -n 1024"), 0, "descriptors"))
                .startsWith("ok  descriptors          1024 at most");
    }

    @Tag("once")
    @Test
    void littleLockedMemoryIsAProblemWhereADeviceNeedsMore() {
        boolean hasDevice = line(Run.of("doctor"), "devices").startsWith("ok");

        assertThat(said(limited("ulimit -l 64"), hasDevice ? 1 : 0, "locked memory"))
                .startsWith((hasDevice ? "!!" : "ok") + "  locked memory        65536 bytes");
    }

    private static Forked.Launch limited(String limit) {
        return USUAL.behind("sh", "-c", limit + "; exec \"$0\" \"$@\"");
    }

    @Test
    void providersThatAreMissingAreAProblem() {
        assertThat(said(USUAL.with("FI_PROVIDER", "nobody"), 1, "providers"))
                .startsWith("!!  providers            none of ").contains("offers RMA", "-> install a libfabric");
        assertThat(said(USUAL.with("FI_PROVIDER", "sockets"), 0, "providers"))
                .isEqualTo("ok  providers            RMA over sockets");
    }

    @Tag("once")
    @Test
    void handlersInThePlaceOfTheJvmsAreAProblem() {
        assertThat(said(USUAL.main(ForeignHandler.class), 1, "signal handlers"))
                .startsWith("!!  signal handlers      SIGILL, SIGFPE have other handlers than the JVM's")
                .contains("-> find the library");
    }

    /** A program whose other library has taken two signals that the JVM needs, as the JVM found it out too late. */
    static final class ForeignHandler {
        private ForeignHandler() {}

        @SuppressWarnings("restricted")
        public static void main(String[] arguments) throws Throwable {
            Libfabric.load();
            Linker linker = Linker.nativeLinker();
            MethodHandle signal = linker.downcallHandle(linker.defaultLookup().find("signal").orElseThrow(),
                    FunctionDescriptor.of(ADDRESS, JAVA_INT, ADDRESS));
            for (int number : new int[]{4, 8}) {
                // the default kills
                MemorySegment before = (MemorySegment) signal.invokeExact(number, MemorySegment.NULL);
                if (before.address() == 0) {
                    throw new IllegalStateException("the JVM has no handler of signal " + number);
                }
            }
            Ofi4j.main(arguments);
        }
    }

    private static void requireMounts() throws IOException, InterruptedException {
        Process mounting = new ProcessBuilder("unshare", "-m", "true").redirectErrorStream(true).start();
        String refusal = new String(mounting.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(mounting.waitFor(Patience.seconds(30).toSeconds(), TimeUnit.SECONDS)).isTrue();
        assumeTrue(mounting.exitValue() == 0, () -> "mounting needs root: " + refusal);
    }

    @Tag("once")
    @Test
    void littleRoomInSharedMemoryIsAProblem() throws IOException, InterruptedException {
        requireMounts();

        assertThat(said(sharedMemoryOf("32m"), 1, "/dev/shm")).startsWith("!!  /dev/shm             32 MiB free")
                .contains("-> 'mount -o remount,size=2g /dev/shm'");
        assertThat(said(sharedMemoryOf("80m"), 0, "/dev/shm")).startsWith("ok  /dev/shm             80 MiB free");
    }

    @Tag("once")
    @Test
    void sharedMemoryThatCannotBeWrittenIsAProblem() throws IOException, InterruptedException {
        requireMounts();

        assertThat(said(sharedMemoryOf("80m,ro"), 1, "/dev/shm"))
                .startsWith("!!  /dev/shm             this process may not write to it")
                .contains("-> 'mount -o remount,rw /dev/shm'");
        try (Forked perf = sharedMemoryOf("80m,ro").start("perf", "write", "-p", "shm", "-S", "8", "-I", "10")) {
            perf.await().failed(1, "/dev/shm");
        }
    }

    @Tag("once")
    @Test
    void sharedMemoryThatIsNotThereIsAProblem() throws IOException, InterruptedException {
        requireMounts();
        Forked.Launch without = USUAL.behind("unshare", "-m", "sh", "-c", "mount -t tmpfs tmpfs /mnt"
                + " && for file in null zero random urandom; do touch /mnt/$file"
                + " && mount --bind /dev/$file /mnt/$file; done && mount --rbind /mnt /dev && exec \"$0\" \"$@\"");

        assertThat(said(without, 1, "/dev/shm")).startsWith("!!  /dev/shm             not there");
        try (Forked perf = without.start("perf", "write", "-p", "shm", "-S", "8", "-I", "10")) {
            perf.await().failed(1, "is made in /dev/shm, which is not there");
        }
    }

    private static Forked.Launch sharedMemoryOf(String size) {
        return USUAL.behind("unshare", "-m", "sh", "-c",
                "mount -t tmpfs -o size=" + size + " tmpfs /dev/shm; exec \"$0\" \"$@\"");
    }

    @Tag("once")
    @Test
    void withoutLibfabricTheMachineIsNotReadyAndItSaysWhatToInstall() {
        try (Forked doctor = Forked.start(List.of("-Dio.ofi4j.library=/nowhere/libfabric.so.1"), "doctor")) {
            Run run = doctor.await();

            assertThat(run.out()).contains("!!  libfabric", "/nowhere/libfabric.so.1", "not ready");
            assertThat(run.exitCode()).isEqualTo(1);
        }
    }

    /** A file as a killed process leaves it. */
    private static Path leaveBehind() throws IOException {
        return Files.createFile(Path.of("/dev/shm", "4194305:0:" + System.nanoTime() % 1_000_000));
    }

    @Tag("once")
    @Test
    void whatKilledProcessesLeftIsNamedAndRemovedOnRequest() throws IOException {
        Path left = leaveBehind();

        assertThat(Run.of("doctor").succeeded().out()).contains("of killed processes in /dev/shm");
        assertThat(Run.of("doctor", "--clean").succeeded().out()).contains("removed " + left);
        assertThat(Run.of("doctor", "--clean").succeeded().out()).contains("nothing to remove")
                .doesNotContain("removed /dev");

        assertThat(left).doesNotExist();
    }
}
