package io.ofi4j.support;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;

/** Runs the main class of a {@link Forked} JVM. An exception that ends any thread ends the JVM with a status of its own. */
public final class ForkedMain {
    private static final int UNCAUGHT = 70;

    private ForkedMain() {}

    /** The name of the main class, and its arguments. */
    public static void main(String[] arguments) throws Throwable {
        Thread.setDefaultUncaughtExceptionHandler(ForkedMain::end);
        Method main = Class.forName(arguments[0]).getDeclaredMethod("main", String[].class);
        main.setAccessible(true);
        try {
            main.invoke(null, (Object) Arrays.copyOfRange(arguments, 1, arguments.length));
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    /** The shutdown hooks run: they remove the files of endpoints. */
    private static void end(Thread thread, Throwable thrown) {
        System.err.print("Exception in thread \"" + thread.getName() + "\" ");
        thrown.printStackTrace();
        System.exit(UNCAUGHT);
    }
}
