package io.ofi4j.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.internal.os.Machine;
import io.ofi4j.support.Patience;
import java.io.IOException;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.PaddingLayout;
import java.lang.foreign.UnionLayout;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every offset, size and constant of the bindings, and of the calls of the C library that ofi4j makes itself, is that
 * of this machine's C compiler. The bindings were made on x86-64. The only thing in them that is known to differ on
 * another machine is the length of a mutex.
 */
class LayoutTest {
    private static final String BINDINGS = "io.ofi4j.bindings";

    /** Constants of classes of {@code internal.os}, by class and field, as the headers name them. */
    private static final Map<String, Map<String, String>> OF_THE_C_LIBRARY = Map.of("Machine", Map.of("PAGE",
            "sysconf(_SC_PAGESIZE)", "O_DIRECTORY", "O_DIRECTORY", "O_TMPFILE", "O_TMPFILE", "RT_SIGPROCMASK",
            "SYS_rt_sigprocmask", "PTHREAD_MUTEX", "sizeof(pthread_mutex_t)", "SC_PAGESIZE", "_SC_PAGESIZE"),
            "NativeFile",
            Map.ofEntries(Map.entry("O_RDWR", "O_RDWR"), Map.entry("F_SETSIG", "F_SETSIG"),
                    Map.entry("F_SETLEASE", "F_SETLEASE"), Map.entry("F_WRLCK", "F_WRLCK"),
                    Map.entry("F_UNLCK", "F_UNLCK"), Map.entry("SIGURG", "SIGURG"),
                    Map.entry("LOCK_EXCLUSIVELY_NOW", "LOCK_EX | LOCK_NB"), Map.entry("AT_EMPTY_PATH", "AT_EMPTY_PATH"),
                    Map.entry("FALLOC_FL_KEEP_SIZE", "FALLOC_FL_KEEP_SIZE"),
                    Map.entry("STATX_FIELDS",
                            "STATX_MODE | STATX_UID | STATX_INO | STATX_SIZE | STATX_BLOCKS | STATX_BTIME"),
                    Map.entry("SYNC_FILE_RANGE_WAIT_BEFORE", "SYNC_FILE_RANGE_WAIT_BEFORE"),
                    Map.entry("O_RDONLY", "O_RDONLY"), Map.entry("POSIX_FADV_DONTNEED", "POSIX_FADV_DONTNEED"),
                    Map.entry("STATX_NUMBER_AT", "offsetof(struct statx, stx_ino)"),
                    Map.entry("STATX_LENGTH", "sizeof(struct statx)"),
                    Map.entry("STATX_OWNER_AT", "offsetof(struct statx, stx_uid)"),
                    Map.entry("STATX_MODE_AT", "offsetof(struct statx, stx_mode)"),
                    Map.entry("STATX_SIZE_AT", "offsetof(struct statx, stx_size)"),
                    Map.entry("STATX_BLOCKS_AT", "offsetof(struct statx, stx_blocks)"),
                    Map.entry("STATX_BIRTH_AT", "offsetof(struct statx, stx_btime)")),
            "NativeMemory",
            Map.of("READ_AND_WRITE", "PROT_READ | PROT_WRITE", "NO_ACCESS", "PROT_NONE", "PRIVATE_AND_ANONYMOUS",
                    "MAP_PRIVATE | MAP_ANONYMOUS", "FIXED", "MAP_FIXED", "NOT_RESERVED", "MAP_NORESERVE",
                    "SYNCHRONOUSLY", "MS_SYNC", "POPULATE", "MAP_POPULATE", "DONTNEED", "MADV_DONTNEED", "HUGE_PAGES",
                    "MADV_HUGEPAGE"),
            "Descriptors",
            Map.of("NONBLOCK", "O_NONBLOCK", "CLOEXEC", "O_CLOEXEC", "EPOLL_CTL_ADD", "EPOLL_CTL_ADD", "EPOLL_CTL_DEL",
                    "EPOLL_CTL_DEL", "CLOCK_MONOTONIC", "CLOCK_MONOTONIC", "SC_OPEN_MAX", "_SC_OPEN_MAX", "F_GETFD",
                    "F_GETFD", "F_GETFL", "F_GETFL", "F_SETFL", "F_SETFL"),
            "DmaBufs", Map.of("SEEK_END", "SEEK_END"), "LibC", Map.of("RTLD_NOW", "RTLD_NOW"));
    private static final List<String> HEADERS_OF_THE_C_LIBRARY = List.of("fcntl.h", "sys/file.h", "sys/mman.h",
            "sys/stat.h", "sys/syscall.h", "sys/epoll.h", "linux/falloc.h", "pthread.h", "signal.h", "time.h",
            "unistd.h", "errno.h", "dlfcn.h", "netdb.h", "stdlib.h", "string.h");

    @TempDir
    Path folder;

    /** What C is asked, and what Java has. */
    private final Map<String, Long> expected = new TreeMap<>();

    @Test
    void ofLibfabricAreThoseOfTheHeaders() throws Exception {
        List<String> headers = headersIn("fabric/src/main/jextract/fabric.h");
        assumeHeaders(headers, "#if FI_MAJOR_VERSION != 2 || FI_MINOR_VERSION != 1\n#error other\n#endif",
                "these are not the headers of libfabric 2.1, from which the bindings were made");
        add(Class.forName(BINDINGS + ".fabric_h"));

        assertThat(expected.size()).isGreaterThan(1300);
        assertThat(differences(headers)).isEmpty();
    }

    @Test
    void ofVerbsAreThoseOfTheHeaders() throws Exception {
        List<String> headers = headersIn("verbs/src/main/jextract/verbs.h");
        assumeHeaders(headers, "", "the headers of verbs are not here (libibverbs-dev, librdmacm-dev)");
        add(Class.forName(BINDINGS + ".verbs.verbs_h"));
        expected.remove("sizeof(struct ibv_port_attr)"); // grows at its end; a caller says which size it has

        assertThat(expected.size()).isGreaterThan(500);
        assertThat(differences(headers)).isEmpty();
    }

    @Test
    void ofTheContextOfADeviceAreReadByOffsetsOfThisMachine() throws Exception {
        List<String> headers = headersIn("verbs/src/main/jextract/verbs.h");
        assumeHeaders(headers, "", "the headers of verbs are not here (libibverbs-dev, librdmacm-dev)");
        Class<?> context = Class.forName("io.ofi4j.verbs.internal.VerbsContextOps");
        expected.put("offsetof(struct ibv_context, abi_compat)", number(context, "ABI_COMPAT"));
        expected.put("sizeof(struct verbs_context)", number(context, "LENGTH"));

        assertThat(differences(headers)).isEmpty();
    }

    @Test
    void ofTheCLibraryAreThoseOfTheHeaders() throws Exception {
        add(Class.forName(BINDINGS + ".libc.libc_h"));
        for (Map.Entry<String, Map<String, String>> constants : OF_THE_C_LIBRARY.entrySet()) {
            Class<?> type = Class.forName("io.ofi4j.internal.os." + constants.getKey());
            for (Map.Entry<String, String> constant : constants.getValue().entrySet()) {
                expected.put(constant.getValue(), number(type, constant.getKey()));
            }
        }
        addErrors();

        assertThat(differences(HEADERS_OF_THE_C_LIBRARY)).isEmpty();
    }

    /** Error numbers of the system; those from 256 on are libfabric's. */
    private void addErrors() throws ReflectiveOperationException {
        for (Field field : Class.forName("io.ofi4j.internal.os.Errno").getDeclaredFields()) {
            if (field.getType() != int.class || !field.getName().startsWith("E")) { continue; }
            field.setAccessible(true);
            if (field.getInt(null) < 256) { expected.put(field.getName(), (long) field.getInt(null)); }
        }
    }

    private static long number(Class<?> type, String field) throws ReflectiveOperationException {
        Field constant = type.getDeclaredField(field);
        constant.setAccessible(true);
        return ((Number) constant.get(null)).longValue();
    }

    // ---- what Java has

    /** The structs of the package of a header's class, and the constants of that class. */
    private void add(Class<?> header) throws Exception {
        addStructs(header);
        addConstants(header);
    }

    private void addStructs(Class<?> header) throws Exception {
        for (String name : classesBeside(header)) {
            Class<?> type = Class.forName(header.getPackageName() + "." + name);
            Method layout = Stream.of(type.getMethods())
                    .filter(method -> method.getName().equals("layout") && method.getParameterCount() == 0).findFirst()
                    .orElse(null);
            // the inside of what the C library keeps private differs, and nobody reads it
            if (layout == null || name.startsWith("__") || name.startsWith("pthread_")) { continue; }
            if (!(layout.invoke(null) instanceof GroupLayout group)) { continue; }
            String inC = (group instanceof UnionLayout ? "union " : "struct ") + name;
            if (name.endsWith("_t")) { inC = name; }
            expected.put("sizeof(" + inC + ")", size(group));
            addMembers(inC, "", group, 0);
        }
    }

    private void addMembers(String type, String path, GroupLayout group, long start) {
        long offset = 0;
        for (MemoryLayout member : group.memberLayouts()) {
            boolean isUnion = group instanceof UnionLayout;
            offset = isUnion ? 0 : align(offset, member.byteAlignment());
            if (!(member instanceof PaddingLayout)) {
                String name = member.name().filter(text -> !text.contains("$")).orElse("");
                String at = path + (path.isEmpty() || name.isEmpty() ? "" : ".") + name;
                if (!name.isEmpty()) { expected.put("offsetof(" + type + ", " + at + ")", start + offset); }
                if (member instanceof GroupLayout inner && !isPrivate(inner)) {
                    addMembers(type, at, inner, start + offset);
                }
            }
            offset += size(member);
        }
    }

    private static boolean isMutex(MemoryLayout layout) {
        return layout instanceof GroupLayout && List.of("pthread_mutex_t", "mutex").contains(layout.name().orElse(""));
    }

    /** A type of the C library whose inside is private. */
    private static boolean isPrivate(MemoryLayout layout) {
        return isMutex(layout) || layout.name().orElse("").equals("cond");
    }

    /** The size of a layout with a mutex of this machine. */
    private static long size(MemoryLayout layout) {
        if (isMutex(layout)) { return Machine.PTHREAD_MUTEX; }
        if (!(layout instanceof GroupLayout group)) { return layout.byteSize(); }
        long size = 0;
        for (MemoryLayout member : group.memberLayouts()) {
            size = group instanceof UnionLayout
                    ? Math.max(size, size(member))
                    : align(size, member.byteAlignment()) + size(member);
        }
        return align(size, group.byteAlignment());
    }

    private static long align(long offset, long alignment) { return (offset + alignment - 1) / alignment * alignment; }

    private void addConstants(Class<?> type) throws ReflectiveOperationException {
        for (Class<?> one = type; one != null; one = one.getSuperclass()) { // jextract splits what is long
            for (Method method : one.getDeclaredMethods()) {
                boolean isConstant = Modifier.isPublic(method.getModifiers()) && method.getParameterCount() == 0
                        && method.getName().matches("[A-Z][A-Z0-9_]*")
                        && (method.getReturnType() == int.class || method.getReturnType() == long.class);
                if (isConstant) { expected.put(method.getName(), ((Number) method.invoke(null)).longValue()); }
            }
        }
    }

    private static List<String> classesBeside(Class<?> header) throws Exception {
        String place = "/" + header.getPackageName().replace('.', '/');
        URI here = header.getProtectionDomain().getCodeSource().getLocation().toURI();
        if (Files.isDirectory(Path.of(here))) { return names(Path.of(here.getPath() + place)); }
        try (FileSystem jar = FileSystems.newFileSystem(Path.of(here))) {
            return names(jar.getPath(place));
        }
    }

    private static List<String> names(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".class") && !name.contains("$"))
                    .map(name -> name.substring(0, name.length() - ".class".length())).sorted().toList();
        }
    }

    // ---- what C has

    /** The headers that an umbrella header of the bindings includes. */
    private static List<String> headersIn(String umbrella) throws IOException {
        Path file = Path.of("../../bindings").resolve(umbrella);
        return Files.readAllLines(file).stream().filter(line -> line.startsWith("#include <"))
                .map(line -> line.replaceAll("#include <(.*)>.*", "$1")).toList();
    }

    private void assumeHeaders(List<String> headers, String condition, String reason) throws Exception {
        assumeTrue(compile(headers, condition + "\nint main(void) { return 0; }\n").isEmpty(), reason);
    }

    private List<String> differences(List<String> headers) throws Exception {
        Map<String, Long> found = asC(headers);
        return expected.entrySet().stream().filter(one -> !isSame(one.getValue(), found.get(one.getKey())))
                .map(one -> one.getKey() + ": " + one.getValue() + " in Java, " + found.get(one.getKey()) + " in C")
                .toList();
    }

    /** A constant that Java has as an int may be unsigned in C, with no more than its 32 bits. */
    private static boolean isSame(long inJava, long inC) {
        return inJava == inC || inC >>> Integer.SIZE == 0 && inJava == (int) inC;
    }

    private Map<String, Long> asC(List<String> headers) throws Exception {
        List<String> expressions = new ArrayList<>(expected.keySet());
        StringBuilder source = new StringBuilder("int main(void) {\n");
        for (String expression : expressions) {
            source.append("    printf(\"%lld\\n\", (long long) (").append(expression).append("));\n");
        }
        String problem = compile(headers, source.append("    return 0;\n}\n").toString());
        assertThat(problem).as("what the C compiler says").isEmpty();
        Process process = new ProcessBuilder(folder.resolve("check").toString()).redirectErrorStream(true).start();
        List<String> lines = process.inputReader().lines().toList();
        assertThat(process.waitFor(Patience.seconds(120).toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(lines).hasSameSizeAs(expressions);
        Map<String, Long> found = new TreeMap<>();
        for (int line = 0; line < lines.size(); line++) {
            found.put(expressions.get(line), Long.parseLong(lines.get(line)));
        }
        return found;
    }

    /** What the compiler says; empty if it has made the program. */
    private String compile(List<String> headers, String code) throws Exception {
        StringBuilder source = new StringBuilder("#define _GNU_SOURCE\n#include <stddef.h>\n#include <stdio.h>\n");
        headers.forEach(header -> source.append("#include <").append(header).append(">\n"));
        source.append("#undef sa_handler\n#undef sa_sigaction\n"); // macros for what they are inside
        Path file = Files.writeString(folder.resolve("check.c"), source.append(code));
        Process process = new ProcessBuilder("cc", "-w", "-o", folder.resolve("check").toString(), file.toString())
                .redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        assertThat(process.waitFor(Patience.seconds(120).toSeconds(), TimeUnit.SECONDS)).isTrue();
        return process.exitValue() == 0 ? "" : output;
    }
}
