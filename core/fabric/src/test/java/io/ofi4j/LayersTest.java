package io.ofi4j;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Version;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The layers of this module: which package may use which, which calls native code, and who knows providers by name. */
@Tag("once")
class LayersTest {
    private static final String API = "io.ofi4j";
    private static final String INTERNAL = API + ".internal.";
    private static final String QUIRKS_ROOT = INTERNAL + "quirks";
    private static final String QUIRKS = QUIRKS_ROOT + "..";
    private static final String FFI = INTERNAL + "ffi";
    private static final String OS = INTERNAL + "os";
    /** From the bottom to the top: a layer uses those before it. */
    private static final List<String> LAYERS = List.of(API + ".info", OS, FFI, INTERNAL + "observe", API + ".errors",
            QUIRKS, INTERNAL + "engine", API, API + ".util");
    private static final Set<String> RESTRICTED = Set.of("downcallHandle", "upcallStub", "libraryLookup", "reinterpret",
            "withTargetLayout");
    private static final Pattern PROVIDER = Pattern.compile(
            "\"(shm|tcp|net|sockets|verbs|udp|ofi_rxm|ofi_rxd|efa|cxi|psm3|opx|lnx|ucx)[\";]|\"fi_[a-z0-9(|)]+://");

    private static JavaClasses classes;

    @BeforeAll
    static void read() { classes = new ClassFileImporter().importPath(Path.of("../fabric/target/classes")); }

    @Test
    void aLayerUsesOnlyLayersBelowItAndEveryClassIsInOne() {
        LayeredArchitecture architecture = layeredArchitecture().consideringOnlyDependenciesInAnyPackage(
                LAYERS.getFirst(), LAYERS.subList(1, LAYERS.size()).toArray(String[]::new));
        for (String layer : LAYERS) {
            architecture = architecture.layer(layer).definedBy(layer);
        }
        for (String layer : LAYERS) {
            String[] above = LAYERS.subList(LAYERS.indexOf(layer) + 1, LAYERS.size()).toArray(String[]::new);
            architecture = above.length == 0
                    ? architecture.whereLayer(layer).mayNotBeAccessedByAnyLayer()
                    : architecture.whereLayer(layer).mayOnlyBeAccessedByLayers(above);
        }
        architecture.ensureAllClassesAreContainedInArchitecture().check(classes);
    }

    /** Also those that javadoc alone needs, which the classes do not show. */
    @Test
    void noImportNamesALayerAbove() throws IOException {
        Pattern imported = Pattern.compile("import (?:static )?(" + API + "(?:\\.[a-z]\\w*)*)\\.[A-Z].*;");
        Set<String> found = new TreeSet<>();
        for (Map.Entry<Path, List<String>> source : allSources().entrySet()) {
            int layer = layerOf(source.getKey().getParent().toString().replaceFirst(".*/java/", "").replace('/', '.'));
            source.getValue().stream().map(imported::matcher)
                    .filter(line -> line.matches() && layerOf(line.group(1)) > layer)
                    .forEach(line -> found.add(source.getKey() + ": " + line.group()));
        }
        assertThat(found).isEmpty();
    }

    /** The number of a package's layer; -1 if it is in none, as the bindings. */
    private static int layerOf(String name) {
        return LAYERS.indexOf(name.startsWith(QUIRKS_ROOT) ? QUIRKS : name);
    }

    @Test
    void onlyTheLayersOfCallsAndOfTheSystemUseTheGeneratedBindings() {
        noClasses().that().resideOutsideOfPackages(FFI, OS).should().dependOnClassesThat()
                .resideInAPackage(API + ".bindings..").check(classes);
    }

    @Test
    void onlyTheLayersOfCallsAndOfTheSystemCallRestrictedMethods() {
        noClasses().that().resideOutsideOfPackages(FFI, OS).should()
                .accessTargetWhere(describe("it is restricted", LayersTest::isRestricted)).check(classes);
    }

    private static boolean isRestricted(JavaAccess<?> access) {
        return access.getTargetOwner().getPackageName().equals("java.lang.foreign")
                && RESTRICTED.contains(access.getName());
    }

    @Test
    void nobodyButTheQuirksComparesAVersion() {
        // What libfabric's interface has in which version, whatever the provider: bits, and the length of structs.
        noClasses().that(resideInAPackage(QUIRKS).negate()).and().doNotBelongToAnyOf(Version.class, Capability.class)
                .and().doNotHaveSimpleName("FabricCalls").and().doNotHaveSimpleName("Attributes").and()
                .doNotHaveSimpleName("InfoHandle").should()
                .accessTargetWhere(describe("it is part of a version", LayersTest::isPartOfAVersion)).check(classes);
    }

    private static boolean isPartOfAVersion(JavaAccess<?> access) {
        return access.getTargetOwner().isEquivalentTo(Version.class)
                && Set.of("major", "minor", "isTwo").contains(access.getName());
    }

    /** Of what a newer libfabric may have given further fields; the elements of arrays cannot have any. */
    @Test
    void everyStructThatLibfabricReadsHasRoomBehindIt() throws IOException {
        Pattern bare = Pattern.compile("\\bfi_\\w+\\.allocate\\(|allocate\\(\\w*[lL]ayout(\\(\\))?\\)");
        Set<String> found = new TreeSet<>();
        for (Map.Entry<Path, List<String>> source : sources().entrySet()) {
            if (!source.getKey().toString().contains("/internal/ffi/")) { continue; }
            source.getValue().stream().filter(line -> bare.matcher(line).find())
                    .forEach(line -> found.add(source.getKey() + ": " + line.strip()));
        }
        assertThat(found).as("not from OwnedStruct").isEmpty();
    }

    @Test
    void nobodyButTheQuirksNamesAProvider() throws IOException {
        Set<String> found = new TreeSet<>();
        for (Map.Entry<Path, List<String>> source : sources().entrySet()) {
            for (String line : source.getValue()) {
                boolean isComment = line.strip().startsWith("*") || line.strip().startsWith("/");
                if (!isComment && PROVIDER.matcher(line).find()) { found.add(source.getKey() + ": " + line.strip()); }
            }
        }
        assertThat(found).isEmpty();
    }

    /** The lines of the sources, without those of the quirks. */
    private static Map<Path, List<String>> sources() throws IOException {
        Map<Path, List<String>> sources = allSources();
        sources.keySet().removeIf(file -> file.toString().contains("/quirks/"));
        return sources;
    }

    private static Map<Path, List<String>> allSources() throws IOException {
        Map<Path, List<String>> sources = new TreeMap<>();
        try (Stream<Path> files = Files.walk(Path.of("../fabric/src/main/java"))) {
            for (Path file : files.filter(one -> one.toString().endsWith(".java")).toList()) {
                sources.put(file, Files.readAllLines(file));
            }
        }
        return sources;
    }
}
