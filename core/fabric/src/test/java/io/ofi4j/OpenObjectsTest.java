package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.OpenObjectsMXBean;
import io.ofi4j.info.OpenObjectsMXBean.OpenDomain;
import io.ofi4j.info.OpenObjectsMXBean.OpenEndpoint;
import io.ofi4j.info.OpenObjectsMXBean.OpenQueue;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** What a process shows of its open objects over JMX. */
@Timeout(600)
class OpenObjectsTest {
    private static MBeanServer server;
    private static ObjectName name;
    /** Of tests of other classes in this process. */
    private Set<Long> openBefore;

    private static Fabric fabric;

    /** The bean is registered while a fabric is open. */
    @BeforeAll
    static void showBean() throws Exception {
        assertThat(Libfabric.load().showOpenObjects()).isTrue();
        fabric = Libfabric.load().openFabric(TestProviders.info(TestProviders.hints("shm")));
        server = ManagementFactory.getPlatformMBeanServer();
        name = new ObjectName(OpenObjectsMXBean.NAME);
        assertThat(server.isRegistered(name)).isTrue();
    }

    @AfterAll
    static void closeFabric() { fabric.close(); }

    @BeforeEach
    void remember() { openBefore = ids(all()); }

    private static List<OpenDomain> all() {
        return JMX.newMXBeanProxy(server, name, OpenObjectsMXBean.class).getDomains();
    }

    private static Set<Long> ids(List<OpenDomain> domains) {
        return domains.stream().map(OpenDomain::id).collect(Collectors.toSet());
    }

    /** The only domain that this test has opened. */
    private OpenDomain shown() {
        List<OpenDomain> opened = all().stream().filter(domain -> !openBefore.contains(domain.id())).toList();
        assertThat(opened).hasSize(1);
        return opened.getFirst();
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void countsAreThoseOfTheStatistics(String provider) throws Exception {
        try (Pair pair = new Pair(provider);
                MemoryRegion source = pair.domain.allocate(64, Access.WRITE);
                MemoryRegion target = pair.domain.allocate(64, Access.REMOTE_WRITE)) {
            pair.endpoint.recordLatencies(true);
            for (int token = 1; token <= 5; token++) {
                pair.rma().write(source.slice(0, 8), pair.far, target.remote(), token);
                pair.awaitToken(token);
            }
            OpenDomain domain = shown();

            assertThat(domain.threading()).isEqualTo(pair.domain.info().domain().threading().name());
            assertThat(domain.statistics()).isEqualTo(pair.domain.statistics());
            assertThat(domain.queues()).extracting(OpenQueue::statistics).contains(pair.queue.statistics());
            assertThat(domain.endpoints()).hasSize(2);
            OpenEndpoint endpoint = domain.endpoints().stream().filter(one -> one.statistics().latencies().count() == 5)
                    .findFirst().orElseThrow();
            assertThat(endpoint.statistics()).isEqualTo(pair.endpoint.statistics());
            assertThat(domain.queues()).extracting(OpenQueue::id).containsAll(endpoint.queues());
        }
    }

    @Test
    void objectsKeepTheirIdentifiersAndClosedOnesAreGone() throws Exception {
        OpenDomain domain;
        try (Pair pair = new Pair("shm")) {
            domain = shown();
            assertThat(domain.provider()).isEqualTo(pair.domain.info().provider());
            assertThat(shown()).isEqualTo(domain);
        }
        assertThat(ids(all())).doesNotContain(domain.id());
        try (Pair other = new Pair("shm")) {
            assertThat(shown().id()).isGreaterThan(domain.id());
            assertThat(other.domain.info().provider()).isEqualTo("shm");
        }
    }

    /** Another thread may read what belongs to one thread. */
    @Test
    void anObjectOfOneThreadIsShownToAnother() throws Exception {
        try (Pair pair = new Pair(TestProviders.hints("shm").threading(ThreadingModel.DOMAIN));
                MemoryRegion region = pair.domain.allocate(64, Access.WRITE, Access.REMOTE_WRITE)) {
            pair.rma().write(region.slice(0, 8), pair.far, region.remote(), 1);
            pair.awaitToken(1);
            OpenDomain seen = CompletableFuture.supplyAsync(this::shown).get(Pair.DEADLINE.toSeconds(),
                    TimeUnit.SECONDS);

            assertThat(seen.threading()).isEqualTo("DOMAIN");
            assertThat(seen.queues()).extracting(OpenQueue::statistics).contains(pair.queue.statistics());
        }
    }

    @Test
    void aPostThatWaitsInVainIsSlow() {
        try (Pair pair = new Pair("shm");
                MemoryRegion region = pair.domain.allocate(64, Access.WRITE, Access.REMOTE_WRITE)) {
            pair.rma().write(region.slice(0, 8), pair.far, region.remote(), 1);
            pair.awaitToken(1);
            pair.endpoint.postTimeout(Duration.ofMillis(5));
            assertThatExceptionOfType(FabricTimeoutException.class).isThrownBy(() -> {
                while (true) { // nobody polls
                    pair.rma().write(region.slice(0, 8), pair.far, region.remote(), 1);
                }
            });
            assertThat(pair.endpoint.statistics().slowPosts()).isPositive();
        }
    }

    /** In JVMs of their own: which threads and servers are there depends on what ran before. */
    @Test
    void anOpenFabricStartsNoThreadAndNoServer() {
        Forked.Result result = Forked.run(OpensAFabric.class, "plain");

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("threads of ofi4j: []", "servers: 0");
    }

    @Test
    void aServerThatRunsShowsWhatIsOpenedLater() {
        Forked.Result result = Forked.run(OpensAFabric.class, "started");

        assertThat(result.output()).contains("registered: true");
    }

    @Test
    void aCallStartsTheServerAndShowsWhatIsOpen() {
        Forked.Result result = Forked.run(OpensAFabric.class, "asked", "-Dio.ofi4j.jmx=false");

        assertThat(result.output()).contains("registered: true", "after the close: false");
    }

    @Test
    void thePropertyStartsTheServer() {
        Forked.Result result = Forked.run(OpensAFabric.class, "plain", "-Dio.ofi4j.jmx=true");

        assertThat(result.output()).contains("servers: 1", "registered: true");
    }

    @Test
    void thePropertyKeepsTheBeanAwayFromAServerThatRuns() {
        Forked.Result result = Forked.run(OpensAFabric.class, "started", "-Dio.ofi4j.jmx=false");

        assertThat(result.output()).contains("registered: false");
    }

    /** Argument: whether the server is started before, whether it is asked for afterwards, or neither. */
    static final class OpensAFabric {
        private OpensAFabric() {}

        public static void main(String[] arguments) throws Exception {
            ObjectName bean = new ObjectName(OpenObjectsMXBean.NAME);
            if (arguments[0].equals("started")) { ManagementFactory.getPlatformMBeanServer(); }
            try (Pair pair = new Pair("shm")) {
                pair.poll();
                System.out.println("threads of ofi4j: " + Thread.getAllStackTraces().keySet().stream()
                        .map(Thread::getName).filter(thread -> thread.startsWith("ofi4j-jmx")).toList());
                System.out.println("servers: " + MBeanServerFactory.findMBeanServer(null).size());
                if (arguments[0].equals("asked")) { Libfabric.load().showOpenObjects(); }
                System.out.println("registered: " + ManagementFactory.getPlatformMBeanServer().isRegistered(bean));
            }
            System.out.println("after the close: " + ManagementFactory.getPlatformMBeanServer().isRegistered(bean));
        }
    }
}
