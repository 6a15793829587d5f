package io.ofi4j.hostile;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.support.Pair;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Two class loaders with a copy of the library each, whose endpoints work, and end, beside each other. */
final class HostileLoaders {
    private static final int COPIES = 2;

    private HostileLoaders() {}

    static void run(HostileRun run) throws Exception {
        List<URLClassLoader> loaders = new ArrayList<>();
        for (int i = 0; i < COPIES; i++) {
            loaders.add(new URLClassLoader(places(), ClassLoader.getPlatformClassLoader()));
        }
        while (run.goesOn()) {
            run.inThreads(COPIES, () -> transfer(run, loaders.get(run.random().nextInt(COPIES))));
        }
    }

    private static URL[] places() throws IOException {
        List<URL> places = new ArrayList<>();
        for (String place : System.getProperty("java.class.path").split(":")) {
            places.add(Path.of(place).toUri().toURL());
        }
        return places.toArray(URL[]::new);
    }

    /** Writes between two endpoints of that copy. */
    private static void transfer(HostileRun run, ClassLoader loader) throws ReflectiveOperationException {
        Class<?> pair = loader.loadClass(Copy.class.getName());
        try {
            pair.getDeclaredMethod("transfer", String.class).invoke(null, run.provider);
            run.tried("transfers of a copy");
        } catch (InvocationTargetException e) {
            run.fail(e.getCause());
        }
    }

    /** What each copy runs. */
    public static final class Copy {
        private static final int WRITES = 20;

        private Copy() {}

        /** Opens two endpoints, writes, and closes them. */
        public static void transfer(String provider) {
            try (Pair pair = new Pair(provider); MemoryRegion local = pair.domain.allocate(64, Access.values())) {
                for (int i = 0; i < WRITES; i++) {
                    pair.rma().write(local.slice(0, 8), pair.far, local.remote().slice(8, 8), i);
                    pair.awaitToken(i);
                }
            }
        }
    }
}
