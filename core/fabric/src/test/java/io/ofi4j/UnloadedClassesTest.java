package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.info.OpenObjectsMXBean;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Patience;
import io.ofi4j.support.TestProviders;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.management.ObjectName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** An application that has used ofi4j and is unloaded, as application servers do, leaves no classes behind. */
@Tag("gate")
@Tag("once")
@Timeout(300)
class UnloadedClassesTest {
    /** The JDK keeps soft references to classes of records. */
    private static final String NO_SOFT_REFERENCES = "-XX:SoftRefLRUPolicyMSPerMB=0";

    /** Over ofi_rxm the methods that replace functions stay, since libfabric may call them at any time. */
    static Stream<String> providers() {
        return TestProviders.transfers().filter(provider -> !provider.contains("ofi_rxm"));
    }

    @ForEachProvider
    @MethodSource("providers")
    void theClassLoaderOfAnApplicationIsCollected(String provider) {
        Forked.Result result = Forked.run(Container.class, NO_SOFT_REFERENCES, provider);

        assertThat(result.exit()).as(result.output()).isZero();
    }

    /** Loads an application, runs and unloads it. It does not use ofi4j itself. */
    static final class Container {
        private static final int DEADLINE_SECONDS = (int) Patience.seconds(60).toSeconds();

        private Container() {}

        static void main(String[] arguments) throws Exception {
            WeakReference<ClassLoader> loader = runIn(arguments[0]);
            ObjectName name = new ObjectName("io.ofi4j.info:type=OpenObjects,*");
            if (!ManagementFactory.getPlatformMBeanServer().queryNames(name, null).isEmpty()) {
                throw new AssertionError("the bean is there without an open fabric");
            }
            long start = System.nanoTime();
            while (loader.get() != null) {
                if (System.nanoTime() - start > DEADLINE_SECONDS * 1_000_000_000L) {
                    throw new AssertionError("something still refers to the classes of the application");
                }
                System.gc();
                Thread.sleep(50);
            }
        }

        /** In a thread that ends, which takes its locals with it. */
        private static WeakReference<ClassLoader> runIn(String provider) throws Exception {
            List<URL> places = new ArrayList<>();
            for (String place : System.getProperty("java.class.path").split(":")) {
                places.add(Path.of(place).toUri().toURL());
            }
            try (URLClassLoader loader = new URLClassLoader(places.toArray(URL[]::new),
                    ClassLoader.getPlatformClassLoader())) {
                Method application = loader.loadClass(Application.class.getName()).getMethod("run", String.class);
                FutureTask<Object> run = new FutureTask<>(() -> application.invoke(null, provider));
                Thread thread = new Thread(run);
                thread.start();
                run.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
                thread.join(DEADLINE_SECONDS * 1000L);
                return new WeakReference<>(loader);
            }
        }
    }

    /** What is loaded again. */
    public static final class Application {
        private Application() {}

        /** Writes, has a bean show its endpoints, and closes everything. */
        public static void run(String provider) throws Exception {
            try (Pair pair = new Pair(provider);
                    MemoryRegion local = pair.domain.allocate(64, Access.WRITE, Access.REMOTE_WRITE)) {
                pair.rma().write(local.slice(0, 8), pair.far, local.remote().slice(8, 8), 1);
                pair.awaitToken(1);
                ObjectName name = new ObjectName(OpenObjectsMXBean.NAME);
                Libfabric.load().showOpenObjects();
                if (!ManagementFactory.getPlatformMBeanServer().isRegistered(name)) {
                    throw new AssertionError("the bean is not there");
                }
            }
        }
    }
}
