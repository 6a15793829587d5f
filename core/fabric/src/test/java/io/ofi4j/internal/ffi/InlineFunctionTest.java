package io.ofi4j.internal.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each inline function calls the entry that the C headers of this machine say. */
class InlineFunctionTest {
    private static final Path HEADERS = Path.of("/usr/include/rdma");
    /** Those that the headers call otherwise: one of several with the same body, and one that calls another. */
    private static final Map<String, String> OTHERWISE = Map.of("bind", "fi_ep_bind", "fi_join_collective", "fi_join");
    /** Those that headers of 1.17 lack. Where a libfabric lacks one, its table is shorter. */
    private static final Set<String> NEWER = Set.of("fi_av_set_user_id");
    /** Such as {@code ep->rma->write(}, or {@code mr->fid.ops->bind(}. */
    private static final Pattern CALL = Pattern.compile("(\\w+)->(fid\\.)?(\\w+)->(\\w+)\\(");

    private static String headers;

    @BeforeAll
    static void read() throws IOException {
        NativeLibrary.ensureLoaded(); // which the structs' classes expect
        try (Stream<Path> files = Files.list(HEADERS)) {
            StringBuilder all = new StringBuilder();
            for (Path file : files.filter(one -> one.getFileName().toString().matches("(fabric|fi_\\w+)\\.h"))
                    .toList()) {
                all.append(Files.readString(file));
            }
            headers = all.toString();
        }
    }

    @ParameterizedTest
    @EnumSource
    void callsTheEntryThatTheHeadersSay(InlineFunction function) throws ReflectiveOperationException {
        String name = OTHERWISE.getOrDefault(function.name(), function.name());
        assumeTrue(!NEWER.contains(name) || headers.contains(name + "("), name + " is newer than these headers");
        MatchResult inline = inHeaders(
                "static inline\\s[^;{}]*?\\b" + name + "\\s*\\(\\s*([^)]*)\\)\\s*\\{(.*?)\\n\\}");
        Matcher call = CALL.matcher(inline.group(2));
        assertThat(call.find()).as(inline.group()).isTrue();
        String object = call.group(2) != null ? "fid" : structOf(call.group(1), inline);
        String table = inHeaders("struct " + object + " \\{[^}]*struct (fi_ops\\w*)\\s*\\*" + call.group(3) + ";")
                .group(1);

        assertThat(function.table).isEqualTo(offset(object, call.group(3)));
        assertThat(function.entry).isEqualTo(offset(table, call.group(4)));
    }

    /** Of a parameter, or of a variable that is set with {@code container_of}. */
    private static String structOf(String variable, MatchResult inline) {
        Matcher declared = Pattern.compile("struct (fid\\w*) \\*" + variable + "\\b")
                .matcher(inline.group(2) + inline.group(1));
        return declared.find() ? declared.group(1) : fail(inline.group());
    }

    private static MatchResult inHeaders(String pattern) {
        Matcher found = Pattern.compile(pattern, Pattern.DOTALL).matcher(headers);
        return found.find() ? found.toMatchResult() : fail("the headers have no " + pattern);
    }

    private static long offset(String struct, String field) throws ReflectiveOperationException {
        return (long) Class.forName("io.ofi4j.bindings." + struct).getMethod(field + "$offset").invoke(null);
    }
}
