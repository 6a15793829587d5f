import io.ofi4j.*;
import io.ofi4j.verbs.*;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.*;

/** The names that examples of verbs use and do not declare. */
abstract class Example {
    VerbsCompletionQueue queue;
    CompletionChannel channel;
    InetSocketAddress listener;
    WorkHandler handler;

    /* members */

    void lines() throws Exception {
        /* lines */
    }
}
