package io.ofi4j.scripts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.support.Pair;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** With which options scripts/ofi4j starts the JVM: in a checkout of two modules, with a JVM that prints them. */
@Tag("gate")
@Tag("once")
class StartOptionsTest {
    private static final Instant WRITTEN = Instant.parse("2026-01-01T00:00:00Z");
    private static final Instant BUILT = WRITTEN.plusSeconds(60);
    private static final String JAVA = """
            #!/bin/sh
            for word; do
              case $word in -XX:AOTCacheOutput=*) : >"${word#*=}" ;; esac
              echo "$word"
            done
            """;

    @TempDir
    Path checkout;

    @BeforeEach
    void build() throws IOException {
        for (String script : List.of("common", "ofi4j")) {
            write("scripts/" + script, Files.readString(Path.of("../../scripts", script)), WRITTEN);
        }
        for (String source : List.of("pom.xml", "core/pom.xml", "core/fabric/pom.xml", "core/fabric/src/main/java/A",
                "examples/pom.xml", "examples/command/pom.xml", "examples/command/src/main/java/B",
                ".mvn/formatter.xml")) {
            write(source, "source", WRITTEN);
        }
        write("core/fabric/target/ofi4j-1.jar", "jar", BUILT);
        write("examples/command/target/lib/ofi4j-1.jar", "jar", BUILT);
        write("examples/command/target/ofi4j-command-1.jar", "command", BUILT);
        write("jdk/release", "JAVA_VERSION=\"25\"\n", WRITTEN);
        for (String program : List.of("jdk/bin/java", "jdk/bin/javac", "bin/mvn")) {
            write(program, JAVA, WRITTEN);
            assertThat(checkout.resolve(program).toFile().setExecutable(true)).isTrue();
        }
        try (Stream<Path> folders = Files.walk(checkout).filter(Files::isDirectory)) {
            for (Path folder : folders.toList()) {
                Files.setLastModifiedTime(folder, FileTime.from(WRITTEN));
            }
        }
    }

    private void write(String name, String text, Instant time) throws IOException {
        Path file = checkout.resolve(name);
        Files.createDirectories(file.getParent());
        Files.setLastModifiedTime(Files.writeString(file, text), FileTime.from(time));
    }

    private List<String> started(Map<String, String> environment, String... prefix) throws Exception {
        Path output = checkout.resolve("output");
        List<String> command = new ArrayList<>(List.of(prefix));
        command.addAll(List.of("bash", checkout.resolve("scripts/ofi4j").toString(), "info"));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        Map<String, String> variables = builder.environment();
        List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS").forEach(variables::remove);
        variables.put("JDK_JAVA_OPTIONS", "-Dio.ofi4j.library=/none"); // no other is looked for
        variables.put("OFI4J_JAVA_HOME", checkout.resolve("jdk").toString());
        variables.put("PATH", checkout.resolve("bin") + ":" + variables.get("PATH"));
        variables.putAll(environment);
        Process process = builder.start();
        assertThat(process.waitFor(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS)).as("it ended").isTrue();
        assertThat(process.exitValue()).as(Files.readString(output)).isZero();
        return Files.readAllLines(output);
    }

    /** Nothing is built: somebody's own Maven has made the jars, and no folder for the archive. */
    @Test
    void withoutOptionsOfTheSiteItStartsFast() throws Exception {
        assertThat(started(Map.of()))
                .contains("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:+UseSystemMemoryBarrier")
                .anyMatch(word -> word.startsWith("-XX:AOTCache="));
    }

    @ParameterizedTest
    @ValueSource(strings = {"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"})
    void oursGiveWayToThoseOfTheSite(String variable) throws Exception {
        String library = " -Dio.ofi4j.library=/none";
        for (String collector : List.of("-XX:+UseG1GC", "-XX:+UseZGC", "-XX:-UseSerialGC")) {
            assertThat(started(Map.of(variable, collector + library))).as(collector).doesNotContain("-XX:+UseSerialGC")
                    .contains("-XX:TieredStopAtLevel=1");
        }
        for (String sharing : List.of("-Xshare:off", "-Xshare:auto", "-XX:SharedArchiveFile=/a", "-XX:AOTCache=/a",
                "-XX:AOTMode=off", "-XX:+AutoCreateSharedArchive")) {
            assertThat(started(Map.of(variable, "-Da=b " + sharing + library))).as(sharing)
                    .noneMatch(word -> word.startsWith("-XX:AOTCache=")).contains("-XX:+UseSerialGC");
        }
        for (String compiler : List.of("-Xint", "-XX:-TieredCompilation", "-XX:TieredStopAtLevel=4")) {
            assertThat(started(Map.of(variable, compiler + library))).as(compiler)
                    .doesNotContain("-XX:TieredStopAtLevel=1");
        }
        assertThat(started(Map.of(variable, "-XX:-UseSystemMemoryBarrier" + library)))
                .doesNotContain("-XX:+UseSystemMemoryBarrier");
        assertThat(started(Map.of(variable, "@/a/file" + library))).as("options in a file").noneMatch(
                word -> word.startsWith("-XX:AOTCache=") || word.startsWith("-XX:+Use") || word.contains("Tiered"));
    }

    /** A line of it would be no JSON. */
    @Test
    void theLogOfTheJvmGoesToStandardError() throws Exception {
        assertThat(started(Map.of("JAVA_TOOL_OPTIONS", "-Xlog:gc*:file=/a -Xlog:class+load -Xlog")))
                .contains("-XX:+DisplayVMOutputToStderr", "-Xlog:class+load:stderr", "-Xlog:all=info:stderr")
                .containsSubsequence("-Xlog:all=off:stdout", "-Xlog:all=warning,aot*=off,cds*=off:stderr")
                .noneMatch(word -> word.contains("file=/a"));
    }

    /** Of a home that several machines share. */
    @Test
    void eachKindOfProcessorHasAnArchiveOfItsOwn() throws Exception {
        Path other = Files.writeString(checkout.resolve("cpuinfo"), "flags : none\nFeatures : none\nisa : none\n");
        String[] elsewhere = {"unshare", "-rm", "sh", "-c", "mount --bind " + other + " /proc/cpuinfo && exec \"$@\"",
                "sh"};
        assumeTrue(new ProcessBuilder(Stream.concat(Stream.of(elsewhere), Stream.of("true")).toList()).start()
                .waitFor() == 0, "another /proc/cpuinfo needs a namespace of mounts");
        String here = archive(started(Map.of()));

        assertThat(archive(started(Map.of(), elsewhere))).isNotEqualTo(here);
        assertThat(archive(started(Map.of()))).isEqualTo(here);
    }

    private static String archive(List<String> words) {
        return words.stream().filter(word -> word.startsWith("-XX:AOTCache=")).findFirst().orElseThrow();
    }
}
