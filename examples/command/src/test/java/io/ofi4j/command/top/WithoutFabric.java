package io.ofi4j.command.top;

/** A JVM that has nothing to do with libfabric. */
public final class WithoutFabric {
    private static final long LONGEST_MILLIS = 300_000;

    private WithoutFabric() {}

    public static void main(String[] arguments) throws InterruptedException {
        System.out.println("waiting");
        Thread.sleep(LONGEST_MILLIS);
    }
}
