package io.ofi4j.command.top;

import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import io.ofi4j.command.CommandFailure;
import io.ofi4j.info.OpenObjectsMXBean;
import java.io.IOException;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.JMX;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/**
 * Another JVM, over its attach mechanism: it starts its own management agent, which listens to this user of this
 * machine alone. Every call has a deadline: the JVM may be stopped.
 */
final class Observed implements AutoCloseable {
    private static final int DEADLINE_SECONDS = 15;
    /** Its sockets are closed before it is gone. */
    private static final long UNTIL_ENDED = 3_000_000_000L;
    private static final long LOOK_MILLIS = 100;

    private final long pid;
    private final ExecutorService thread = Executors
            .newSingleThreadExecutor(task -> Thread.ofPlatform().daemon().name("observing").unstarted(task));
    private JMXConnector connector;
    private List<OpenObjectsMXBean> beans;
    private String libfabric;

    Observed(long pid) {
        this.pid = pid;
        try {
            beans = call(this::connect);
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private List<OpenObjectsMXBean> connect() throws Exception {
        connector = JMXConnectorFactory.connect(new JMXServiceURL(address()));
        MBeanServerConnection server = connector.getMBeanServerConnection();
        ObjectName pattern = new ObjectName(OpenObjectsMXBean.NAME + ",*");
        Set<ObjectName> names = server.queryNames(pattern, null);
        if (names.isEmpty()) {
            throw new CommandFailure(
                    "JVM " + pid + " shows nothing of ofi4j: it has no open fabric, or does not show it."
                            + " Start it with -Dio.ofi4j.jmx=true, or have it call Libfabric.showOpenObjects(); it"
                            + " needs the module java.management.");
        }
        List<OpenObjectsMXBean> found = names.stream()
                .map(name -> JMX.newMXBeanProxy(server, name, OpenObjectsMXBean.class)).toList();
        libfabric = found.getFirst().getLibfabricVersion();
        return found;
    }

    /** Attaching sends a signal that ends a process which is no JVM. */
    private String address() throws IOException {
        if (!isAlive()) { throw new CommandFailure("There is no process " + pid + ": 'ofi4j top' lists JVMs."); }
        if (VirtualMachine.list().stream().noneMatch(jvm -> jvm.id().equals(Long.toString(pid)))) {
            throw new CommandFailure("Process " + pid + " is no JVM of this user, or lets nobody attach: "
                    + "'ofi4j top' lists those that have loaded libfabric.");
        }
        try {
            VirtualMachine jvm = VirtualMachine.attach(Long.toString(pid));
            try {
                return jvm.startLocalManagementAgent();
            } finally {
                jvm.detach();
            }
        } catch (AttachNotSupportedException e) {
            throw new CommandFailure(
                    "Process " + pid + " lets nobody attach: is it a JVM of this user, and not stopped?"
                            + " 'ofi4j top' lists those that have loaded libfabric.",
                    e);
        }
    }

    /** {@return what it shows now} */
    Sample sample() {
        return call(() -> {
            long start = System.nanoTime();
            List<OpenObjectsMXBean.OpenDomain> domains = new ArrayList<>();
            for (OpenObjectsMXBean bean : beans) {
                domains.addAll(whole(domains(bean)));
            }
            return new Sample(start, libfabric, domains);
        });
    }

    private static List<OpenObjectsMXBean.OpenDomain> domains(OpenObjectsMXBean bean) {
        try {
            return bean.getDomains();
        } catch (UndeclaredThrowableException e) {
            if (e.getCause() instanceof InstanceNotFoundException) { return List.of(); } // no fabric is open
            throw e;
        }
    }

    /** A bean of another release, or of somebody else under this name, may leave anything out. */
    private static List<OpenObjectsMXBean.OpenDomain> whole(List<OpenObjectsMXBean.OpenDomain> domains) {
        for (OpenObjectsMXBean.OpenDomain domain : domains) {
            Objects.requireNonNull(domain.statistics(), "no statistics of a domain");
            domain.queues().forEach(queue -> Objects.requireNonNull(queue.statistics(), "no statistics of a queue"));
            domain.endpoints()
                    .forEach(endpoint -> Objects.requireNonNull(endpoint.statistics(), "no statistics of an endpoint"));
        }
        return domains;
    }

    private <T> T call(Callable<T> work) {
        try {
            return thread.submit(work).get(DEADLINE_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new CommandFailure("JVM " + pid + " has not answered for " + DEADLINE_SECONDS + " s: is it stopped?",
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailure("Interrupted.", e);
        } catch (ExecutionException e) {
            throw switch (e.getCause()) {
                case CommandFailure failure -> failure;
                case IOException failure -> lost(failure);
                case UndeclaredThrowableException failure -> lost(failure.getCause());
                case JMException failure -> lost(failure);
                case RuntimeException failure -> lost(failure); // its bean answers with something else
                default -> new IllegalStateException(e.getCause());
            };
        }
    }

    private CommandFailure lost(Throwable why) {
        if (hasEnded()) { return new CommandFailure("JVM " + pid + " has ended.", why); }
        return new CommandFailure(
                "JVM " + pid + " cannot be observed: " + (why.getMessage() == null ? why : why.getMessage())
                        + ". Is it this user's, and of the same release of ofi4j?",
                why);
    }

    /** {@return whether the JVM has ended, for which one that no longer answers has some time: its hooks may run} */
    boolean hasEnded() {
        long start = System.nanoTime();
        while (isAlive() && System.nanoTime() - start < UNTIL_ENDED) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(LOOK_MILLIS));
        }
        return !isAlive();
    }

    private boolean isAlive() { return ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isPresent(); }

    /** The connection is left where the JVM does not answer. */
    @Override
    public void close() {
        thread.submit(() -> {
            if (connector != null) { connector.close(); }
            return null;
        });
        thread.shutdown();
        try {
            thread.awaitTermination(1, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
