package io.ofi4j.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.command.Patience;
import io.ofi4j.Libfabric;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The quick starts of the README: each is typed into a shell, in a home folder of its own, as it is printed. Their
 * checkout is this one.
 */
@Tag("gate")
class QuickStartTest {
    private static final Path ROOT = Path.of("..", "..").toAbsolutePath().normalize();
    private static final Path README = Path.of("README.md");
    private static final Path TESTING = ROOT.resolve("core/guide/TESTING.md");
    /** The language of a block, which commands do not have, and its text. */
    private static final Pattern BLOCK = Pattern.compile("^```(\\w*)\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL);
    private static final int SECONDS = 300;
    private static final List<String> INSTALLED = List.of("ofi4j-parent=pom.xml",
            "ofi4j-bindings=bindings/fabric/pom.xml", "ofi4j-core=core/pom.xml", "ofi4j=core/fabric/pom.xml",
            "ofi4j-test=core/test/pom.xml");

    @TempDir
    private Path home;

    private static final String WROTE = "operation 42 has completed: the peer has the bytes\n"
            + "the peer's memory says: Hello, peer\n";

    /** The commands of a section of the document, at any level. */
    private static String commands(String heading) throws IOException {
        String text = Files.readString(README);
        int start = text.indexOf("# " + heading + "\n");
        assertThat(start).as("a section %s", heading).isPositive();
        String section = text.substring(start, text.indexOf("\n##", start));
        return blocks(section, "").collect(Collectors.joining());
    }

    private static Stream<String> blocks(String text, String language) {
        return BLOCK.matcher(text).results().filter(block -> block.group(1).equals(language))
                .map(block -> block.group(2));
    }

    private String type(String heading) throws Exception {
        Files.createSymbolicLink(home.resolve("ofi4j"), ROOT);
        return run("set -e\n" + commands("Quick starts") + commands(heading));
    }

    private String run(String commands) throws Exception {
        Path script = Files.writeString(home.resolve("typed"), commands);
        Path output = home.resolve("output");
        ProcessBuilder builder = new ProcessBuilder("bash", script.toString()).redirectErrorStream(true)
                .redirectOutput(output.toFile());
        String java = System.getProperty("java.home");
        builder.environment().put("HOME", home.toString());
        builder.environment().put("JAVA_HOME", java);
        builder.environment().merge("PATH", home.resolve("bin") + File.pathSeparator + java + "/bin",
                (path, first) -> first + File.pathSeparator + path);
        Process process = builder.start();
        try {
            assertThat(process.waitFor(Patience.seconds(SECONDS).toSeconds(), TimeUnit.SECONDS))
                    .as("whether it ends in time").isTrue();
        } finally {
            process.destroyForcibly();
        }
        String text = Files.readString(output);
        assumeFalse(text.contains("PluginResolutionException"), "Maven's plugins cannot be loaded here");
        assertThat(process.exitValue()).as(text).isZero();
        return text;
    }

    private static String greeting() { return Libfabric.load() + " has " + Libfabric.load().providers() + "\n"; }

    @Tag("once")
    @ParameterizedTest
    @ValueSource(strings = {"Class path", "Module path", "One jar"})
    void a_reader_who_types_it_sees_the_providers(String heading) throws Exception {
        assertThat(type(heading)).isEqualTo(greeting());
    }

    @Tag("once")
    @Test
    void one_file_runs_as_a_program_and_as_a_script() throws Exception {
        assertThat(type("One file")).isEqualTo(greeting().repeat(2));
    }

    /** The first program of the main README, which it starts in a checkout. */
    @Test
    void the_first_program_runs_as_a_file() throws Exception {
        assertThat(firstProgram("WriteToPeer.java", programs().getFirst())).isEqualTo(WROTE);
    }

    @Tag("once")
    @Test
    void the_first_program_needs_no_class_with_jdk_25() throws Exception {
        assumeTrue(Runtime.version().feature() >= 25, "compact source files are final in JDK 25");
        String whole = programs().getFirst();
        int start = whole.indexOf("{\n", whole.indexOf(" main(")) + 2;
        String body = whole.substring(start, whole.lastIndexOf("    }\n}"));
        String program = programs().get(1).replaceFirst(" *//.*\n", Matcher.quoteReplacement(body));

        assertThat(firstProgram("FILE.java", program)).isEqualTo(WROTE);
    }

    private static List<String> programs() throws IOException {
        return blocks(Files.readString(ROOT.resolve("README.md")), "java").toList();
    }

    /** What the program prints, started by the README's command for that file. */
    private String firstProgram(String file, String program) throws Exception {
        String command = blocks(Files.readString(ROOT.resolve("README.md")), "")
                .filter(block -> block.contains(" " + file + "\n")).findFirst().orElseThrow();
        Path libraries = Files.createDirectories(home.resolve("examples/programs/target/lib"));
        for (String folder : List.of("bindings/fabric", "core/fabric")) {
            Path jar = jar(ROOT.resolve(folder));
            Files.createSymbolicLink(libraries.resolve(jar.getFileName()), jar);
        }
        Files.writeString(home.resolve(file), program);
        return run("cd\n" + command);
    }

    private static Path jar(Path module) throws IOException {
        try (Stream<Path> files = Files.list(module.resolve("target"))) {
            return files.filter(
                    file -> file.getFileName().toString().matches("ofi4j(-bindings)?-[0-9][^-]*(-SNAPSHOT)?.jar"))
                    .findFirst().orElseThrow();
        }
    }

    @Tag("once")
    @Test
    void maven_builds_it() throws Exception {
        putMavenBeforePath();

        assertThat(type("Maven")).contains(greeting());
    }

    /** The project that the guide to tests begins with. */
    @Tag("once")
    @Test
    void maven_runs_the_first_test() throws Exception {
        putMavenBeforePath();
        String guide = Files.readString(TESTING);
        Path sources = Files.createDirectories(home.resolve("echo/src/test/java"));
        Files.writeString(sources.resolve("EchoTest.java"), blocks(guide, "java").findFirst().orElseThrow());
        Files.writeString(home.resolve("echo/pom.xml"), blocks(guide, "xml").findFirst().orElseThrow());

        run("cd ~/echo\nmvn test\n");

        assertThat(Files.readString(home.resolve("echo/target/surefire-reports/EchoTest.txt")))
                .contains("Tests run: 1, Failures: 0, Errors: 0, Skipped: 0");
    }

    private void putMavenBeforePath() throws IOException, URISyntaxException {
        assumeTrue(isInstalled("mvn"), "Maven is not on the PATH");
        String repository = "-Dmaven.repo.local='" + repository() + "'";
        // Some plugins are those of this Maven, and not of this project's build: they may not be here yet.
        putBeforePath("mvn", found -> found + " -o " + repository + " \"$@\" > \"$HOME/offline\" 2>&1 || exec " + found
                + " " + repository + " \"$@\"");
    }

    @Test
    void gradle_builds_it() throws Exception {
        assumeTrue(isInstalled("gradle"), "Gradle is not on the PATH");
        assumeTrue(isGradleNewEnough(), "Gradle on the PATH is older than 8.8, as Debian's is");
        String repository = "-Dmaven.repo.local='" + repository() + "'";
        putBeforePath("gradle", found -> "exec " + found + " --offline " + repository + " \"$@\"");

        assertThat(type("Gradle")).contains(greeting());
    }

    private static boolean isGradleNewEnough() throws Exception {
        Process process = new ProcessBuilder("gradle", "--version").redirectErrorStream(true).start();
        String text = new String(process.getInputStream().readAllBytes());
        Matcher version = Pattern.compile("^Gradle (\\d+)\\.(\\d+)", Pattern.MULTILINE).matcher(text);
        return version.find() && 100 * Integer.parseInt(version.group(1)) + Integer.parseInt(version.group(2)) >= 808;
    }

    @Test
    void the_scripts_of_maven_and_gradle_name_what_the_build_makes() throws IOException {
        String pom = Files.readString(ROOT.resolve("pom.xml"));
        String version = first("<artifactId>ofi4j-parent</artifactId>\\s*<version>([^<]*)", pom);
        String release = first("<maven.compiler.release>([^<]*)", pom);

        assertThat(commands("Gradle")).contains("implementation(\"io.ofi4j:ofi4j:" + version + "\")",
                "options.release = " + release, "mainClass = \"hello.Hello\"",
                "listOf(\"--enable-native-access=ALL-UNNAMED\")");
        assertThat(commands("Maven")).contains("<version>" + version + "</version>",
                "<maven.compiler.release>" + release + "<",
                "<version>" + first("<maven-compiler-plugin.version>([^<]*)", pom) + "</version>",
                "<version>" + first("<maven-dependency-plugin.version>([^<]*)", pom) + "</version>");
    }

    @Test
    void the_project_of_the_first_test_names_what_the_build_makes() throws IOException {
        String pom = Files.readString(ROOT.resolve("pom.xml"));
        String guide = Files.readString(TESTING);
        String version = first("<artifactId>ofi4j-parent</artifactId>\\s*<version>([^<]*)", pom);
        String junit = first("<junit.version>([^<]*)", pom);

        assertThat(blocks(guide, "xml").findFirst().orElseThrow()).contains("<version>" + version + "</version>",
                "<version>" + junit + "</version>", "<maven.compiler.release>22<",
                "<version>" + first("<maven-compiler-plugin.version>([^<]*)", pom) + "</version>",
                "<version>" + first("<maven-surefire-plugin.version>([^<]*)", pom) + "</version>");
        assertThat(guide).contains("(\"io.ofi4j:ofi4j-test:" + version + "\")",
                "(\"org.junit.jupiter:junit-jupiter:" + junit + "\")");
    }

    private static String first(String pattern, String text) {
        return Pattern.compile(pattern).matcher(text).results().findFirst().orElseThrow().group(1);
    }

    private static Stream<Path> path(String command) {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator)).map(folder -> Path.of(folder, command))
                .filter(Files::isExecutable);
    }

    private static boolean isInstalled(String command) { return path(command).findFirst().isPresent(); }

    /** Makes a script that is found before a command of the PATH. Its line is made from that command's path. */
    private void putBeforePath(String command, UnaryOperator<String> line) throws IOException {
        String found = path(command).findFirst().orElseThrow().toString();
        Path script = home.resolve("bin").resolve(command);
        Files.createDirectories(script.getParent());
        Files.writeString(script, "#!/bin/sh\n" + line.apply(found) + "\n");
        assertThat(script.toFile().setExecutable(true)).isTrue();
    }

    /**
     * A local repository as after {@code mvn install}: the one that this build uses, and in it what the build has made.
     */
    private Path repository() throws IOException, URISyntaxException {
        Path assertj = Path.of(Assertions.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Path used = assertj;
        while (!used.getFileName().toString().equals("org")) {
            used = used.getParent();
        }
        used = used.getParent();
        Path made = home.resolve("repository");
        link(used, made, "io");
        link(used.resolve("io"), made.resolve("io"), "ofi4j");
        String version = first("<artifactId>ofi4j-parent</artifactId>\\s*<version>([^<]*)",
                Files.readString(ROOT.resolve("pom.xml")));
        for (String one : INSTALLED) {
            String artifact = one.substring(0, one.indexOf('='));
            Path pom = ROOT.resolve(one.substring(one.indexOf('=') + 1));
            Path folder = Files.createDirectories(made.resolve("io/ofi4j").resolve(artifact).resolve(version));
            Files.copy(pom, folder.resolve(artifact + "-" + version + ".pom"), StandardCopyOption.REPLACE_EXISTING);
            Path jar = pom.resolveSibling("target").resolve(artifact + "-" + version + ".jar");
            if (Files.exists(jar)) { Files.copy(jar, folder.resolve(jar.getFileName())); }
        }
        return made;
    }

    /** Links all that is in a folder but one entry. */
    private static void link(Path from, Path to, String except) throws IOException {
        Files.createDirectories(to);
        if (!Files.isDirectory(from)) { return; }
        List<Path> entries = new ArrayList<>();
        try (Stream<Path> all = Files.list(from)) {
            all.filter(one -> !one.getFileName().toString().equals(except)).forEach(entries::add);
        }
        for (Path entry : entries) {
            Files.createSymbolicLink(to.resolve(entry.getFileName()), entry);
        }
    }
}
