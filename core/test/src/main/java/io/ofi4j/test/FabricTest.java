package io.ofi4j.test;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test of JUnit 5, or a class of such tests, whose methods may have a parameter of type {@link TestFabric}. Each test
 * gets one of its own, which all methods that run for it share, those with {@code @BeforeEach} and {@code @AfterEach}
 * too. It is opened when the first of them has the parameter, and closed after the test. A test that leaves something
 * open, or a file in {@code /dev/shm}, fails and says what it has left: see {@link TestFabric#close}.
 */
@Inherited
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(FabricExtension.class)
public @interface FabricTest {
    /**
     * {@return the provider, such as {@code tcp;ofi_rxm}; without one, the first that serves, as in
     * {@link TestFabric#open()}}
     */
    String provider() default "";
}
