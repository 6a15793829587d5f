package io.ofi4j.internal.quirks;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Waiting;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ProgressModel;
import io.ofi4j.info.ProviderQuirk;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.Version;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is known of which provider in which version, and how that is switched off. */
@Tag("gate")
class QuirksTest {
    private static Provider provider(String name, Version libfabric, EndpointType type) {
        return new Provider(name, libfabric, type, ThreadingModel.SAFE, ProgressModel.MANUAL, "device", "");
    }

    @ParameterizedTest
    @ValueSource(strings = {"unknown", "efa", "cxi", "psm3", "opx", "ucx", "shm+tcp;ofi_lnx"})
    void ofAProviderThatNobodyHasTriedNothingIsAssumed(String name) {
        for (Version version : Tested.ALL) {
            for (EndpointType type : new EndpointType[]{EndpointType.RDM, EndpointType.MSG}) {
                Quirks quirks = Quirks.of(provider(name, version, type));

                assertThat(quirks.facts()).isEmpty();
                assertThat(quirks.active()).isEmpty();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp", "net", "sockets", "tcp;ofi_rxm", "verbs;ofi_rxm", "udp;ofi_rxd"})
    void ofAVersionThatNobodyHasTriedNothingIsAssumed(String name) {
        for (Version version : new Version[]{new Version(1, 18), new Version(2, 0), new Version(2, 7),
                new Version(3, 0)}) {
            assertThat(Quirks.of(provider(name, version, EndpointType.RDM)).facts()).isEmpty();
        }
    }

    @Test
    void callsThatMayWaitForAnotherProcessOrCallBackAreNotCritical() {
        Version one = new Version(1, 17);
        Version two = new Version(2, 1);
        assertThat(Quirks.of(provider("shm", two, EndpointType.RDM)).facts()).contains(Fact.CRITICAL_POSTS,
                Fact.CRITICAL_POLLS);
        assertThat(Quirks.of(provider("shm", one, EndpointType.RDM)).facts()).doesNotContain(Fact.CRITICAL_POSTS,
                Fact.CRITICAL_POLLS);
        assertThat(Quirks.of(provider("tcp;ofi_rxm", two, EndpointType.RDM)).facts())
                .doesNotContain(Fact.CRITICAL_POSTS, Fact.CRITICAL_POLLS);
        assertThat(Quirks.of(provider("sockets", two, EndpointType.RDM)).facts()).doesNotContain(Fact.CRITICAL_POSTS,
                Fact.CRITICAL_POLLS);
        assertThat(Quirks.of(provider("verbs;ofi_rxm", one, EndpointType.RDM)).facts())
                .doesNotContain(Fact.CRITICAL_POSTS);
        assertThat(Quirks.of(provider("tcp", two, EndpointType.RDM)).facts()).contains(Fact.CRITICAL_POSTS)
                .doesNotContain(Fact.CRITICAL_POLLS);
    }

    @Test
    void everyQuirkNamesATestThatThereIs() throws IOException {
        Set<String> tests = new HashSet<>();
        for (String artifact : List.of("fabric", "conformance")) {
            try (Stream<Path> files = Files.walk(Path.of("..", artifact, "src/test/java"))) {
                files.forEach(file -> tests.add(file.getFileName().toString().replace(".java", "")));
            }
        }
        assertThat(Quirks.known()).hasSizeGreaterThan(20).map(quirk -> quirk.description(true)).allSatisfy(quirk -> {
            assertThat(tests).contains(quirk.test());
            assertThat(quirk.upstream()).endsWith(".");
            assertThat(Tested.ALL).containsAll(quirk.versions());
        });
        assertThat(Quirks.known().stream().map(Quirk::name)).doesNotHaveDuplicates();
    }

    @Test
    void anInfoTellsWhatIsOn() {
        FabricInfo info = TestProviders.info("shm");
        boolean isTested = Tested.ALL.contains(Libfabric.load().version());

        assertThat(info.quirks()).extracting(ProviderQuirk::name).contains("shm-neighbours", "shm-room");
        assertThat(info.quirks()).filteredOn(quirk -> quirk.name().equals("shm-room"))
                .allMatch(quirk -> quirk.isOn() == isTested);
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void withoutQuirksTransfersWorkAsInAPlainProgram(String provider) {
        Forked.Result result = Forked.run(Transfers.class, "-D" + Quirks.PROPERTY + "=none", provider);

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("on: []");
    }

    @Test
    void someQuirksAreChosenByName() {
        Forked.Result result = Forked.run(Transfers.class, "-D" + Quirks.PROPERTY + "=shm-room,shm-files", "shm");

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("on: [shm-room, shm-files]");
    }

    @Test
    void aQuirkThatThereIsNotIsRefusedByName() {
        Forked.Result result = Forked.run(Transfers.class, "-D" + Quirks.PROPERTY + "=shm-rooms", "shm");

        assertThat(result.exit()).isNotZero();
        assertThat(result.output()).contains("shm-rooms", "does not exist", "shm-room,");
    }

    static final class Transfers {
        private static final int LENGTH = 4096;

        private Transfers() {}

        public static void main(String[] arguments) {
            Pair pair = new Pair(arguments[0]);
            System.out.println("on: " + pair.domain.info().quirks().stream().filter(ProviderQuirk::isOn)
                    .map(ProviderQuirk::name).toList());
            MemoryRegion here = pair.domain.allocate(LENGTH, Access.WRITE, Access.READ);
            MemoryRegion there = pair.domain.allocate(LENGTH, Access.REMOTE_WRITE, Access.REMOTE_READ);
            here.segment().fill((byte) 7);
            pair.rma().write(here, 0, LENGTH, pair.far, there.remote(), 0, 1);
            pair.awaitToken(1);
            Waiting.YIELD.until(() -> {
                pair.poll();
                return there.segment().mismatch(here.segment()) < 0;
            }, Pair.DEADLINE);
            here.segment().fill((byte) 0);
            pair.rma().read(here, 0, LENGTH, pair.far, there.remote(), 0, 2);
            pair.awaitToken(2);
            boolean isRead = there.segment().mismatch(here.segment()) < 0;
            // closing both ends in one process is what some of the quirks are for
            Runtime.getRuntime().halt(isRead ? 0 : 3);
        }
    }
}
