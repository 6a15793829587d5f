package io.ofi4j.examples.guide;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ofi4j.MemoryRegion;
import io.ofi4j.test.FabricTest;
import io.ofi4j.test.TestFabric;
import io.ofi4j.test.TestSide;
import org.junit.jupiter.api.Test;

/** Two sides in one process: a server sends back what a client has sent. */
@FabricTest
class EchoTest {
    @Test
    void aServerSendsBackWhatCame(TestFabric fabric) {
        TestSide client = fabric.client();
        TestSide server = fabric.server();
        MemoryRegion here = client.allocate(64);
        MemoryRegion there = server.allocate(32);
        server.endpoint().messages().receive(there.slice(0, 32), 1); // 1 is the token of the completion
        client.endpoint().messages().receive(here.slice(32, 32), 1);

        here.segment().setString(0, "ping");
        client.endpoint().messages().send(here.slice(0, 5), client.peer(), 2);
        long length = server.await(1).length();
        server.endpoint().messages().send(there.slice(0, length), server.peer(), 2);
        client.await(1);

        assertEquals("ping", here.segment().getString(32));
    }
}
