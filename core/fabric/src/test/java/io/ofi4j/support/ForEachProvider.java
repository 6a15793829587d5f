package io.ofi4j.support;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Method;
import java.util.List;
import java.util.stream.BaseStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.commons.support.ReflectionSupport;

/**
 * A parameterized test whose {@link MethodSource} depends on the providers that are tested. Where it has nothing to
 * offer, because none of the chosen providers is of the test's kind, the test is skipped and says why.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ParameterizedTest(allowZeroInvocations = true)
@ExtendWith(ForEachProvider.OneSkippedInvocation.class)
public @interface ForEachProvider {
    /** Stands in for the invocations that a test does not have. */
    final class OneSkippedInvocation implements TestTemplateInvocationContextProvider {
        @Override
        public boolean supportsTestTemplate(ExtensionContext context) { return true; }

        @Override
        public boolean mayReturnZeroTestTemplateInvocationContexts(ExtensionContext context) { return true; }

        @Override
        public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(ExtensionContext context) {
            List<String> sources = sources(context);
            return sources.stream().anyMatch(source -> hasArguments(context, source))
                    ? Stream.empty()
                    : Stream.of(skipped("none of the chosen providers, " + TestProviders.chosen() + ", is of the kind "
                            + String.join(", ", sources).replaceAll("[\\w.]+#", "")));
        }

        private static List<String> sources(ExtensionContext context) {
            return AnnotationSupport.findAnnotation(context.getRequiredTestMethod(), MethodSource.class)
                    .map(source -> List.of(source.value()))
                    .orElseThrow(() -> new IllegalStateException("@ForEachProvider goes with @MethodSource"));
        }

        /** A source is a static method of the test's class, or of another one: {@code io.ofi4j.Class#method}. */
        private static boolean hasArguments(ExtensionContext context, String source) {
            int end = source.indexOf('#');
            Class<?> owner = end < 0 ? context.getRequiredTestClass() : load(source.substring(0, end));
            String name = source.substring(end + 1);
            Method method = ReflectionSupport.findMethod(owner, name)
                    .orElseThrow(() -> new IllegalStateException("there is no method " + source));
            try (BaseStream<?, ?> arguments = (BaseStream<?, ?>) ReflectionSupport.invokeMethod(method, null)) {
                return arguments.iterator().hasNext();
            }
        }

        private static Class<?> load(String name) {
            return ReflectionSupport.tryToLoadClass(name)
                    .getOrThrow(e -> new IllegalStateException("there is no class " + name, e));
        }

        private static TestTemplateInvocationContext skipped(String why) {
            ExecutionCondition never = context -> ConditionEvaluationResult.disabled(why);
            return new TestTemplateInvocationContext() {
                @Override
                public String getDisplayName(int index) { return "no provider"; }

                @Override
                public List<Extension> getAdditionalExtensions() { return List.of(never); }
            };
        }
    }
}
