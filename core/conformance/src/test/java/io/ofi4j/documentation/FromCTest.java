package io.ofi4j.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The page for people who come from C: its programs are all of fabtests, and what it names is there. */
@Tag("once")
class FromCTest {
    private static final Path ROOT = Path.of("../..");
    private static final Path PAGE = ROOT.resolve("core/guide/FROM-C.md");
    private static final List<String> PACKAGES = List.of("io.ofi4j.", "io.ofi4j.info.", "io.ofi4j.util.",
            "io.ofi4j.job.");
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final Pattern MEMBER = Pattern.compile("([A-Z][A-Za-z]+)(?:\\.([A-Za-z_]+))?");
    private static final Pattern TEST = Pattern.compile("[A-Z][A-Za-z]+Test");

    /** Of the Makefile.am of 1.17, 2.1 and 2.6; those whose names only got another spelling have the new one. */
    private static final Set<String> PROGRAMS = Set.of("""
            fi_av_test fi_av_xfer fi_bw fi_check_hmem fi_cm_data fi_cntr_test fi_cq_data fi_cq_test fi_dgram
            fi_dgram_pingpong fi_dgram_waitset fi_dom_test fi_eq_test fi_flood fi_getinfo_test fi_inject_test
            fi_loopback fi_mcast fi_mr_cache_evict fi_mr_test fi_msg fi_msg_bw fi_msg_epoll fi_msg_inject
            fi_msg_pingpong fi_msg_sockets fi_multi_ep fi_multi_mr fi_multi_recv fi_multinode fi_multinode_coll fi_poll
            fi_rdm fi_rdm_atomic fi_rdm_bw fi_rdm_bw_mt fi_rdm_cntr_pingpong fi_rdm_deferred_wq fi_rdm_multi_client
            fi_rdm_multi_domain fi_rdm_pingpong fi_rdm_rma_event fi_rdm_rma_trigger fi_rdm_shared_av fi_rdm_stress
            fi_rdm_tagged_bw fi_rdm_tagged_peek fi_rdm_tagged_pingpong fi_recv_cancel fi_resmgmt_test fi_rma_bw
            fi_rma_pingpong fi_rma_tx_completion fi_scalable_ep fi_setopt_test fi_shared_ctx fi_stream_msg
            fi_ubertest fi_unexpected_msg fi_unmap_mem sighandler_test sock_test
            cuda_check_dmabuf fi_xe_mr_reg fi_xe_rdmabw xe_memcopy xe_mr_reg xe_rdmabw
            """.split("\\s+"));

    /** The cells of each row of the tables between two headings. */
    private static List<String[]> rows(String from, String to) throws IOException {
        String page = Files.readString(PAGE);
        String part = page.substring(page.indexOf("\n## " + from),
                to == null ? page.length() : page.indexOf("\n## " + to));
        return part.lines().filter(line -> line.startsWith("| ") && !line.startsWith("| ---"))
                .map(line -> line.substring(1, line.length() - 1).split("\\|", -1)).toList();
    }

    private static Stream<String> codes(String cell) {
        return CODE.matcher(cell).results().map(found -> found.group(1));
    }

    @Test
    void itsProgramsAreThoseOfFabtests() throws IOException {
        Set<String> named = rows("Benchmarks", "Why some refuse").stream().flatMap(row -> codes(row[0]))
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(named).containsExactlyInAnyOrderElementsOf(PROGRAMS);
        assertThat(rows("Why some refuse", null).stream().flatMap(row -> codes(row[0]))).isSubsetOf(PROGRAMS);
    }

    @Test
    void itsMembersAreThere() throws IOException {
        List<String> missing = rows("What is different everywhere", null).stream().flatMap(row -> codes(row[1]))
                .filter(code -> MEMBER.matcher(code).matches() && !isThere(code)).toList();

        assertThat(missing).isEmpty();
    }

    private static boolean isThere(String code) {
        MatchResult parts = MEMBER.matcher(code).results().findFirst().orElseThrow();
        Optional<Class<?>> type = PACKAGES.stream().<Class<?>>mapMulti((name, found) -> {
            try {
                found.accept(Class.forName(name + parts.group(1)));
            } catch (ClassNotFoundException e) {
                return; // in another package
            }
        }).findFirst();
        String member = parts.group(2);
        return type.isPresent() && Modifier.isPublic(type.get().getModifiers())
                && (member == null
                        || Stream.concat(Arrays.stream(type.get().getMethods()), Arrays.stream(type.get().getFields()))
                                .anyMatch(one -> one.getName().equals(member)));
    }

    @Test
    void itsTestsAreThere() throws IOException {
        Set<String> classes;
        try (Stream<Path> files = Stream.of("core", "examples").map(ROOT::resolve).flatMap(FromCTest::walk)) {
            classes = files.map(file -> file.getFileName().toString().replace(".java", "")).collect(Collectors.toSet());
        }
        List<String> named = rows("Benchmarks", "Why some refuse").stream().filter(row -> row.length > 2)
                .flatMap(row -> codes(row[2])).toList();

        assertThat(named).allMatch(name -> TEST.matcher(name).matches()).isSubsetOf(classes);
    }

    @Test
    void itsTestsUseTheMembersBesideThem() throws IOException {
        Map<String, String> sources = new HashMap<>();
        try (Stream<Path> files = Stream.of("core", "examples").map(ROOT::resolve).flatMap(FromCTest::walk)) {
            for (Path file : files.toList()) {
                sources.put(file.getFileName().toString().replace(".java", ""), Files.readString(file));
            }
        }
        List<String> unused = new ArrayList<>();
        for (String[] row : rows("Benchmarks", "Why some refuse")) {
            List<String> tests = codes(row[2]).toList();
            if (tests.isEmpty()) { continue; }
            String text = tests.stream().map(sources::get).collect(Collectors.joining("\n"));
            codes(row[1]).filter(code -> MEMBER.matcher(code).matches()).filter(
                    code -> !Pattern.compile("\\b" + code.replaceFirst(".*\\.", "") + "\\b").matcher(text).find())
                    .forEach(code -> unused.add(code + " in none of " + tests));
        }

        assertThat(unused).isEmpty();
    }

    private static Stream<Path> walk(Path folder) {
        try {
            return Files.walk(folder).filter(file -> file.toString().contains("src/test/java")
                    && file.getFileName().toString().endsWith("Test.java"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
