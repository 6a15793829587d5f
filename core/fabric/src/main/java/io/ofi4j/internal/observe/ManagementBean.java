package io.ofi4j.internal.observe;

import java.lang.management.ManagementFactory;
import javax.management.InstanceAlreadyExistsException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * A bean that the JVM's own MBean server shows while it is wanted. That server would keep the class loader of a program
 * that an application server has unloaded. The module java.management is optional: without it, nothing is shown.
 */
public final class ManagementBean {
    private static final boolean IS_POSSIBLE = !System.getProperty("io.ofi4j.jmx", "").equals("false")
            && hasManagement();
    /** The server takes a quarter of a second of a processor to start, and 4 MB: short programs need not spend that. */
    private static final long DELAY_MILLIS = 2000;

    private enum State {
        HIDDEN, COMING, SHOWN
    }

    private final Object bean;
    private final String name;
    private State state = State.HIDDEN;
    private boolean isWanted;
    /** Its name in the server, of a class that may be missing. */
    private Object shownAs;

    public ManagementBean(Object bean, String name) {
        this.bean = bean;
        this.name = name;
    }

    private static boolean hasManagement() {
        try {
            Class.forName("javax.management.MBeanServer", false, ManagementBean.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /**
     * Shows it in two seconds, if it is wanted then. A thread does that, and ends. Where memory, threads or descriptors
     * are short, it is not shown.
     */
    public synchronized void show() {
        isWanted = true;
        if (!IS_POSSIBLE || state != State.HIDDEN) { return; }
        Thread thread = Thread.ofPlatform().daemon().name("ofi4j-jmx").inheritInheritableThreadLocals(false)
                .unstarted(this::showLater);
        thread.setContextClassLoader(null);
        state = State.COMING;
        try {
            thread.start();
        } catch (OutOfMemoryError e) {
            state = State.HIDDEN; // the system has no thread to give: what a program opens works without this one
        }
    }

    private void showLater() {
        boolean hasServer = false;
        try {
            Thread.sleep(DELAY_MILLIS);
            hasServer = isWanted() && Server.start();
        } catch (InterruptedException e) {
            return; // somebody wants this thread to end
        } finally {
            finish(hasServer);
        }
    }

    private synchronized boolean isWanted() { return isWanted; }

    private synchronized void finish(boolean hasServer) {
        shownAs = hasServer && isWanted ? Server.register(bean, name) : null;
        state = shownAs == null ? State.HIDDEN : State.SHOWN;
    }

    /** Shows it no longer, or not at all. */
    public synchronized void hide() {
        isWanted = false;
        if (state == State.SHOWN) {
            Server.unregister(shownAs);
            shownAs = null;
            state = State.HIDDEN;
        }
    }

    /** Loaded only where the module is. */
    private static final class Server {
        /** {@return whether there is a server} */
        static boolean start() {
            try {
                ManagementFactory.getPlatformMBeanServer();
                return true;
            } catch (RuntimeException e) {
                log("there is no MBean server", e);
            } catch (LinkageError | OutOfMemoryError e) {
                return false; // memory or descriptors are short: to log it may fail as well
            }
            return false;
        }

        /** {@return under which name, or null} */
        static Object register(Object bean, String name) {
            try {
                MBeanServer server = ManagementFactory.getPlatformMBeanServer();
                try {
                    return server.registerMBean(bean, new ObjectName(name)).getObjectName();
                } catch (InstanceAlreadyExistsException e) { // of another class loader
                    String other = name + ",copy=" + Integer.toHexString(System.identityHashCode(bean));
                    return server.registerMBean(bean, new ObjectName(other)).getObjectName();
                }
            } catch (JMException | RuntimeException e) {
                log("the bean " + name + " is not registered", e);
            } catch (LinkageError | OutOfMemoryError e) {
                return null; // as above
            }
            return null;
        }

        static void unregister(Object name) {
            try {
                ManagementFactory.getPlatformMBeanServer().unregisterMBean((ObjectName) name);
            } catch (InstanceNotFoundException e) {
                return; // somebody else has unregistered it
            } catch (JMException | RuntimeException e) {
                log("the bean " + name + " stays registered", e);
            } catch (LinkageError | OutOfMemoryError e) {
                return; // as above
            }
        }

        private static void log(String what, Exception why) {
            System.getLogger("io.ofi4j").log(System.Logger.Level.DEBUG, what, why);
        }
    }
}
