package io.ofi4j.jmh.compare;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** What a worker is told on stdin, a line each, and answers on stdout. */
final class Commands {
    private static final String END = "";
    private static final int LONGEST_COMMAND_SECONDS = 60;

    private static final BlockingQueue<String> COMMANDS = new LinkedBlockingQueue<>();

    private Commands() {}

    /** Whether another command has come. */
    static boolean isNext() { return !COMMANDS.isEmpty(); }

    /** Hands every command, as its words, to this thread's worker, until stdin ends. */
    static void obey(Function<String[], String> worker) throws InterruptedException {
        Thread.ofPlatform().daemon().start(Commands::read);
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        String command;
        while (!END.equals(command = COMMANDS.take())) {
            String answer;
            try {
                answer = worker.apply(command.split(" "));
            } catch (RuntimeException | Error e) {
                answer = "error " + String.valueOf(e.getMessage()).replace('\n', ' ');
                e.printStackTrace(); // where it happened; the driver shows the sentence
            }
            out.println(answer);
            out.flush();
        }
    }

    /** A worker whose driver is gone must not spin for ever. */
    private static void read() {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            String line;
            while ((line = in.readLine()) != null) {
                COMMANDS.add(line);
            }
            COMMANDS.add(END);
            TimeUnit.SECONDS.sleep(LONGEST_COMMAND_SECONDS);
            System.exit(1);
        } catch (IOException | InterruptedException e) {
            System.exit(1);
        }
    }
}
