package io.ofi4j.internal.engine;

import java.util.Map;

/**
 * Numbers the threads inside a {@link ThreadGuard}, and finds out whether one is still inside. Not for the data path.
 * It uses neither lambdas nor string concatenation: if their first use came when the stack is almost full, it would
 * fail, and so would all later uses.
 */
final class GuardHolder {
    private GuardHolder() {}

    /** {@return the number of a thread: never 0, below 0 for a virtual thread, whose stack other threads cannot see} */
    static long number(Thread thread) {
        return thread.isVirtual() ? -thread.threadId() : thread.threadId();
    }

    /** {@return whether it has ended, or is in no call of this library} */
    static boolean isOutside(long number) {
        if (number < 0) { return false; }
        for (Map.Entry<Thread, StackTraceElement[]> thread : Thread.getAllStackTraces().entrySet()) {
            if (thread.getKey().threadId() == number) { return isOutside(thread.getValue()); }
        }
        return true;
    }

    private static boolean isOutside(StackTraceElement[] frames) {
        for (StackTraceElement frame : frames) {
            String name = frame.getClassName();
            boolean isPublic = name.startsWith("io.ofi4j.") && Character.isUpperCase(name.charAt("io.ofi4j.".length()));
            if (isPublic || name.startsWith("io.ofi4j.internal.") || name.startsWith("io.ofi4j.verbs.")) {
                return false;
            }
        }
        return true;
    }

    static String name(long number) {
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.threadId() == number) { return "thread '".concat(thread.getName()).concat("'"); }
        }
        return number < 0 ? "a virtual thread" : "a thread that has ended";
    }
}
