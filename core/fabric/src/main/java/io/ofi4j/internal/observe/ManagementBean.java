package io.ofi4j.internal.observe;

import java.lang.management.ManagementFactory;
import javax.management.InstanceAlreadyExistsException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;

/**
 * A bean that the JVM's own MBean server shows while it is wanted. The server is started only where somebody has asked
 * for that; otherwise the bean is shown if the server runs already. The server would keep the class loader of a program
 * that an application server has unloaded. The module java.management is optional: without it, nothing is shown.
 */
public final class ManagementBean {
    private static final String PROPERTY = System.getProperty("io.ofi4j.jmx", "");
    private static final boolean IS_POSSIBLE = hasManagement();

    private final Object bean;
    private final String name;
    private boolean isWanted;
    /** Whether the server is started for it. */
    private boolean startsServer = PROPERTY.equals("true");
    /** Whether it is shown where the server runs. */
    private boolean usesServer = !PROPERTY.equals("false");
    /** The {@code ObjectName} under which it is shown, or null; an Object, since that class may be missing. */
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

    /** Shows it, if there is a server. Where memory or descriptors are short, it is not shown. */
    public synchronized void show() {
        isWanted = true;
        if (shownAs == null && usesServer && IS_POSSIBLE) { shownAs = Server.register(bean, name, startsServer); }
    }

    /**
     * Starts the server, and shows it there whenever it is wanted.
     *
     * @return false if that is not possible
     */
    public synchronized boolean showAlways() {
        if (!IS_POSSIBLE || !Server.start()) { return false; }
        startsServer = true;
        usesServer = true;
        if (isWanted) { show(); }
        return true;
    }

    /** Takes it out of the server, if it is there. */
    public synchronized void hide() {
        isWanted = false;
        if (shownAs != null) {
            Server.unregister(shownAs);
            shownAs = null;
        }
    }

    /** The calls of java.management: a class of its own, which is loaded only where that module is. */
    private static final class Server {
        /** A bean that the JVM's own server always has, and another server need not have. */
        private static final String OF_THE_JVM = ManagementFactory.RUNTIME_MXBEAN_NAME;

        /** {@return whether the server runs now} It takes a quarter of a second of a processor to start, and 4 MB. */
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

        /** {@return the name under which it was registered, or null if it was not} */
        static Object register(Object bean, String name, boolean startsServer) {
            try {
                MBeanServer server = startsServer ? ManagementFactory.getPlatformMBeanServer() : running();
                if (server == null) { return null; }
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

        /** The JVM's own server if it runs, or null. To ask the JVM for it would start it. */
        private static MBeanServer running() throws MalformedObjectNameException {
            ObjectName ofTheJvm = new ObjectName(OF_THE_JVM);
            return MBeanServerFactory.findMBeanServer(null).stream().filter(server -> server.isRegistered(ofTheJvm))
                    .findFirst().orElse(null);
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
