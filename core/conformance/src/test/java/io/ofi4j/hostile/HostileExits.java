package io.ofi4j.hostile;

import io.ofi4j.info.Capability;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** JVMs that end in the middle of traffic: by System.exit, by halt, by an Error, with hooks that open and close. */
final class HostileExits {
    private static final int STATUS = 42;

    private HostileExits() {}

    static void run(HostileRun run) {
        Random random = run.random();
        while (run.goesOn()) {
            Capability family = HostileFamilies.one(random, run.provider);
            List<String> arguments = new ArrayList<>(HostileJvm.chosen().options());
            arguments.addAll(List.of(run.provider, family.name(), Integer.toString(random.nextInt(4)),
                    Integer.toString(random.nextInt(50))));
            Forked.Result result = Forked.run(Exits.class, arguments.toArray(String[]::new));
            run.tried("exits in traffic of " + family);
            if (result.exit() != STATUS) {
                run.fail(new AssertionError("ended with " + result.exit() + ":\n" + result.output()));
            }
        }
    }

    /** Ends after some milliseconds of traffic. */
    static final class Exits {
        private Exits() {}

        public static void main(String[] arguments) throws InterruptedException {
            HostileTraffic traffic = new HostileTraffic(arguments[0], Capability.valueOf(arguments[1]));
            Thread working = Thread.ofPlatform().daemon().start(() -> work(traffic));
            Thread.sleep(Integer.parseInt(arguments[3]));
            switch (arguments[2]) {
                case "0" -> System.exit(STATUS);
                case "1" -> Runtime.getRuntime().halt(STATUS);
                case "2" -> {
                    Runtime.getRuntime().addShutdownHook(new Thread(() -> openAndClose(arguments[0])));
                    System.exit(STATUS);
                }
                default -> {
                    Runtime.getRuntime().addShutdownHook(new Thread(traffic.pair.endpoint::close));
                    working.interrupt();
                    System.exit(STATUS);
                }
            }
        }

        /** Behind the hook of the library, what would leave a file is refused. */
        private static void openAndClose(String provider) {
            try (Pair pair = new Pair(provider)) {
                pair.poll();
            } catch (IllegalStateException e) {
                if (!e.getMessage().startsWith("this process exits: ")) { throw e; }
            }
        }

        private static void work(HostileTraffic traffic) {
            Random random = new Random(1);
            try {
                while (true) {
                    traffic.tryPost(random, 1);
                    traffic.tryReceive(random, 0);
                    traffic.pair.poll();
                }
            } catch (RuntimeException e) { // the hook has closed the endpoint, or the interrupt ends a wait
                return;
            }
        }
    }
}
