package io.ofi4j.examples;

import org.junit.jupiter.api.Test;

class WriteToPeerTest {
    @Test
    void runs() { WriteToPeer.main(new String[0]); }
}
