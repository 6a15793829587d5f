package io.ofi4j.misuse;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is read of a comment, and what an exception shows. */
@Tag("gate")
@Tag("once")
class DocumentedThrowsTest {
    private static final String SAMPLE = """
            package sample;

            public final class Sample extends Hidden {
                /** @throws IllegalStateException always */
                public void call() { throw new IllegalStateException(); }

                /**
                 * @throws IllegalStateException always
                 * @throws java.io.IOException never
                 */
                public void call(int number) throws java.io.IOException { throw new IllegalStateException(); }

                @Override
                void notPublic() {}

                /** {@inheritDoc} */
                @Override
                public void run() { throw new UnsupportedOperationException(); }
            }
            """;
    private static final String HIDDEN = """
            package sample;

            abstract class Hidden implements Task {
                /** @throws IllegalArgumentException always */
                public final void inherited(String... names) { throw new IllegalArgumentException(); }

                /** @throws IllegalArgumentException always */
                void notPublic() {}
            }
            """;
    private static final String TASK = """
            package sample;

            public interface Task {
                /** @throws UnsupportedOperationException always */
                void run();
            }
            """;
    private static final String SECRET = """
            package sample.secret;

            public class Secret {
                /** @throws IllegalStateException always */
                public void call() {}
            }
            """;

    @TempDir
    Path folder;
    private DocumentedThrows documented;

    @BeforeEach
    void read() throws IOException {
        Files.createDirectories(folder.resolve("sample/secret"));
        Files.writeString(folder.resolve("module-info.java"), "module sample { exports sample; }");
        Files.writeString(folder.resolve("sample/Sample.java"), SAMPLE);
        Files.writeString(folder.resolve("sample/Hidden.java"), HIDDEN);
        Files.writeString(folder.resolve("sample/Task.java"), TASK);
        Files.writeString(folder.resolve("sample/secret/Secret.java"), SECRET);
        documented = DocumentedThrows.of(Map.of("sample", folder), folder.toString());
    }

    /** As if it came through one line of a class. */
    private static <T extends Throwable> T through(T thrown, String type, String method, int line) {
        thrown.setStackTrace(new StackTraceElement[]{new StackTraceElement("java.util.Objects", "check", null, 1),
                new StackTraceElement(type, method, "Some.java", line),
                new StackTraceElement("io.ofi4j.misuse.Misuse", "commit", null, 1),
                new StackTraceElement("sample.Sample", "call", "Sample.java", 5)});
        return thrown;
    }

    @Test
    void publicMembersOfExportedPackagesAreReadOnce() {
        assertThat(documented.keys()).containsExactly("Hidden.inherited(String[]) IllegalArgumentException",
                "Sample.call() IllegalStateException", "Sample.call(int) IOException",
                "Sample.call(int) IllegalStateException", "Task.run() UnsupportedOperationException");
        assertThat(documented.place("Sample.call() IllegalStateException")).isEqualTo("Sample.java:5");
    }

    @Test
    void anExceptionShowsTheOverloadThatItCameThrough() {
        assertThat(documented.shownBy(through(new IllegalStateException(), "sample.Sample", "call", 11)))
                .containsExactly("Sample.call(int) IllegalStateException");
    }

    @Test
    void anExceptionOfAnOverrideShowsWhatItInherits() {
        assertThat(documented.shownBy(through(new UnsupportedOperationException(), "sample.Sample", "run", 18)))
                .containsExactly("Task.run() UnsupportedOperationException");
    }

    @Test
    void aSubclassOfTheJdkShowsItAndAnotherExceptionDoesNot() {
        assertThat(documented.shownBy(through(new java.io.FileNotFoundException(), "sample.Sample", "call", 11)))
                .containsExactly("Sample.call(int) IOException");
        assertThat(documented.shownBy(through(new ArithmeticException(), "sample.Sample", "call", 11))).isEmpty();
    }

    @Test
    void whatATestHasWrappedCountsAndWhatALibraryHasWrappedDoesNot() {
        java.io.IOException cause = through(new java.io.IOException(), "sample.Sample", "call", 11);
        java.io.UncheckedIOException wrapped = new java.io.UncheckedIOException(cause);

        assertThat(documented.shownBy(wrapped)).containsExactly("Sample.call(int) IOException");
        assertThat(documented.shownBy(through(new java.io.UncheckedIOException(cause), "sample.Sample", "run", 18)))
                .isEmpty();
    }
}
