package io.ofi4j.command;

import java.lang.reflect.Proxy;
import java.util.Optional;

/**
 * The first Ctrl-C asks the work to end and to print what it has; the second ends the process as ever. By reflection:
 * the compiler warns of {@code sun.misc.Signal}, and cannot be told not to, though {@code jdk.unsupported} exports it,
 * and there is no other way.
 */
public final class Interrupt implements AutoCloseable {
    /** As shells say it of a process that SIGINT has ended. */
    public static final int EXIT_CODE = 130;

    private volatile boolean asked;
    private final boolean onceOnly;
    private final Object previous;

    /** From now on. */
    public Interrupt() { this(true); }

    private Interrupt(boolean onceOnly) {
        this.onceOnly = onceOnly;
        previous = handle(handler());
    }

    /** {@return one for a process whose parent decides about the second: a terminal sends each to both} */
    public static Interrupt ofChild() {
        return new Interrupt(false);
    }

    /**
     * {@return a sentence for who will press Ctrl-C in vain; empty where it works} Shells have what they start in the
     * background of a script ignore SIGINT, children inherit that, and the JVM leaves an ignored signal alone.
     */
    public static Optional<String> obstacle() {
        try (Interrupt tried = new Interrupt()) {
            return tried.isIgnored()
                    ? Optional.of(
                            "ofi4j: Ctrl-C does not end this, for SIGINT was ignored when it was started, as scripts do"
                                    + " with what they start in the background: 'kill " + ProcessHandle.current().pid()
                                    + "' does.")
                    : Optional.empty();
        }
    }

    private boolean isIgnored() {
        try {
            return previous == type("sun.misc.SignalHandler").getField("SIG_IGN").get(null);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e); // jdk.unsupported is required
        }
    }

    private Object handler() {
        Class<?> type = type("sun.misc.SignalHandler");
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[]{type}, (proxy, method, arguments) -> {
            return switch (method.getName()) {
                case "handle" -> ask();
                case "equals" -> proxy == arguments[0];
                case "hashCode" -> System.identityHashCode(proxy);
                default -> "Interrupt";
            };
        });
    }

    private Object ask() {
        asked = true;
        if (onceOnly) { handle(previous); }
        return null;
    }

    private static Object handle(Object handler) {
        Class<?> signal = type("sun.misc.Signal");
        try {
            return signal.getMethod("handle", signal, type("sun.misc.SignalHandler")).invoke(null,
                    signal.getConstructor(String.class).newInstance("INT"), handler);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e); // jdk.unsupported is required
        }
    }

    private static Class<?> type(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e); // as above
        }
    }

    /** {@return whether there was one} */
    public boolean isAsked() { return asked; }

    @Override
    public void close() { handle(previous); }
}
