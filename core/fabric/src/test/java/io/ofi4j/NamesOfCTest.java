package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.bindings.fabric_h;
import io.ofi4j.info.AddressFormat;
import io.ofi4j.info.AddressVectorType;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Collective;
import io.ofi4j.info.CompletionFlags;
import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.CompletionOrder;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.DeviceInterface;
import io.ofi4j.info.DevicePeerToPeer;
import io.ofi4j.info.Direction;
import io.ofi4j.info.EndpointOption;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.MemoryRegionMode;
import io.ofi4j.info.MessageOrder;
import io.ofi4j.info.NetworkDevice;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.ProgressModel;
import io.ofi4j.info.Protocol;
import io.ofi4j.info.ResourceManagement;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.TrafficClass;
import io.ofi4j.info.WaitObject;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.ToLongFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Every constant, every function and every field of attributes of libfabric's headers is reached by core, or is in the
 * list of those left out, with a reason. The headers are those of the generated bindings (2.1) and the newest ones, of
 * which a list of names is beside this test.
 */
@Tag("once")
class NamesOfCTest {
    private static final Path SOURCES = Path.of("../fabric/src/main/java");
    private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/|//[^\\n]*", Pattern.DOTALL);
    private static final Path BINDINGS = Path.of("../../bindings/fabric/src/main/java/io/ofi4j/bindings");
    private static final Path HINTS = SOURCES.resolve("io/ofi4j/internal/ffi/Hints.java");
    private static final Pattern WORD = Pattern.compile("\\bf[iI]_\\w+|\\bFI_\\w+");
    /** The structs that an application fills or reads; those of operations and of objects are below them. */
    private static final Pattern ATTRIBUTES = Pattern.compile("(fi_\\w+_attr|fi_info|fi_param|fid_nic)\\.java");
    private static final Pattern HINTED = Pattern.compile("fi_(info|(domain|ep|tx|rx|fabric)_attr)\\..*");
    private static final Pattern FIELD = Pattern.compile("(\\w+)\\$offset\\(\\)");
    private static final Pattern USE = Pattern.compile("\\b(?:fi_\\w+_attr|fi_info|fi_param|fid_nic)\\.\\w+");
    private static final Pattern WRITE = Pattern.compile(USE + "(?=\\(\\w+(?:\\.\\w+\\(\\))?, )");
    private static final String IN_HINTS = " in hints";

    /** Names that Java's constants have in C, with their numbers. */
    private static final Map<String, Long> CONSTANTS = new HashMap<>();
    private static Set<String> headers;
    /** The fields of attributes that the code of core reads or writes, and those of hints that it writes. */
    private static final Set<String> FIELDS = new TreeSet<>();
    /** The names in the code of core: a comment reaches nothing. */
    private static Set<String> inCode;

    @BeforeAll
    static void read() throws IOException, IllegalAccessException {
        Libfabric.load();
        addConstants();
        headers = new TreeSet<>(lines("names-2.6.txt"));
        bound().forEach(method -> headers.add(method.getName()));
        addFields();
        StringBuilder text = new StringBuilder();
        try (Stream<Path> files = Files.walk(SOURCES)) {
            for (Path file : files.filter(one -> one.toString().endsWith(".java")).toList()) {
                text.append(Files.readString(file)).append('\n');
            }
        }
        String code = COMMENT.matcher(text).replaceAll(" ");
        inCode = WORD.matcher(code).results().map(found -> found.group()).collect(Collectors.toSet());
        USE.matcher(code).results().forEach(found -> FIELDS.add(found.group()));
        Stream.of(HINTS, HINTS.resolveSibling("InfoHandle.java")).map(NamesOfCTest::text)
                .flatMap(hints -> WRITE.matcher(hints).results())
                .forEach(found -> FIELDS.add(found.group() + IN_HINTS));
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Adds each field of an attribute, such as {@code fi_cq_attr.size}, and each of an info once more, in hints. */
    private static void addFields() throws IOException {
        try (Stream<Path> files = Files.list(BINDINGS)) {
            for (Path file : files.filter(one -> ATTRIBUTES.matcher(one.getFileName().toString()).matches()).toList()) {
                String struct = file.getFileName().toString().replace(".java", ".");
                FIELD.matcher(Files.readString(file)).results().map(found -> struct + found.group(1))
                        .forEach(headers::add);
            }
        }
        headers.addAll(
                headers.stream().filter(name -> HINTED.matcher(name).matches()).map(name -> name + IN_HINTS).toList());
    }

    private static List<String> lines(String resource) throws IOException {
        try (InputStream in = Objects.requireNonNull(NamesOfCTest.class.getResourceAsStream(resource), resource)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#")).toList();
        }
    }

    private static void addConstants() throws IllegalAccessException {
        add(AddressFormat.values(), AddressFormat::value, "FI_ADDR_", "FI_");
        add(AddressVectorType.values(), AddressVectorType::value, "FI_AV_");
        add(AtomicOperation.values(), AtomicOperation::value, "FI_");
        add(Capability.values(), Capability::bit, "FI_");
        add(Collective.values(), Collective::value, "FI_");
        add(CompletionFormat.values(), CompletionFormat::value, "FI_CQ_FORMAT_");
        add(CompletionOrder.values(), CompletionOrder::bits, "FI_ORDER_");
        add(Datatype.values(), Datatype::value, "FI_");
        add(DeviceInterface.values(), DeviceInterface::ordinal, "FI_HMEM_");
        add(DevicePeerToPeer.values(), DevicePeerToPeer::ordinal, "FI_HMEM_P2P_");
        add(Direction.values(), Direction::bit, "FI_");
        add(EndpointType.values(), EndpointType::value, "FI_EP_");
        add(MemoryRegionMode.values(), MemoryRegionMode::bit, "FI_MR_");
        add(MessageOrder.values(), MessageOrder::bit, "FI_ORDER_");
        add(NetworkDevice.LinkState.values(), NetworkDevice.LinkState::value, "FI_LINK_");
        add(OperationFlag.values(), OperationFlag::bit, "FI_");
        add(ProgressModel.values(), ProgressModel::value, "FI_PROGRESS_");
        add(Protocol.values(), Protocol::value, "FI_PROTO_");
        add(ResourceManagement.values(), ResourceManagement::value, "FI_RM_");
        add(ThreadingModel.values(), ThreadingModel::value, "FI_THREAD_");
        add(WaitObject.values(), WaitObject::value, "FI_WAIT_");
        for (Field field : TrafficClass.class.getFields()) {
            TrafficClass its = (TrafficClass) field.get(null);
            CONSTANTS.put("FI_TC_" + field.getName().replaceFirst("^UNSPECIFIED$", "UNSPEC"), (long) its.value());
        }
        for (Field flag : CompletionFlags.class.getFields()) {
            CONSTANTS.put("FI_" + flag.getName(), flag.getLong(null));
        }
        for (Field field : EndpointOption.class.getFields()) {
            EndpointOption<?> option = (EndpointOption<?>) field.get(null);
            CONSTANTS.put("FI_OPT_" + option, (long) option.number());
        }
    }

    private static <E extends Enum<E>> void add(E[] constants, ToLongFunction<E> number, String... prefixes) {
        for (E constant : constants) {
            if (constant == AddressFormat.UNSPECIFIED) { continue; } // FI_FORMAT_UNSPEC; FI_ADDR_UNSPEC is a peer
            String name = constant.name().replaceFirst("^UNSPECIFIED$", "UNSPEC");
            for (String prefix : prefixes) {
                CONSTANTS.putIfAbsent(prefix + name, number.applyAsLong(constant));
            }
        }
    }

    /** The constants and the exported functions of the bindings. */
    private static Stream<Method> bound() {
        return Arrays.stream(fabric_h.class.getMethods()).filter(method -> Modifier.isStatic(method.getModifiers()))
                .filter(method -> method.getName().matches("FI_\\w+|fi_[a-z0-9_]+"));
    }

    private static boolean isReached(String name) {
        return CONSTANTS.containsKey(name) || inCode.contains(name) || FIELDS.contains(name);
    }

    private record LeftOut(Pattern names, String reason) {
        static LeftOut of(String line) {
            int end = line.indexOf(": ");
            return new LeftOut(Pattern.compile(line.substring(0, end)), line.substring(end + 2));
        }

        boolean has(String name) { return names.matcher(name).matches(); }
    }

    private static List<LeftOut> leftOut() throws IOException {
        return lines("names-left-out.txt").stream().map(LeftOut::of).toList();
    }

    @Test
    void everyNameIsReachedOrLeftOutWithAReason() throws IOException {
        List<LeftOut> leftOut = leftOut();

        assertThat(headers).hasSizeGreaterThan(600).contains("FI_PEEK", "fi_cq_read", "FI_RESCAN", "fi_getinfo",
                "fi_mr_attr.hmem_data", "fi_domain_attr.caps in hints");
        assertThat(headers.stream().filter(name -> !isReached(name))
                .filter(name -> leftOut.stream().noneMatch(one -> one.has(name))))
                .as("neither reached nor in names-left-out.txt").isEmpty();
    }

    @Test
    void everyLineOfTheListLeavesANameOut() throws IOException {
        Set<String> unreached = headers.stream().filter(name -> !isReached(name)).collect(Collectors.toSet());

        assertThat(leftOut().stream().filter(one -> unreached.stream().noneMatch(one::has)).map(LeftOut::names))
                .as("lines that match no name that is not reached").isEmpty();
        assertThat(leftOut()).allSatisfy(one -> assertThat(one.reason()).hasSizeGreaterThan(10));
    }

    @Test
    void constantsHaveTheNumbersOfTheHeaders() throws ReflectiveOperationException {
        Set<String> wrong = new TreeSet<>();
        Set<String> compared = new TreeSet<>();
        for (Method method : bound().filter(one -> one.getParameterCount() == 0).toList()) {
            Long here = CONSTANTS.get(method.getName());
            if (here != null && method.invoke(null) instanceof Number number) {
                compared.add(method.getName());
                if (number.longValue() != here) { wrong.add(method.getName() + " is " + number + ", not " + here); }
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(compared).hasSizeGreaterThan(220);
    }
}
