package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.Parameter;
import io.ofi4j.info.ProgressModel;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.TestProviders;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What is found, and what is said when nothing is. */
class MismatchReportTest {
    private final Libfabric libfabric = Libfabric.load();

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void everySoftwareProviderIsFoundAndDescribed(String provider) {
        FabricInfo info = TestProviders.info(provider);

        assertThat(info.provider()).isEqualTo(provider);
        assertThat(info.endpoint().type()).isEqualTo(EndpointType.RDM);
        assertThat(info.capabilities()).contains(Capability.RMA, Capability.READ, Capability.WRITE,
                Capability.REMOTE_READ, Capability.REMOTE_WRITE);
        assertThat(info.domain().threading()).isEqualTo(ThreadingModel.SAFE);
        assertThat(info.transmit().injectSize()).isPositive();
        assertThat(info.transmit().size()).isPositive();
        assertThat(info.endpoint().maximumMessageSize()).isGreaterThan(1 << 20);
        assertThat(info.details()).contains("fi_info", provider);
        assertThat(libfabric.providers()).contains(provider);
    }

    @ParameterizedTest
    @EnumSource(value = ThreadingModel.class, names = {"SAFE", "DOMAIN", "COMPLETION"})
    void theThreadingModelThatWasAskedForIsGiven(ThreadingModel model) {
        assertThat(TestProviders.info(TestProviders.hints("shm").threading(model)).domain().threading())
                .isEqualTo(model);
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void manualProgressCanBeAskedOfEveryProvider(String provider) {
        FabricHints hints = TestProviders.hints(provider).dataProgress(ProgressModel.MANUAL);

        assertThat(TestProviders.info(hints).domain().dataProgress()).isNotEqualTo(ProgressModel.UNSPECIFIED);
    }

    @Test
    void anUnknownProviderIsAnsweredWithThoseThereAre() {
        assertThatThrownBy(() -> libfabric.info(FabricHints.rma().provider("carrier-pigeon")))
                .isInstanceOf(NoProviderException.class).hasMessageContaining("'carrier-pigeon'")
                .hasMessageContaining("shm").hasMessageContaining("sockets");
    }

    @Test
    void anUnknownDomainIsAnsweredWithThoseThereAre() {
        assertThatThrownBy(() -> libfabric.info(FabricHints.rma().provider("tcp;ofi_rxm").domain("mlx5_0")))
                .isInstanceOf(NoProviderException.class).hasMessageContaining("'mlx5_0'").hasMessageContaining("lo");
    }

    @Test
    void anUnknownFabricIsAnsweredWithThoseThereAre() {
        assertThatThrownBy(() -> libfabric.info(FabricHints.rma().provider("shm").fabric("10.9.8.0/24")))
                .isInstanceOf(NoProviderException.class).hasMessageContaining("'10.9.8.0/24'")
                .hasMessageContaining("shm");
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void whatOnlyDevicesHaveIsRefusedByName(String provider) {
        FabricHints hints = TestProviders.hints(provider).capabilities(Capability.RMA, Capability.SOURCE_ERR);

        assertThatThrownBy(() -> libfabric.info(hints)).isInstanceOf(NoProviderException.class)
                .hasMessageContaining("[SOURCE_ERR]");
        assertThat(TestProviders.info(provider).domain().authorizationKeySize()).isZero();
    }

    @Test
    void aTypeThatAProviderLacksIsAnsweredWithThoseItHas() {
        assertThatThrownBy(() -> libfabric.info(FabricHints.any().provider("shm").endpointType(EndpointType.MSG)))
                .isInstanceOf(NoProviderException.class).hasMessageContaining("MSG").hasMessageContaining("RDM");
    }

    @Test
    void aCapabilityThatAProviderLacksIsNamed() {
        assertThatThrownBy(() -> libfabric
                .info(FabricHints.rma().provider("shm").capabilities(Capability.RMA, Capability.RMA_PMEM)))
                .isInstanceOf(NoProviderException.class).hasMessageContaining("[RMA_PMEM]")
                .hasMessageContaining("it has");
    }

    @Test
    void aSourceAddressThatNothingMatchesIsNamed() {
        assertThatThrownBy(
                () -> libfabric.info(FabricHints.rma().provider("tcp;ofi_rxm").source("127.0.0.1", "no-such-service")))
                .isInstanceOf(NoProviderException.class)
                .hasMessageContaining("the source address 127.0.0.1:no-such-service");
    }

    @Test
    void aHostThatIsNotKnownIsNamed() {
        assertThatThrownBy(
                () -> libfabric.info(FabricHints.rma().provider("tcp;ofi_rxm").source("nowhere.invalid", null)))
                .isInstanceOf(NoProviderException.class)
                .hasMessage("The host 'nowhere.invalid' is not known: is its name right?");
    }

    @Test
    void anAddressOfIpv6MayBeInBrackets() {
        assumeTrue(Files.exists(Path.of("/proc/net/if_inet6")), "this machine has no IPv6");

        assertThat(libfabric.info(FabricHints.rma().provider("tcp;ofi_rxm").source("[::1]", null))).isNotEmpty();
    }

    @Test
    @Tag("gate")
    void aProviderThatTheEnvironmentLeavesOutIsAnsweredWithTheVariable() {
        Forked.Result result = Forked.startBehind(List.of("env", "FI_PROVIDER=sockets"), AsksForShm.class).await();

        assertThat(result.output()).contains("No provider 'shm' can be used on this machine;", "has sockets. "
                + "FI_PROVIDER in the environment is 'sockets', and may leave it out: unset FI_PROVIDER, or name the"
                + " provider there.");
    }

    static final class AsksForShm {
        private AsksForShm() {}

        public static void main(String[] arguments) { Libfabric.load().info(FabricHints.rma().provider("shm")); }
    }

    @Test
    void numbersHaveTheNamesThatLibfabricGivesThem() {
        assertThat(TestProviders.info("tcp;ofi_rxm").addressFormatName()).isEqualTo("SOCKADDR_IN");
        assertThat(TestProviders.info("tcp;ofi_rxm").protocolName()).isEqualTo("RXM");
        assertThat(TestProviders.info("shm").addressFormatName()).isEqualTo("ADDR_STR");
        assertThat(TestProviders.info("shm").protocolName()).isEqualTo("SHM");
    }

    @Test
    void namesThatAreNoneAreRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> FabricHints.rma().provider(""));
        assertThatIllegalArgumentException().isThrownBy(() -> FabricHints.rma().domain("a\0b"));
    }

    @Test
    void hintsAreCopiedNotChanged() {
        FabricHints rma = FabricHints.rma();
        FabricHints shm = rma.provider("shm");

        assertThat(rma.provider()).isEmpty();
        assertThat(shm.provider()).contains("shm");
    }

    @Test
    void parametersAreListedWithTheirHelp() {
        List<Parameter> parameters = libfabric.parameters();

        assertThat(parameters).anySatisfy(parameter -> {
            assertThat(parameter.name()).isEqualTo("FI_PROVIDER");
            assertThat(parameter.help()).isNotEmpty();
        });
    }
}
