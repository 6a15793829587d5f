package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.ofi4j.support.Forked;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Finding the library, and what it reads once. */
class LoadingTest {
    @Test
    void aMissingLibraryIsNamedWithThePlacesAndThePackage() {
        Forked.Result result = Forked.run(Loads.class, "-Dio.ofi4j.library=/nowhere/libfabric.so.1");

        assertThat(result.output()).contains("LibfabricNotFoundException", "/nowhere/libfabric.so.1",
                "io.ofi4j.library");
    }

    @Test
    void aFileThatIsNoLibraryIsSaidToBeThere() {
        Forked.Result result = Forked.run(Loads.class, "-Dio.ofi4j.library=/etc/passwd");

        assertThat(result.output()).contains("LibfabricNotFoundException", "there, but it cannot be loaded");
    }

    @Test
    void anotherLibraryIsSaidToBeNone() {
        Forked.Result result = Forked.run(Loads.class, "-Dio.ofi4j.library=libc.so.6");

        assertThat(result.output()).contains("LibfabricNotFoundException", "no libfabric", "io.ofi4j.library");
    }

    @Test
    void theVariablesGivenAtLoadingReachTheLibrary() {
        Forked.Result result = Forked.run(Loads.class, "FI_PROVIDER", "shm");

        assertThat(result.output()).contains("loaded libfabric").contains("providers [shm]");
    }

    @Test
    void theRegistrationCacheMonitorIsOffUnlessAskedFor() {
        assertThat(Forked.run(Loads.class).output()).contains("monitor disabled");
        assertThat(Forked.run(Loads.class, "FI_MR_CACHE_MONITOR", "userfaultfd").output())
                .contains("monitor userfaultfd");
    }

    @Test
    void variablesThatComeTooLateAreRefused() {
        Libfabric.load();

        assertThatIllegalStateException().isThrownBy(() -> Libfabric.load(Map.of("FI_PROVIDER", "shm")))
                .withMessageContaining("before any other method");
    }

    @ParameterizedTest
    @CsvSource({"A\0B,c", "A=B,c", "'',c", "A,b\0c"})
    void aVariableThatTheSystemWouldCutIsRefused(String name, String value) {
        assertThatIllegalArgumentException().isThrownBy(() -> Libfabric.load(Map.of(name, value)))
                .withMessageContaining("an environment variable has a name without '='");
    }

    /** Loads the library with a variable, if one is given, and says what it found. */
    static final class Loads {
        private Loads() {}

        public static void main(String[] arguments) {
            try {
                Libfabric libfabric = arguments.length == 0
                        ? Libfabric.load()
                        : Libfabric.load(Map.of(arguments[0], arguments[1]));
                System.out.println("loaded " + libfabric);
                System.out.println("providers " + libfabric.providers());
                libfabric.parameters().stream().filter(parameter -> parameter.name().equals("FI_MR_CACHE_MONITOR"))
                        .forEach(parameter -> System.out.println("monitor " + parameter.value().orElse("unset")));
            } catch (FabricException e) {
                System.out.println(e);
            }
        }
    }
}
