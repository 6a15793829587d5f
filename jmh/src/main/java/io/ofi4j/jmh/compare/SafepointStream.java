package io.ofi4j.jmh.compare;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The JVM of {@link Safepoints}: one thread streams writes, the other asks for safepoints. */
final class SafepointStream {
    /** How many writes are in flight. */
    static final int WINDOW = World.BATCH;
    /** What stands before the sentence that says what went wrong, on stdout. */
    static final String FAILED = "failed: ";

    /** After so many writes the code is compiled, and the stream under way; a slow one is after so many seconds. */
    private static final long WARM_UP = 2000;
    private static final int WARM_UP_SECONDS = 10;
    private static final int LONGEST_SECONDS = 60;

    private volatile long completed;
    private volatile boolean isOver;
    private volatile String failure;

    private SafepointStream() {}

    /** Takes a provider, how many bytes a write has, and how many safepoints to ask for. */
    public static void main(String[] arguments) throws InterruptedException {
        SafepointStream stream = new SafepointStream();
        Thread streaming = Thread.ofPlatform().daemon()
                .start(() -> stream.run(arguments[0], Integer.parseInt(arguments[1])));
        stream.askForSafepoints(streaming, Integer.parseInt(arguments[2]));
        if (stream.failure != null) {
            System.out.println(FAILED + stream.failure);
            System.exit(1);
        }
    }

    private void askForSafepoints(Thread streaming, int count) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WARM_UP_SECONDS);
        while (completed < WARM_UP && streaming.isAlive() && System.nanoTime() - deadline < 0) {
            Thread.onSpinWait();
        }
        for (int i = 0; i < count && streaming.isAlive(); i++) {
            Thread.getAllStackTraces(); // at a safepoint
            TimeUnit.MILLISECONDS.sleep(1);
        }
        isOver = true;
        if (!streaming.join(Duration.ofSeconds(LONGEST_SECONDS))) {
            failure = "the last writes have not completed within " + LONGEST_SECONDS + " seconds";
        }
    }

    private void run(String provider, int size) {
        try (World world = new World(Family.RMA, Safepoints.MODELS.hints(provider), size)) {
            while (!isOver || world.completed < world.posted) {
                while (!isOver && world.posted - world.completed < WINDOW
                        && world.rma.tryWrite(world.local, 0, size, world.peer, world.remote, 0, 0)) {
                    world.posted++;
                }
                world.makeProgress();
                completed = world.completed;
            }
        } catch (RuntimeException e) {
            failure = String.valueOf(e.getMessage()).replace('\n', ' ');
        }
    }
}
