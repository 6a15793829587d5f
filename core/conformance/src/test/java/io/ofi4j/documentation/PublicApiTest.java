package io.ofi4j.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.module.ModuleDescriptor;
import java.lang.reflect.AccessFlag;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What each artifact offers, one line a member: a change of the public API is a change of its file {@code PUBLIC-API},
 * which {@code -Dofi4j.api.write=true} writes anew.
 */
@Tag("once")
class PublicApiTest {
    private static final Set<String> OF_EVERY_VALUE = Set.of("equals", "hashCode", "toString", "values", "valueOf");

    @ParameterizedTest
    @ValueSource(strings = {"fabric", "job", "durable", "verbs", "test", "netty"})
    void everyPublicMemberIsInTheListing(String artifact) throws Exception {
        Path listing = Path.of("..", artifact, "PUBLIC-API");
        List<String> members = members(Path.of("..", artifact, "target/classes"));
        if (Boolean.getBoolean("ofi4j.api.write")) { Files.write(listing, members); }
        assertThat(members).as("the public API, as %s lists it: -Dofi4j.api.write=true writes it anew", listing)
                .containsExactlyElementsOf(Files.readAllLines(listing));
    }

    private static List<String> members(Path classes) throws Exception {
        List<String> exported;
        try (var descriptor = Files.newInputStream(classes.resolve("module-info.class"))) {
            exported = ModuleDescriptor.read(descriptor).exports().stream().filter(one -> !one.isQualified())
                    .map(ModuleDescriptor.Exports::source).toList();
        }
        TreeSet<String> lines = new TreeSet<>();
        for (String exportedPackage : exported) {
            try (Stream<Path> files = Files.list(classes.resolve(exportedPackage.replace('.', '/')))) {
                for (Path file : files.filter(one -> one.toString().endsWith(".class")).toList()) {
                    String name = file.getFileName().toString().replaceFirst("\\.class$", "");
                    Class<?> type = Class.forName(exportedPackage + "." + name, false,
                            PublicApiTest.class.getClassLoader());
                    if (isPublic(type)) { add(type, lines); }
                }
            }
        }
        return List.copyOf(lines);
    }

    private static boolean isPublic(Class<?> type) {
        return Modifier.isPublic(type.getModifiers())
                && (type.getDeclaringClass() == null || isPublic(type.getDeclaringClass()));
    }

    private static void add(Class<?> type, TreeSet<String> lines) {
        String name = type.getName().replace('$', '.') + " ";
        lines.add(name + kind(type));
        for (Field field : type.getDeclaredFields()) {
            if (isOffered(field.getModifiers())) {
                lines.add(
                        name + modifiers(field.getModifiers()) + text(field.getGenericType()) + " " + field.getName());
            }
        }
        for (Constructor<?> constructor : type.getDeclaredConstructors()) {
            if (isOffered(constructor.getModifiers())) { lines.add(name + "new" + parameters(constructor)); }
        }
        // Those of a superclass that is not public are offered, too.
        for (Method method : type.getMethods()) {
            boolean isOurs = method.getDeclaringClass() == type || !isPublic(method.getDeclaringClass());
            if (isOurs && !OF_EVERY_VALUE.contains(method.getName())
                    && !method.accessFlags().contains(AccessFlag.BRIDGE)) {
                lines.add(name + method.getName() + parameters(method) + ": " + modifiers(method.getModifiers())
                        + text(method.getGenericReturnType()));
            }
        }
    }

    private static boolean isOffered(int modifiers) {
        return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
    }

    private static String kind(Class<?> type) {
        String kind = type.isRecord() ? "record" : type.isEnum() ? "enum" : type.isInterface() ? "interface" : "class";
        List<String> words = new ArrayList<>();
        if (type.isSealed()) { words.add("sealed"); }
        if (kind.equals("class")) {
            words.add(Modifier.toString(type.getModifiers() & (Modifier.FINAL | Modifier.ABSTRACT)));
        }
        words.add(kind);
        if (kind.equals("class") && isPublic(type.getSuperclass()) && type.getSuperclass() != Object.class) {
            words.add("extends " + text(type.getGenericSuperclass()));
        }
        if (type.getInterfaces().length > 0) {
            words.add((type.isInterface() ? "extends " : "implements ") + Arrays.stream(type.getGenericInterfaces())
                    .map(PublicApiTest::text).collect(Collectors.joining(", ")));
        }
        return words.stream().filter(word -> !word.isEmpty()).collect(Collectors.joining(" "));
    }

    private static String modifiers(int modifiers) {
        String kept = Modifier.toString(modifiers & (Modifier.STATIC | Modifier.PROTECTED | Modifier.ABSTRACT));
        return kept.isEmpty() ? "" : kept + " ";
    }

    private static String parameters(Executable member) {
        String thrown = Arrays.stream(member.getGenericExceptionTypes()).map(PublicApiTest::text)
                .collect(Collectors.joining(", "));
        Parameter[] parameters = member.getParameters();
        return Arrays.stream(parameters)
                .map(one -> (one.isVarArgs()
                        ? text(one.getParameterizedType()).replaceFirst("\\[]$", "...")
                        : text(one.getParameterizedType())) + " " + one.getName())
                .collect(Collectors.joining(", ", "(", ")")) + (thrown.isEmpty() ? "" : " throws " + thrown);
    }

    /** A type without the names of packages. */
    private static String text(Type type) {
        return type.getTypeName().replaceAll("\\b[a-z]\\w*\\.", "");
    }
}
