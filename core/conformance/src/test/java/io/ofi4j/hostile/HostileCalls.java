package io.ofi4j.hostile;

import io.ofi4j.info.FabricInfo;
import io.ofi4j.util.FabricFuture;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Threads call any public method of any object with any arguments, closes included: every pair of calls meets. */
final class HostileCalls {
    /** Adds the objects that a round begins with. */
    interface Stage {
        void set(HostileRun run, Random random, HostilePool pool);
    }

    private static final int THREADS = 4;
    /** They wait as long as they are told, print, or end the process. */
    private static final Set<String> LEFT_OUT = Set.of("equals", "hashCode", "getClass", "wait", "notify", "notifyAll",
            "abort");

    private final HostileRun run;
    private final Stage stage;
    private final List<Class<?>> statics;
    private final HostilePool pool = new HostilePool();
    private final HostileValues values;

    private HostileCalls(HostileRun run, Stage stage, List<Class<?>> statics) throws IOException {
        this.run = run;
        this.stage = stage;
        this.statics = statics;
        this.values = new HostileValues(pool);
    }

    /** Calls the methods of what a stage has, and the static ones of these classes. */
    static void run(HostileRun run, Stage stage, List<Class<?>> statics) throws Exception {
        new HostileCalls(run, stage, statics).runAll();
    }

    private void runAll() throws Exception {
        Random random = run.random();
        int rounds = 0;
        do {
            stage.set(run, random, pool);
            long end = System.nanoTime() + 500_000_000;
            run.inThreads(THREADS, () -> {
                Random own = run.random();
                do {
                    call(own);
                } while (run.goesOn() && System.nanoTime() < end);
            });
            List<AutoCloseable> left = pool.closeAll(run);
            if (!left.isEmpty()) { run.fail(new AssertionError("cannot be closed: " + whyNot(left))); }
            if (!values.areGuardsWhole()) {
                run.fail(new AssertionError("memory was written that was not registered"));
            }
            rounds++;
        } while (run.goesOn());
        System.out.println(rounds + " rounds");
        if (run.count("calls") == 0) { run.fail(new AssertionError("no call was made")); }
    }

    private static String whyNot(List<AutoCloseable> left) {
        return left.stream().map(each -> {
            try {
                each.close();
                return each + " was closed in the end";
            } catch (Exception e) {
                return each + ": " + e.getMessage();
            }
        }).collect(Collectors.joining("; "));
    }

    private void call(Random random) {
        Object target = random.nextInt(20) == 0 ? null : pool.one(random, Object.class).orElseThrow();
        Class<?> type = target == null ? statics.get(random.nextInt(statics.size())) : publicType(target);
        List<Method> methods = Stream.of(type.getMethods())
                .filter(method -> Modifier.isStatic(method.getModifiers()) == (target == null) && isCalled(method))
                .toList();
        if (methods.isEmpty()) { return; }
        Method method = methods.get(random.nextInt(methods.size()));
        if (method.getName().equals("close") && random.nextInt(8) > 0) { return; }
        call(random, method, target);
    }

    /** A future waits without a deadline, and other calls poll its queue. */
    private static boolean isCalled(Method method) {
        return !LEFT_OUT.contains(method.getName()) && !method.isBridge()
                && !(method.getDeclaringClass() == FabricFuture.class && method.getName().equals("await"))
                && method.getDeclaringClass().getName().startsWith("io.ofi4j.");
    }

    private static Class<?> publicType(Object object) {
        Class<?> type = object.getClass();
        while (!Modifier.isPublic(type.getModifiers())) {
            type = type.getSuperclass() == Object.class && type.getInterfaces().length > 0
                    ? type.getInterfaces()[0]
                    : type.getSuperclass();
        }
        return type;
    }

    private void call(Random random, Method method, Object target) {
        String name = method.getDeclaringClass().getSimpleName() + "." + method.getName();
        Object[] arguments = values.arguments(random, method);
        try {
            method.setAccessible(true); // a public method of a class that is not public itself, such as Prepared
            keep(random, method.invoke(target, arguments));
            run.tried("calls");
        } catch (InvocationTargetException e) {
            refused(name + text(arguments), mayHoldNull(arguments), e.getCause());
        } catch (IllegalAccessException e) {
            run.fail(e);
        }
    }

    /** A foreign list or path may throw here too. */
    private static String text(Object[] arguments) {
        try {
            return Arrays.deepToString(arguments);
        } catch (RuntimeException e) {
            return "[arguments without a text, of them null: " + Arrays.asList(arguments).contains(null) + "]";
        }
    }

    /** A foreign list may have answered null, and print something else. */
    private static boolean mayHoldNull(Object[] arguments) {
        return Stream.of(arguments).anyMatch(one -> one == null || one instanceof Collection<?>);
    }

    private void refused(String name, boolean mayHoldNull, Throwable thrown) {
        switch (thrown) {
            case OutOfMemoryError e -> run.tried("calls without memory");
            case IOException e -> run.tried("calls, refused");
            case NullPointerException e when mayHoldNull || name.contains("null") -> run.tried("calls, refused");
            case Exception e -> {
                run.requireNamed(name, e);
                run.tried("calls, refused");
            }
            default -> run.fail(new AssertionError(name, thrown));
        }
    }

    private void keep(Random random, Object result) {
        if (result instanceof Optional<?> optional) {
            optional.ifPresent(value -> keep(random, value));
        } else if (result instanceof Collection<?> all) {
            all.stream().limit(4).forEach(value -> keep(random, value));
        } else if (result instanceof FabricInfo info && info.provider().equals("sm2")) {
            // closing an endpoint of it that is not enabled ends the process: sm2-lnx.md
            run.tried("infos of sm2, left out");
        } else if (result != null && result.getClass().getName().startsWith("io.ofi4j.")) {
            pool.add(random, result);
        } else if (result instanceof AutoCloseable) { pool.add(random, result); }
    }
}
