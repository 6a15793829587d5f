package io.ofi4j.artifacts;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The artifacts: what each module requires, what it shows to whom, and which of them call native code. */
@Tag("once")
class ArtifactsTest {
    private static final Set<String> RESTRICTED = Set.of("downcallHandle", "upcallStub", "libraryLookup", "reinterpret",
            "withTargetLayout");

    private static Path classes(String artifact) { return Path.of("..", artifact, "target/classes"); }

    private static ModuleDescriptor descriptor(String artifact) throws IOException {
        try (InputStream in = Files.newInputStream(classes(artifact).resolve("module-info.class"))) {
            return ModuleDescriptor.read(in);
        }
    }

    @ParameterizedTest
    @CsvSource({"fabric, java.base io.ofi4j.bindings jdk.jfr java.management", "job, java.base io.ofi4j jdk.net",
            "durable, java.base io.ofi4j", "test, java.base io.ofi4j org.junit.jupiter.api",
            "netty, java.base io.ofi4j io.ofi4j.job io.netty.transport io.netty.buffer io.netty.common",
            "conformance, java.base io.ofi4j", "verbs, java.base io.ofi4j io.ofi4j.bindings.verbs",
            "../bindings/fabric, java.base", "../bindings/verbs, java.base"})
    void aModuleRequiresOfOursOnlyWhatItIsMadeOf(String artifact, String required) throws IOException {
        assertThat(descriptor(artifact).requires()).extracting(ModuleDescriptor.Requires::name)
                .containsExactlyInAnyOrder(required.split(" "));
    }

    /** A runtime of java.base alone is enough. */
    @Test
    void whatTheBindingObservesWithIsOptional() throws IOException {
        assertThat(descriptor("fabric").requires())
                .filteredOn(one -> Set.of("jdk.jfr", "java.management").contains(one.name())).hasSize(2)
                .allSatisfy(one -> assertThat(one.modifiers()).contains(ModuleDescriptor.Requires.Modifier.STATIC));
    }

    /** Who tests without JUnit, or with another version of it, gets none. */
    @Test
    void junitIsOptional() throws IOException {
        assertThat(descriptor("test").requires()).filteredOn(one -> one.name().startsWith("org.junit")).singleElement()
                .satisfies(one -> assertThat(one.modifiers()).contains(ModuleDescriptor.Requires.Modifier.STATIC));
    }

    @Test
    void internalsAreShownToTheVerbsPathAlone() throws IOException {
        assertThat(descriptor("fabric").exports()).filteredOn(exports -> exports.source().contains(".internal"))
                .allSatisfy(exports -> assertThat(exports.targets()).containsExactly("io.ofi4j.verbs"));
        for (String artifact : Set.of("job", "durable", "verbs", "test", "netty")) {
            assertThat(descriptor(artifact).exports().stream().map(ModuleDescriptor.Exports::source)
                    .collect(Collectors.toSet())).containsExactly("io.ofi4j." + artifact);
        }
    }

    @ParameterizedTest
    @CsvSource({"fabric, io.ofi4j", "verbs, io.ofi4j.verbs"})
    void bindingsAreShownToOneModuleAlone(String artifact, String module) throws IOException {
        assertThat(descriptor("../bindings/" + artifact).exports()).isNotEmpty()
                .allSatisfy(exports -> assertThat(exports.targets()).containsExactly(module));
    }

    /** Whoever uses it need not name it in --enable-native-access. */
    @ParameterizedTest
    @ValueSource(strings = {"conformance", "durable", "verbs", "test", "netty"})
    void whatIsMadeOfTheApiCallsNoRestrictedMethodItself(String artifact) {
        noClasses().should().accessTargetWhere(describe("it is restricted", ArtifactsTest::isRestricted))
                .check(new ClassFileImporter().importPath(classes(artifact)));
    }

    @Test
    void ofAJobOnlyTheLaunchersCallRestrictedMethods() {
        noClasses().that().resideOutsideOfPackage("io.ofi4j.job.internal").should()
                .accessTargetWhere(describe("it is restricted", ArtifactsTest::isRestricted))
                .check(new ClassFileImporter().importPath(classes("job")));
    }

    private static boolean isRestricted(JavaAccess<?> access) {
        return access.getTargetOwner().getPackageName().equals("java.lang.foreign")
                && RESTRICTED.contains(access.getName());
    }
}
