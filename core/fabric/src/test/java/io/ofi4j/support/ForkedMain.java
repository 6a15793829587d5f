package io.ofi4j.support;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;

/**
 * Runs the main class of a {@link Forked} JVM. An exception that ends any thread ends the JVM with a status of its own.
 */
public final class ForkedMain {
    private static final int UNCAUGHT = 70;

    private ForkedMain() {}

    /** The name of the main class, and its arguments. */
    public static void main(String[] arguments) throws Throwable {
        Thread.setDefaultUncaughtExceptionHandler(ForkedMain::end);
        removeFilesOfThisNumber();
        Method main = Class.forName(arguments[0]).getDeclaredMethod("main", String[].class);
        main.setAccessible(true);
        try {
            main.invoke(null, (Object) Arrays.copyOfRange(arguments, 1, arguments.length));
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    /** Of a process that was killed and had the number of this one: shm refuses to make them anew. */
    private static void removeFilesOfThisNumber() throws IOException {
        String prefix = ProcessHandle.current().pid() + ":";
        try (Stream<Path> files = Files.list(Path.of("/dev/shm"))) {
            files.filter(file -> file.getFileName().toString().startsWith(prefix))
                    .forEach(file -> file.toFile().delete());
        }
    }

    /** The shutdown hooks run: they remove the files of endpoints. A hook that throws ends the JVM itself. */
    private static void end(Thread thread, Throwable thrown) {
        System.err.print("Exception in thread \"" + thread.getName() + "\" ");
        thrown.printStackTrace();
        if (isShuttingDown()) { Runtime.getRuntime().halt(UNCAUGHT); } // System.exit would wait for this thread
        System.exit(UNCAUGHT);
    }

    private static boolean isShuttingDown() {
        Thread hook = new Thread();
        try {
            Runtime.getRuntime().addShutdownHook(hook);
            Runtime.getRuntime().removeShutdownHook(hook);
            return false;
        } catch (IllegalStateException e) {
            return true;
        }
    }
}
