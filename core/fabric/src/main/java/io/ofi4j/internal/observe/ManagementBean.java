package io.ofi4j.internal.observe;

import java.lang.management.ManagementFactory;
import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Registers a bean with the JVM's own MBean server. The module java.management is optional: without it, nothing is
 * registered.
 */
public final class ManagementBean {
    private static final boolean IS_OFF = System.getProperty("io.ofi4j.jmx", "").equals("false");
    /** The server takes a quarter of a second of a processor to start, and 4 MB: short programs need not spend that. */
    private static final long DELAY_MILLIS = 2000;

    private ManagementBean() {}

    /** Registers it later, in a thread that ends then. Where memory, threads or descriptors are short, it is not. */
    public static void registerLater(Object bean, String name) {
        if (IS_OFF || !isPossible()) { return; }
        Thread thread = Thread.ofPlatform().daemon().name("ofi4j-jmx").inheritInheritableThreadLocals(false)
                .unstarted(() -> {
                    try {
                        Thread.sleep(DELAY_MILLIS);
                    } catch (InterruptedException e) {
                        return; // somebody wants this thread to end
                    }
                    Server.register(bean, name);
                });
        thread.setContextClassLoader(null);
        try {
            thread.start();
        } catch (OutOfMemoryError e) {
            return; // the system has no thread to give: what a program opens works without this one
        }
    }

    private static boolean isPossible() {
        try {
            Class.forName("javax.management.MBeanServer", false, ManagementBean.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /** Loaded only where the module is. */
    private static final class Server {
        static void register(Object bean, String name) {
            try {
                MBeanServer server = ManagementFactory.getPlatformMBeanServer();
                try {
                    server.registerMBean(bean, new ObjectName(name));
                } catch (InstanceAlreadyExistsException e) { // of another class loader
                    server.registerMBean(bean,
                            new ObjectName(name + ",copy=" + Integer.toHexString(System.identityHashCode(bean))));
                }
            } catch (JMException | RuntimeException e) {
                System.getLogger("io.ofi4j").log(System.Logger.Level.DEBUG, "the bean " + name + " is not registered",
                        e);
            } catch (LinkageError | OutOfMemoryError e) {
                return; // memory or descriptors are short: to log it may fail as well
            }
        }
    }
}
