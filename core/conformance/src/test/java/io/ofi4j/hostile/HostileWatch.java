package io.ofi4j.hostile;

import io.ofi4j.support.Patience;

/** Ends a run that hangs, and prints where its threads are. */
final class HostileWatch {
    private static final int HUNG = 71;
    private static final long GRACE_MILLIS = Patience.seconds(Integer.getInteger("ofi4j.hostile.grace", 90)).toMillis();

    private HostileWatch() {}

    static Thread start(long seconds) {
        return Thread.ofPlatform().daemon().name("hostile-watch").start(() -> {
            try {
                Thread.sleep(seconds * 1000 + GRACE_MILLIS);
            } catch (InterruptedException e) {
                return;
            }
            System.out.println("the run hangs:");
            print();
            Runtime.getRuntime().halt(HUNG);
        });
    }

    /** Prints the stacks of all threads. */
    static void print() {
        Thread.getAllStackTraces().forEach((thread, frames) -> {
            System.out.println(thread);
            for (StackTraceElement frame : frames) {
                System.out.println("    at " + frame);
            }
        });
    }
}
