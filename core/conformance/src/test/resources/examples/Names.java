import io.netty.bootstrap.Bootstrap;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.ofi4j.*;
import io.ofi4j.MemoryRegion.Slice;
import io.ofi4j.durable.*;
import io.ofi4j.errors.*;
import io.ofi4j.info.*;
import io.ofi4j.job.*;
import io.ofi4j.netty.*;
import io.ofi4j.test.*;
import io.ofi4j.util.*;
import java.net.InetSocketAddress;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.time.Duration;
import java.util.*;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import static org.junit.jupiter.api.Assertions.assertEquals;

/** The names that examples use and do not declare. */
abstract class Example {
    static final Duration SOON = Duration.ofSeconds(1);
    static final long ANSWER = 1L << 32;
    static final long REQUEST = 2L << 32;
    static final long TAKEN = 0;
    Libfabric libfabric;
    FabricInfo info;
    FabricHints hints;
    Domain domain;
    Endpoint endpoint;
    Endpoint here;
    Endpoint there;
    CompletionQueue queue;
    EventQueue events;
    CompletionHandler handler;
    CompletionHandler completions;
    Counter arrived;
    Counter sent;
    ConnectionRequest request;
    AddressVector peers;
    AddressVector vector;
    Peer peer;
    Peer server;
    Peer sender;
    Map<PeerLink, Peer> clients;
    Messages messages;
    PreparedMessage message;
    FutureThread futures;
    MemoryRegion region;
    MemoryRegion source;
    MemoryRegion inbox;
    MemoryRegion outbox;
    MemoryRegion log;
    MemoryRegion gradients;
    MemoryRegion sums;
    MemoryRegion taken;
    Slice slice;
    Slice rows;
    RemoteRegion remote;
    RemoteRegion senderNumbers;
    SaveService.Ticket ticket;
    long token;
    long number;
    long pointer;
    long length;
    long bytes;
    long at;
    boolean running;
    Duration deadline;
    Job job;
    int rank;
    int right;
    int columns;
    Endpoint shmEndpoint;
    Endpoint tcpEndpoint;
    AddressVector shmPeers;
    AddressVector tcpPeers;
    MemoryRegion shmInbox;
    MemoryRegion tcpInbox;
    SelectableChannel socket;
    byte[] itsAddress;
    String host;
    String secret;
    PipelineHandler<Block> blockHandler;
    Regions regions;
    List<Block> blocks;

    record Block(Slice local, RemoteRegion remote) {}

    record Regions(Domain domain) {}

    abstract void serve(Domain ofServer);

    abstract void handle(Event event);

    abstract void read();

    /* members */

    void lines() throws Exception {
        /* lines */
    }
}
