package io.ofi4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Walks the table of misuses of the verbs path; each is a named exception, and what it was committed on works
 * afterwards.
 */
@Timeout(600)
class VerbsMisuseTableTest {
    private static final int LEAST = 100;

    static Stream<VerbsMisuse> ofValues() { return VerbsMisuseOfValues.cases(); }

    private static List<VerbsMisuse> onDevices() {
        return Stream.concat(VerbsMisuseOfObjects.cases(), VerbsMisuseOfWork.cases()).toList();
    }

    @AfterAll
    static void theKernelHasNotFailed() throws IOException { KernelLog.requireNoFailure(); }

    @ParameterizedTest
    @MethodSource("ofValues")
    void isANamedExceptionWithoutADevice(VerbsMisuse misuse) { misuse.commit(null); }

    /** All on one link, which a misuse that reached the device would end. */
    @Test
    void eachOnADeviceIsANamedException() throws Exception {
        VerbsLink.addresses();
        List<String> otherwise = new ArrayList<>();
        try (VerbsMisuseStage stage = new VerbsMisuseStage()) {
            DeviceAttributes attributes = stage.near.context.attributes();
            assumeTrue(attributes.capabilities().contains(DeviceCapability.MEM_WINDOW_TYPE_2B),
                    "the device has no memory windows");
            for (VerbsMisuse misuse : onDevices()) {
                try {
                    misuse.commit(stage);
                } catch (AssertionError e) {
                    otherwise.add(e.getMessage());
                }
                try {
                    stage.requireWorking();
                } catch (AssertionError | RuntimeException e) {
                    throw new AssertionError("after: " + misuse + "; before: " + otherwise, e);
                }
            }
        }
        assertThat(otherwise).isEmpty();
    }

    @Test
    void thereAreManyAndNoneTwice() {
        List<String> names = Stream.concat(ofValues(), onDevices().stream()).map(VerbsMisuse::name).toList();
        assertThat(names).hasSizeGreaterThanOrEqualTo(LEAST).doesNotHaveDuplicates();
        assertThat(ofValues().count()).isGreaterThan(20);
    }
}
