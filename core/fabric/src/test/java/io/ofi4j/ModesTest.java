package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.internal.engine.DataReceiveCount;
import io.ofi4j.internal.engine.FoundInfo;
import io.ofi4j.internal.engine.MismatchReport;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.Forged;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.TestProviders;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A mode of fi_getinfo(3) is a promise of the application: an info is used only where this library keeps what it
 * demands.
 */
class ModesTest {
    private static FoundInfo demandingReceives(String provider) {
        FoundInfo info = FoundInfo.of(TestProviders.info(provider));
        return info.with(Forged.withMode(info.handle(), FabricConstants.FI_RX_CQ_DATA));
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void anUnconnectedProviderThatDemandsReceivesForDataIsNotOffered(String provider) {
        assertThat(DataReceiveCount.isLacking(demandingReceives(provider))).isTrue();
        assertThat(DataReceiveCount.isLacking(TestProviders.info(provider))).isFalse();
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void aConnectedEndpointPostsTheReceivesThatItsProviderDemands(String provider) {
        FabricInfo demanding = demandingReceives("MSG " + provider);

        assertThat(DataReceiveCount.isLacking(demanding)).isFalse();
        assertThat(DataReceiveCount.of(demanding)).isBetween(1, 64);
    }

    /** As verbs has datagrams: where there is a device, {@link VerbsLimitsTest} asks for them. */
    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#datagrams")
    void whatDemandsRoomBeforeMessagesIsRefusedByName(String provider) {
        Libfabric libfabric = Libfabric.load();
        FabricHints hints = TestProviders.hints(provider);
        Function<FabricHints, List<FabricInfo>> unprefixed = asked -> asked.endpointType() == EndpointType.DGRAM
                ? List.of()
                : libfabric.infoOrNothing(asked);

        assertThat(new MismatchReport(libfabric, unprefixed, asked -> true, hints).whyNothingMatches())
                .startsWith("Endpoints of type DGRAM of provider").contains("FI_MSG_PREFIX", "ofi4j does not keep");
        assertThat(new MismatchReport(libfabric, unprefixed, asked -> false, hints).whyNothingMatches())
                .startsWith("Endpoints of type DGRAM are not offered by provider");
    }
}
