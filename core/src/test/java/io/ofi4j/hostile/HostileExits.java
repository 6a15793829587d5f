package io.ofi4j.hostile;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.RemoteRegion;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import java.util.Random;

/** JVMs that end in the middle of traffic: by System.exit, by halt, by an Error, with hooks that open and close. */
final class HostileExits {
    private static final int STATUS = 42;

    private HostileExits() {}

    static void run(HostileRun run) {
        Random random = run.random();
        while (run.goesOn()) {
            Forked.Result result = Forked.run(Exits.class, run.provider, Integer.toString(random.nextInt(4)),
                    Integer.toString(random.nextInt(50)));
            run.tried("exits in traffic");
            if (result.exit() != STATUS) {
                run.fail(new AssertionError("ended with " + result.exit() + ":\n" + result.output()));
            }
        }
    }

    /** Ends after some milliseconds of traffic. */
    static final class Exits {
        private Exits() {}

        public static void main(String[] arguments) throws InterruptedException {
            Pair pair = new Pair(arguments[0]);
            MemoryRegion local = pair.domain.allocate(4096, Access.values());
            Thread traffic = Thread.ofPlatform().daemon().start(() -> write(pair, local));
            Thread.sleep(Integer.parseInt(arguments[2]));
            switch (arguments[1]) {
                case "0" -> System.exit(STATUS);
                case "1" -> Runtime.getRuntime().halt(STATUS);
                case "2" -> {
                    Runtime.getRuntime().addShutdownHook(new Thread(() -> new Pair(arguments[0]).close()));
                    System.exit(STATUS);
                }
                default -> {
                    Runtime.getRuntime().addShutdownHook(new Thread(pair.endpoint::close));
                    traffic.interrupt();
                    System.exit(STATUS);
                }
            }
        }

        private static void write(Pair pair, MemoryRegion local) {
            RemoteRegion remote = local.remote();
            try {
                while (true) {
                    pair.rma().write(local, 0, 2048, pair.far, remote, 2048, 1);
                    pair.poll();
                }
            } catch (RuntimeException e) { // the hook has closed the endpoint, or the interrupt ends a wait
                return;
            }
        }
    }
}
