package io.ofi4j.documentation;

import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apiguardian.api.API;
import org.junit.jupiter.api.Test;
import org.junit.platform.commons.support.AnnotationSupport;
import org.opentest4j.TestAbortedException;

/** The modules that the sources of ofi4j-test are compiled with, beside those of the project. */
public final class JUnitModules {
    private JUnitModules() {}

    /** Their jars, as a module path. */
    public static String path() {
        return Stream.of(Test.class, AnnotationSupport.class, TestAbortedException.class, API.class)
                .map(JUnitModules::jar).collect(Collectors.joining(":"));
    }

    private static String jar(Class<?> type) {
        try {
            return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }
}
