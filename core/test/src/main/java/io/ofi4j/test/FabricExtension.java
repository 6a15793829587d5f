package io.ofi4j.test;

import java.lang.reflect.AnnotatedElement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/** What {@link FabricTest} does. JUnit makes it; tests need not name it. */
public final class FabricExtension implements BeforeEachCallback, AfterEachCallback, ParameterResolver {
    private static final ExtensionContext.Namespace OURS = ExtensionContext.Namespace.create(FabricExtension.class);

    /** Made by JUnit. */
    public FabricExtension() {
        // all that it has is in JUnit's store, for each test apart
    }

    /** What is there for one test. */
    private static final class Running {
        final ShmFiles files = ShmFiles.watch();
        final String provider;
        TestFabric fabric;

        Running(String provider) { this.provider = provider; }

        synchronized TestFabric fabric() {
            if (fabric == null) {
                fabric = new TestFabric(TestProviders.info(provider.isEmpty() ? TestProviders.ofThisRun() : provider),
                        files);
            }
            return fabric;
        }

        synchronized void close() {
            if (fabric != null) {
                fabric.close(); // looks at the files, too
            } else {
                files.requireNothingNew(); // of a test that opens its own fabric
            }
        }
    }

    /** Looks at what is there before the test. */
    @Override
    public void beforeEach(ExtensionContext context) {
        context.getStore(OURS).put(Running.class, new Running(provider(context)));
    }

    /** Closes what the test has got, and fails if the test has left something. */
    @Override
    public void afterEach(ExtensionContext context) {
        Running running = context.getStore(OURS).remove(Running.class, Running.class);
        if (running != null) { running.close(); }
    }

    /** {@return whether it is a parameter of type {@link TestFabric} of a method that runs for one test} */
    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == TestFabric.class && running(context) != null;
    }

    /** {@return the fabric of the test} */
    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return running(context).fabric();
    }

    private static Running running(ExtensionContext context) {
        return context.getStore(OURS).get(Running.class, Running.class);
    }

    /** The provider that the method names, or else its class, or the class around that. */
    private static String provider(ExtensionContext context) {
        List<AnnotatedElement> places = new ArrayList<>();
        context.getTestMethod().ifPresent(places::add);
        Stream.<Class<?>>iterate(context.getRequiredTestClass(), Objects::nonNull, Class::getEnclosingClass)
                .forEach(places::add);
        return places.stream().flatMap(place -> AnnotationSupport.findAnnotation(place, FabricTest.class).stream())
                .map(FabricTest::provider).filter(name -> !name.isEmpty()).findFirst().orElse("");
    }
}
