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
import io.ofi4j.info.VersionRange;
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
import java.util.stream.Collectors;
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
    @ValueSource(strings = {"unknown", "cxi", "psm3", "opx", "shm+tcp;ofi_lnx"})
    void ofAProviderThatNobodyHasTriedNothingIsAssumed(String name) {
        for (Version version : TestedVersions.ALL) {
            for (EndpointType type : new EndpointType[]{EndpointType.RDM, EndpointType.MSG}) {
                Quirks quirks = Quirks.of(provider(name, version, type));

                assertThat(quirks.facts()).isEmpty();
                assertThat(quirks.active()).isEmpty();
            }
        }
    }

    /** A name, and the tested versions for which the quirk is on. */
    private static final String ON = """
            shm-unopened-files 2.6
            shm-taken-names 1.17 2.1 2.6
            shm-users 1.17 2.1 2.6
            shm-room 1.17 2.1 2.6
            shm-absent-peers 1.17
            shm-own-peers 2.6
            shm-unknown-sources 1.17
            shm-names 1.17 2.1 2.6
            shm-neighbours 1.17 2.1 2.6
            shm-places 1.17 2.1 2.6
            shm-last-place 1.17
            shm-files 1.17 2.1 2.6
            shm-removed-peers 1.17 2.1 2.6
            shm-options 1.17 2.1 2.6
            shm-receive-options 1.17
            shm-empty-deliveries 1.17
            shm-order 1.17 2.1 2.6
            shm-long-messages 1.17 2.1 2.6
            shm-many-messages 1.17 2.1 2.6
            shm-untaken-messages 2.1
            shm-directed-receives 2.1 2.6
            shm-matching 1.17
            shm-atomic-data 1.17 2.1 2.6
            shm-device-copies 1.17 2.1 2.6
            shm-closed-regions 2.1 2.6
            tcp-passive-endpoints 1.17 2.1 2.6
            tcp-late-connections 1.17 2.1 2.6
            tcp-remote-counters 1.17 2.1 2.6
            tcp-directed-receives 1.17 2.1 2.6
            tcp-queue-domains 2.1 2.6
            tcp-connected-tags 2.1 2.6
            net-connected-tags 1.17
            tcp-service-insertions 2.1 2.6
            tcp-uncounted-regions 2.6
            tcp-event-reads 1.17
            tcp-reads-freed-twice 1.17
            net-close-without-vector 1.17
            net-descriptor 1.17
            rxm-write-counter 1.17 2.1 2.6
            rxm-wait-objects 1.17 2.1 2.6
            rxm-sources 1.17 2.1 2.6
            rxm-atomics 1.17 2.1 2.6
            rxm-atomics-in-polls 1.17 2.1 2.6
            rxm-close-without-vector 1.17 2.1 2.6
            rxm-discards 1.17 2.1 2.6
            rxm-verbs-claims 1.17
            rxm-many-messages 2.1 2.6
            rxm-directed-receives 2.1 2.6
            rxm-early-messages 2.1
            rxm-collectives 1.17 2.1 2.6
            rxm-half-received-writes 1.17 2.1 2.6
            rxm-departed-peers 1.17 2.1
            rxm-arrived-operations 1.17 2.1 2.6
            verbs-connections 1.17 2.1 2.6
            verbs-adapter 1.17 2.1 2.6
            siw-reads 1.17 2.1 2.6
            verbs-atomics 1.17 2.1
            verbs-floats 2.6
            siw-atomics 1.17 2.1 2.6
            verbs-rxm-progress 1.17 2.1 2.6
            variable-limits 1.17 2.1 2.6
            udp-joins 1.17 2.1 2.6
            sockets-places 1.17 2.1 2.6
            sockets-shutdown 1.17 2.1 2.6
            sockets-connects 1.17 2.1 2.6
            sockets-passive-endpoints 1.17 2.1 2.6
            util-counters 1.17 2.1 2.6
            sockets-counters 1.17 2.1 2.6
            sockets-symmetric 1.17 2.1 2.6
            sm2-options 2.1 2.6
            sm2-untaken-messages 2.1 2.6
            sm2-close-without-enable 2.1 2.6
            sm2-directed-receives 2.1 2.6
            sm2-lookups 2.1 2.6
            ucx-lookups 2.1 2.6
            ucx-insertions 2.1 2.6
            lnx-insertions 2.6
            lnx-endpoints 2.6
            lnx-segments 2.6
            sockets-unconnected-peers 2.6
            sockets-message-data 1.17 2.1 2.6
            sockets-shared-receives 1.17 2.1 2.6
            sockets-scalable-endpoints 1.17 2.1 2.6
            sockets-deferred-work 1.17 2.1 2.6
            rxd-messages 1.17 2.1 2.6
            rxd-claims 1.17 2.1 2.6
            rxd-many-messages 1.17 2.1 2.6
            rxd-reads 1.17 2.1 2.6
            rxd-lengths 1.17 2.1 2.6
            rxd-atomics 1.17 2.1 2.6
            rxd-counters 1.17 2.1 2.6
            rxd-addresses 1.17 2.1 2.6
            rxd-sources 1.17 2.1 2.6
            """;

    @Test
    void onATestedVersionTheQuirksAreOnThatItsTestsHaveShown() {
        String found = Quirks.known().stream()
                .map(quirk -> quirk.name()
                        + TestedVersions.ALL.stream().sorted().filter(quirk.description(true).versions()::contains)
                                .map(version -> " " + version).collect(Collectors.joining()))
                .filter(line -> line.contains(" ")).collect(Collectors.joining("\n", "", "\n"));

        assertThat(found).isEqualTo(ON);
    }

    @Test
    void betweenTestedVersionsTheQuirksOfBothAreOn() {
        for (Quirk quirk : Quirks.known()) {
            VersionRange versions = quirk.description(true).versions();
            for (Version between : List.of(new Version(1, 18), new Version(1, 22), new Version(2, 0))) {
                if (versions.contains(new Version(1, 17)) && versions.contains(new Version(2, 1))) {
                    assertThat(versions.contains(between)).as(quirk + " on " + between).isTrue();
                }
            }
        }
        assertThat(names("shm", new Version(2, 3))).contains("shm-names", "shm-unopened-files", "shm-closed-regions")
                .doesNotContain("shm-absent-peers", "shm-own-peers");
        assertThat(names("tcp", new Version(1, 22))).contains("tcp-passive-endpoints").doesNotContain("net-descriptor");
    }

    @Test
    void whatMainStillDoesIsOnForNewerVersions() {
        Version newer = new Version(3, 0);

        assertThat(names("shm", newer)).contains("shm-names", "shm-own-peers").doesNotContain("shm-last-place");
        assertThat(names("tcp;ofi_rxm", newer)).contains("rxm-atomics").doesNotContain("rxm-early-messages");
        assertThat(names("verbs;ofi_rxm", newer)).contains("verbs-adapter").doesNotContain("verbs-rxm-progress");
    }

    @Test
    void integersOf128BitsAreRefusedWhereTheProviderCalculatesThemInItsPackets() {
        assertThat(Quirks.of(provider("tcp;ofi_rxm", new Version(1, 15), EndpointType.RDM))
                .refusal(Fact.WIDE_ATOMICS_CRASH)).contains("128-bit integers over tcp;ofi_rxm of libfabric 1.15");
        assertThat(names("tcp;ofi_rxm", new Version(1, 17))).doesNotContain("rxm-wide-atomics");
    }

    @Test
    void floatsAreRefusedWhereTheProviderTakesThemForIntegers() {
        Version newer = new Version(2, 7);
        assertThat(Quirks.of(provider("verbs", newer, EndpointType.MSG)).refusal(Fact.ATOMICS_OF_FLOATS_BREAK))
                .contains("FLOAT and DOUBLE over verbs");
        assertThat(Quirks.of(provider("verbs;ofi_rxm", newer, EndpointType.RDM)).facts())
                .doesNotContain(Fact.ATOMICS_OF_FLOATS_BREAK);
    }

    @Test
    void functionsAreNotReplacedInVersionsThatNobodyHasTried() {
        assertThat(names("tcp;ofi_rxm", new Version(2, 7))).doesNotContain("rxm-half-received-writes",
                "rxm-arrived-operations");
        assertThat(names("verbs;ofi_rxm", new Version(2, 2))).doesNotContain("rxm-departed-peers");
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp", "net", "sockets", "tcp;ofi_rxm", "verbs;ofi_rxm", "udp;ofi_rxd"})
    void ofAVersionThatIsOlderOrNewerThanTheTestedOnesNoCallIsSaidToBeShort(String name) {
        for (Version version : List.of(new Version(1, 14), new Version(1, 16), new Version(2, 7), new Version(3, 0))) {
            assertThat(Quirks.of(provider(name, version, EndpointType.RDM)).facts()).doesNotContain(Fact.CRITICAL_POSTS,
                    Fact.CRITICAL_POLLS, Fact.BLOCKING_COUNTER_WAIT);
        }
    }

    @Test
    void betweenTestedVersionsCallsAreShortThatAreShortOnBoth() {
        Version between = new Version(2, 3);
        assertThat(Quirks.of(provider("shm", between, EndpointType.RDM)).facts()).contains(Fact.CRITICAL_POSTS,
                Fact.CRITICAL_POLLS);
        assertThat(Quirks.of(provider("shm", new Version(1, 22), EndpointType.RDM)).facts())
                .doesNotContain(Fact.CRITICAL_POSTS, Fact.CRITICAL_POLLS);
        assertThat(Quirks.of(provider("tcp", between, EndpointType.RDM)).facts()).contains(Fact.FLUSHES_IN_ORDER);
    }

    private static List<String> names(String provider, Version version) {
        return Quirks.of(provider(provider, version, EndpointType.RDM)).active().stream().map(Quirk::name).toList();
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
        for (String artifact : List.of("fabric", "conformance", "../examples/command")) {
            try (Stream<Path> files = Files.walk(Path.of("..", artifact, "src/test/java"))) {
                files.forEach(file -> tests.add(file.getFileName().toString().replace(".java", "")));
            }
        }
        assertThat(Quirks.known()).hasSizeGreaterThan(20).map(quirk -> quirk.description(true)).allSatisfy(quirk -> {
            assertThat(tests).contains(quirk.test());
            assertThat(quirk.upstream()).endsWith(".");
            assertThat(quirk.versions().contains(new Version(1, 14))).as("an unsupported version").isFalse();
        });
        assertThat(Quirks.known().stream().map(Quirk::name)).doesNotHaveDuplicates();
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#rma")
    void aLengthThatIsCutTo32BitsIsTooLong(String provider) {
        try (Pair pair = new Pair(provider)) {
            long promised = pair.endpoint.info().endpoint().maximumMessageSize();
            long taken = provider.endsWith(";ofi_rxd") ? Math.min(promised, 0xffff_ffffL) : promised;

            assertThat(pair.rma().maximumMessageSize()).isEqualTo(taken);
        }
    }

    @Test
    void anInfoTellsWhatIsOn() {
        FabricInfo info = TestProviders.info("shm");

        assertThat(info.quirks()).extracting(ProviderQuirk::name).contains("shm-neighbours", "shm-room");
        assertThat(info.quirks()).filteredOn(quirk -> quirk.name().equals("shm-room"))
                .allMatch(quirk -> quirk.isOn() == quirk.versions().contains(Libfabric.load().version()));
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
            pair.rma().write(here.slice(0, LENGTH), pair.far, there.remote(), 1);
            pair.awaitToken(1);
            Waiting.YIELD.until(() -> {
                pair.poll();
                return there.segment().mismatch(here.segment()) < 0;
            }, Pair.DEADLINE);
            here.segment().fill((byte) 0);
            pair.rma().read(here.slice(0, LENGTH), pair.far, there.remote(), 2);
            pair.awaitToken(2);
            boolean isRead = there.segment().mismatch(here.segment()) < 0;
            // closing both ends in one process is what some of the quirks are for
            Runtime.getRuntime().halt(isRead ? 0 : 3);
        }
    }
}
