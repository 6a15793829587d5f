package io.ofi4j.hostile;

import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.DetailedCompletionHandler;
import io.ofi4j.Waiting;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.ProgressModel;
import io.ofi4j.support.ForeignChannel;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.net.InetSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/** Extreme and foreign values of every type that the public API takes. */
final class HostileValues {
    private static final long[] LONGS = {0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE, 8, 64, 63, 4096, Integer.MAX_VALUE,
            1L << 32};
    private static final int[] INTS = {0, 1, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, 2, 16, 64};
    /** Short: nobody waits for long. */
    private static final List<Duration> DURATIONS = List.of(Duration.ZERO, Duration.ofNanos(1), Duration.ofMillis(1),
            Duration.ofMillis(-1), Duration.ofSeconds(Long.MIN_VALUE));
    private static final List<String> STRINGS = List.of("", "shm", "127.0.0.1", "::1", "0", "65536", "\0",
            "a".repeat(300), "../x", "%s%n", "\u00e4\u4e2d", "lo", "80");
    private static final int GUARD = 0x5a;
    private static final int GUARD_LENGTH = 64;
    private static final int LENGTH = 4096;

    private final HostilePool pool;
    private final Path file;
    private final FileChannel channel;
    private final Arena arena = Arena.ofShared();
    /** Guards on both sides of what is registered. */
    private final MemorySegment guarded = arena.allocate(LENGTH + 2 * GUARD_LENGTH).fill((byte) GUARD);

    HostileValues(HostilePool pool) throws IOException {
        this.pool = pool;
        this.file = Files.createTempFile("ofi4j", ".hostile");
        file.toFile().deleteOnExit();
        this.channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    /** {@return a value of this type; null in one of 20 cases, or if there is none} */
    Object value(Random random, Class<?> type) {
        if (!type.isPrimitive() && random.nextInt(20) == 0) { return null; }
        if (type.isPrimitive()) { return primitive(random, type); }
        // closing a domain of net with a thread may hang
        if (type == ProgressModel.class) { return ProgressModel.MANUAL; }
        if (type.isEnum()) { return pick(random, type.getEnumConstants()); }
        if (type.isArray()) { return array(random, type.getComponentType()); }
        Object plain = plain(random, type);
        return plain != null ? plain : pool.one(random, type).orElse(null);
    }

    private static Object primitive(Random random, Class<?> type) {
        if (type == boolean.class) { return random.nextBoolean(); }
        if (type == long.class) { return LONGS[random.nextInt(LONGS.length)]; }
        if (type == int.class) { return INTS[random.nextInt(INTS.length)]; }
        return Array.get(Array.newInstance(type, 1), 0);
    }

    private Object array(Random random, Class<?> of) {
        Object array = Array.newInstance(of, random.nextInt(3));
        for (int i = 0; i < Array.getLength(array); i++) {
            Array.set(array, i, of == byte.class ? (byte) random.nextInt() : value(random, of));
        }
        return array;
    }

    private Object plain(Random random, Class<?> type) {
        return switch (type.getSimpleName()) {
            case "String" -> pick(random, STRINGS.toArray());
            case "Duration" -> pick(random, DURATIONS.toArray());
            case "MemorySegment" -> segment(random);
            case "FileChannel" -> random.nextBoolean() ? channel : new ForeignChannel(channel, segment(random));
            case "MapMode" -> pick(random, FileChannel.MapMode.READ_ONLY, FileChannel.MapMode.READ_WRITE,
                    FileChannel.MapMode.PRIVATE);
            case "Path" -> pick(random, file, Path.of("/dev/null"), Path.of("/"), Path.of("/nonexistent"),
                    HostileForeign.path(random, file));
            case "SelectableChannel" -> HostileForeign.channel(random);
            case "Map" -> HostileForeign.map();
            case "Waiting" -> random.nextBoolean() ? Waiting.YIELD : (Waiting) turn -> HostileForeign.pause(random);
            case "Runnable" -> (Runnable) () -> HostileForeign.pause(random);
            case "Consumer" -> (Consumer<Object>) object -> HostileForeign.pause(random);
            case "LongConsumer" -> (LongConsumer) value -> HostileForeign.pause(random);
            case "Optional" -> Optional.empty();
            case "InetSocketAddress" -> new InetSocketAddress("127.0.0.1", random.nextInt(65_536));
            case "Object" -> "any";
            case "BooleanSupplier" -> (BooleanSupplier) random::nextBoolean;
            case "WorkHandler" -> HostileForeign.workHandler(random);
            case "CompletionHandler", "DetailedCompletionHandler" -> handler(random);
            case "EndpointAddress" ->
                random.nextBoolean() ? null : EndpointAddress.of(new byte[1 + random.nextInt(40)]);
            default -> null;
        };
    }

    private MemorySegment segment(Random random) {
        return switch (random.nextInt(7)) {
            case 0 -> MemorySegment.ofArray(new byte[64]);
            case 1 -> MemorySegment.NULL;
            case 2 -> guarded.asSlice(GUARD_LENGTH, LENGTH).asReadOnly();
            case 3 -> Arena.ofAuto().allocate(64);
            default -> guarded.asSlice(GUARD_LENGTH + random.nextInt(64), 1 + random.nextInt(LENGTH - 64));
        };
    }

    /** {@return whether nothing outside of what was registered has changed} */
    boolean areGuardsWhole() {
        for (int i = 0; i < GUARD_LENGTH; i++) {
            if (guarded.get(ValueLayout.JAVA_BYTE, i) != GUARD
                    || guarded.get(ValueLayout.JAVA_BYTE, GUARD_LENGTH + LENGTH + i) != GUARD) {
                return false;
            }
        }
        return true;
    }

    private CompletionHandler handler(Random random) {
        boolean throwsSome = random.nextInt(4) == 0;
        return new DetailedCompletionHandler() {
            @Override
            public void onCompletion(long token, long flags, long length, long data, long buffer, long tag,
                    long source) {
                if (throwsSome) { throw new IllegalStateException("thrown by a hostile handler"); }
            }

            @Override
            public void onCompletion(long token, long flags, long length, long data) {
                if (throwsSome) { throw new IllegalStateException("thrown by a hostile handler"); }
            }

            @Override
            public void onError(CompletionError error) { pool.add(new Random(), error); }
        };
    }

    private static Object pick(Random random, Object... of) { return of[random.nextInt(of.length)]; }

    /** {@return arguments for a call} */
    Object[] arguments(Random random, Method call) {
        Type[] types = call.getGenericParameterTypes();
        Object[] values = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            values[i] = types[i] instanceof ParameterizedType generic
                    && Collection.class.isAssignableFrom((Class<?>) generic.getRawType())
                            ? collection(random, generic)
                            : value(random, call.getParameterTypes()[i]);
        }
        return values;
    }

    private Object collection(Random random, ParameterizedType generic) {
        List<Object> all = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            all.add(value(random, (Class<?>) generic.getActualTypeArguments()[0]));
        }
        if (!all.isEmpty() && random.nextInt(4) == 0) {
            return generic.getRawType() == Set.class
                    ? HostileForeign.set(random, all)
                    : HostileForeign.list(random, all);
        }
        return generic.getRawType() == Set.class ? new HashSet<>(all) : all;
    }
}
