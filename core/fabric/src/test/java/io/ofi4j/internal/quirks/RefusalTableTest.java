package io.ofi4j.internal.quirks;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.info.EndpointType;
import io.ofi4j.info.ProgressModel;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.Version;
import io.ofi4j.info.VersionRange;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The table of refusals in core/guide/REFUSALS.md says what the facts say; {@code -Dofi4j.refusals.write=true} writes
 * it anew.
 */
class RefusalTableTest {
    private static final Path DOCUMENT = Path.of("../guide/REFUSALS.md");
    private static final String BEGIN = "<!-- refusals: generated from the facts -->\n";
    private static final String END = "<!-- end of refusals -->\n";
    private static final String SOFT_IWARP = "0x626d74";

    /**
     * A way to use a provider.
     *
     * @param label what the table says
     * @param plain the label of the way that it adds something to, or null
     * @param versions those of libfabric that have it
     * @param provider with any version
     */
    private record Use(String label, String plain, VersionRange versions, Provider provider) {
        Use(String name, VersionRange versions, EndpointType type) {
            this("`" + name + "`" + (type == EndpointType.RDM ? "" : " " + type), null, versions,
                    provider(name, type, ThreadingModel.SAFE, ProgressModel.MANUAL, ""));
        }

        private static Provider provider(String name, EndpointType type, ThreadingModel threading,
                ProgressModel progress, String vendor) {
            return new Provider(name, new Version(0, 0), type, threading, progress, "", vendor);
        }

        Use with(String more, ThreadingModel threading, ProgressModel progress, String vendor) {
            return new Use(label + " " + more, label, versions,
                    provider(provider.name(), provider.type(), threading, progress, vendor));
        }

        /** The releases that have it. */
        List<Version> releases() {
            return RELEASES.stream().filter(versions::contains).toList();
        }

        /** The releases that have it and in which the fact is known. */
        List<Version> knowing(Fact fact) {
            return releases().stream()
                    .filter(version -> Quirks.of(new Provider(provider.name(), version, provider.type(),
                            provider.threading(), provider.dataProgress(), provider.device(), provider.vendor()))
                            .has(fact))
                    .toList();
        }
    }

    /** Stands for what comes after the newest release. */
    private static final Version NEWER = new Version(Short.MAX_VALUE, 0);
    private static final List<Version> RELEASES = Stream
            .of(IntStream.rangeClosed(15, 22).mapToObj(minor -> new Version(1, minor)),
                    IntStream.rangeClosed(0, 6).mapToObj(minor -> new Version(2, minor)), Stream.of(NEWER))
            .flatMap(releases -> releases).toList();

    private static final List<Use> USES = uses();

    private static List<Use> uses() {
        VersionRange all = VersionRange.from(1, 15);
        VersionRange ofNet = VersionRange.from(1, 16).to(1, 17);
        Use tcp = new Use("tcp", VersionRange.from(1, 18), EndpointType.RDM);
        Use verbsRxm = new Use("verbs;ofi_rxm", all, EndpointType.RDM);
        Use verbs = new Use("verbs", all, EndpointType.MSG);
        return List.of(new Use("shm", all, EndpointType.RDM), new Use("tcp;ofi_rxm", all, EndpointType.RDM),
                new Use("net", ofNet, EndpointType.RDM), tcp,
                tcp.with("with `COMPLETION`", ThreadingModel.COMPLETION, ProgressModel.MANUAL, ""),
                new Use("sockets", all, EndpointType.RDM), new Use("udp;ofi_rxd", all, EndpointType.RDM),
                new Use("tcp", all, EndpointType.MSG), new Use("net", ofNet, EndpointType.MSG),
                new Use("sockets", all, EndpointType.MSG), new Use("udp", all, EndpointType.DGRAM),
                new Use("sockets", all, EndpointType.DGRAM), verbsRxm,
                verbsRxm.with("on Soft-iWARP", ThreadingModel.SAFE, ProgressModel.MANUAL, SOFT_IWARP), verbs,
                verbs.with("on Soft-iWARP", ThreadingModel.SAFE, ProgressModel.MANUAL, SOFT_IWARP),
                new Use("sm2", VersionRange.from(1, 18), EndpointType.RDM),
                new Use("ucx", VersionRange.from(1, 18), EndpointType.RDM),
                new Use("lnx", VersionRange.from(2, 0), EndpointType.RDM));
    }

    @Test
    void theTableSaysWhatTheFactsSay() throws IOException {
        String text = Files.readString(DOCUMENT);
        int begin = text.indexOf(BEGIN) + BEGIN.length();
        int end = text.indexOf(END, begin);
        String table = "\n" + table() + "\n";
        if (Boolean.getBoolean("ofi4j.refusals.write")) {
            Files.writeString(DOCUMENT, text.substring(0, begin) + table + text.substring(end));
            return;
        }

        assertThat(text.substring(begin, end)).as("the table of refusals; -Dofi4j.refusals.write=true writes it anew")
                .isEqualTo(table);
    }

    @Test
    void everyRefusalIsOfAProviderAndReadsAsASentence() {
        for (Fact fact : EnumSet.allOf(Fact.class)) {
            Refusal refusal = fact.refusal();
            if (refusal == null) { continue; }
            assertThat(where(fact)).as("where " + fact + " is known").isNotEmpty();
            assertThat(List.of(refusal.what(), refusal.why(), refusal.instead())).allSatisfy(
                    words -> assertThat(words).doesNotEndWith(".").doesNotContain("|").matches("(?s)\\S.*\\S"));
        }
    }

    @Test
    void whatIsNotKnownIsNotRefused() {
        Quirks unknown = Quirks
                .of(Use.provider("unknown", EndpointType.RDM, ThreadingModel.SAFE, ProgressModel.AUTO, ""));

        Stream.of(Fact.values()).filter(fact -> fact.refusal() != null).forEach(fact -> {
            assertThat(unknown.refusal(fact)).isNull();
            unknown.require(fact);
        });
    }

    private static String table() {
        String head = "| ofi4j refuses | because the provider | instead | where |\n| --- | --- | --- | --- |\n";
        return Stream.of(Fact.values()).filter(fact -> fact.refusal() != null).map(fact -> {
            Refusal refusal = fact.refusal();
            return "| " + String.join(" | ", refusal.what(), refusal.why(), refusal.instead(), where(fact)) + " |\n";
        }).collect(Collectors.joining("", head, ""));
    }

    /** A use is not named where the plain one, to which it adds something, has the fact in the same versions. */
    private static String where(Fact fact) {
        List<String> places = new ArrayList<>();
        for (Use use : USES) {
            List<Version> versions = use.knowing(fact);
            boolean isPlainToo = USES.stream().anyMatch(
                    plain -> Objects.equals(plain.label(), use.plain()) && plain.knowing(fact).equals(versions));
            if (versions.isEmpty() || isPlainToo) { continue; }
            boolean isAll = versions.equals(use.releases());
            places.add(use.label() + (isAll ? "" : " (" + ranges(versions) + ")"));
        }
        return String.join(", ", places);
    }

    /** In words: runs of releases that follow each other. */
    private static String ranges(List<Version> versions) {
        List<String> ranges = new ArrayList<>();
        for (Version first : versions) {
            int start = RELEASES.indexOf(first);
            if (start > 0 && versions.contains(RELEASES.get(start - 1))) { continue; }
            int end = start;
            while (end + 1 < RELEASES.size() && versions.contains(RELEASES.get(end + 1))) {
                end++;
            }
            Version last = RELEASES.get(end);
            VersionRange open = VersionRange.from(first.major(), first.minor());
            ranges.add((last == NEWER ? open : open.to(last.major(), last.minor())).toString());
        }
        return String.join(", ", ranges);
    }
}
