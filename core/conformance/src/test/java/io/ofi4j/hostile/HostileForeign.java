package io.ofi4j.hostile;

import io.ofi4j.verbs.WorkError;
import io.ofi4j.verbs.WorkHandler;
import io.ofi4j.verbs.WorkKind;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Path;
import java.util.AbstractList;
import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/** Implementations of the JDK's types that an application may have: they throw, and answer something else each time. */
final class HostileForeign {
    private static final int MAX_SIZE = 5;

    private HostileForeign() {}

    private static IllegalStateException thrown() {
        return new IllegalStateException("thrown by a foreign implementation");
    }

    /** A path that says it is of the default file system, and is none of its own. */
    static Path path(Random random, Path real) {
        return (Path) Proxy.newProxyInstance(HostileForeign.class.getClassLoader(), new Class<?>[]{Path.class},
                (proxy, method, arguments) -> {
                    if (random.nextInt(8) == 0) { throw thrown(); }
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    /** A list whose size says nothing about how many elements there are. */
    static <T> List<T> list(Random random, List<T> some) {
        return new AbstractList<>() {
            @Override
            public T get(int index) {
                if (random.nextInt(8) == 0) { throw thrown(); }
                return some.get(random.nextInt(some.size()));
            }

            @Override
            public int size() { return random.nextInt(MAX_SIZE); }
        };
    }

    /** A set whose size says nothing about how many elements there are. */
    static <T> Set<T> set(Random random, List<T> some) {
        return new AbstractSet<>() {
            @Override
            public Iterator<T> iterator() {
                return new Iterator<>() {
                    private int left = random.nextInt(MAX_SIZE);

                    @Override
                    public boolean hasNext() { return left > 0; }

                    @Override
                    public T next() {
                        if (left-- <= 0 || random.nextInt(8) == 0) { throw thrown(); }
                        return some.get(random.nextInt(some.size()));
                    }
                };
            }

            @Override
            public int size() { return random.nextInt(MAX_SIZE); }
        };
    }

    static Map<String, String> map() {
        return new AbstractMap<>() {
            @Override
            public Set<Entry<String, String>> entrySet() { throw thrown(); }
        };
    }

    /** A channel that is of no selector. */
    static SelectableChannel channel(Random random) {
        return new SelectableChannel() {
            @Override
            public SelectorProvider provider() { return null; }

            @Override
            public int validOps() { return random.nextInt(); }

            @Override
            public boolean isRegistered() { return random.nextBoolean(); }

            @Override
            public SelectionKey keyFor(Selector selector) { return null; }

            @Override
            public SelectionKey register(Selector selector, int operations, Object attachment) {
                if (random.nextBoolean()) { throw thrown(); }
                return null;
            }

            @Override
            public SelectableChannel configureBlocking(boolean block) { return this; }

            @Override
            public boolean isBlocking() { return random.nextBoolean(); }

            @Override
            public Object blockingLock() { return this; }

            @Override
            protected void implCloseChannel() {
                // There is nothing to close.
            }
        };
    }

    /** A handler of completions and errors that throws now and then. */
    static WorkHandler workHandler(Random random) {
        return new WorkHandler() {
            @Override
            public void onCompletion(long token, WorkKind kind, int length, int flags, int word) { pause(random); }

            @Override
            public void onError(WorkError error) { pause(random); }
        };
    }

    /** A wait that throws now and then. */
    static void pause(Random random) {
        if (random.nextInt(16) == 0) { throw thrown(); }
    }
}
