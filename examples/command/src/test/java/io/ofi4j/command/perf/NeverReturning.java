package io.ofi4j.command.perf;

import java.io.PrintWriter;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.time.Duration;

/** Calls what does not return, as a provider may that waits for a lock; in a process of its own. */
public final class NeverReturning {
    private NeverReturning() {}

    @SuppressWarnings("restricted")
    public static void main(String[] arguments) throws Throwable {
        Linker linker = Linker.nativeLinker();
        var sleep = linker.downcallHandle(linker.defaultLookup().find("sleep").orElseThrow(),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT),
                arguments[0].equals("critical")
                        ? new Linker.Option[]{Linker.Option.critical(false)}
                        : new Linker.Option[0]);
        try (Watchdog watchdog = Watchdog.start(Duration.ofSeconds(1), new PrintWriter(System.err),
                "the server at HOST:1")) {
            if (arguments[0].equals("slow")) {
                watchdog.watchSlow();
            } else {
                watchdog.watch();
            }
            int left = (int) sleep.invokeExact(1000);
            System.out.println(left);
        }
    }
}
