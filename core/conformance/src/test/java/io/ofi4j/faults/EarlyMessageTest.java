package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.TestProviders;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A message that comes before its receive. */
@Tag("gate")
@Timeout(600)
class EarlyMessageTest {
    static Stream<Arguments> families() {
        return TestProviders.rma()
                .flatMap(provider -> Stream.of("MSG", "TAGGED").map(family -> Arguments.of(provider, family)));
    }

    @ForEachProvider
    @MethodSource("families")
    void aPeerIsInsertedWhileAMessageWaitsForItsReceive(String provider, String family) {
        Forked.Result result = Forked.run(EarlyMessage.class, provider, family);

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("received [2]");
    }
}
