package io.ofi4j;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;

/** The events of the JDK Flight Recorder; the package's description lists them. */
final class FlightEvents {
    private FlightEvents() {
    }

    /** Of which provider each is. */
    @Category("ofi4j")
    @Registered(false)
    abstract static class OfProvider extends Event {
        @Label("Provider")
        String provider;
    }

    @Registered(false)
    abstract static class OfRegion extends OfProvider {
        @Label("Length")
        @DataAmount
        long length;

        @Label("Access")
        String access;
    }

    @Registered
    @Name("io.ofi4j.MemoryRegistration")
    @Label("Memory Registration")
    static final class Registration extends OfRegion {
    }

    @Registered
    @Name("io.ofi4j.MemoryDeregistration")
    @Label("Memory Deregistration")
    static final class Deregistration extends OfRegion {
    }

    @Registered
    @Name("io.ofi4j.EndpointEnabled")
    @Label("Endpoint Enabled")
    static final class Enabled extends OfProvider {
        @Label("Endpoint Type")
        String type;
    }

    @Registered
    @Name("io.ofi4j.EndpointClosed")
    @Label("Endpoint Closed")
    static final class Closed extends OfProvider {
        @Label("Endpoint Type")
        String type;
    }

    @Registered
    @Name("io.ofi4j.OperationsCanceled")
    @Label("Operations Canceled")
    @Description("An endpoint was closed with operations in flight")
    static final class Canceled extends OfProvider {
        @Label("Operations")
        int operations;
    }

    @Registered
    @Name("io.ofi4j.ConnectionMade")
    @Label("Connection Made")
    static final class Connected extends OfProvider {
    }

    @Registered
    @Name("io.ofi4j.ConnectionRefused")
    @Label("Connection Refused")
    @Description("A connection did not come about")
    static final class Refused extends OfProvider {
        @Label("Error Number")
        int errno;

        @Label("Text")
        String text;
    }

    @Registered
    @Name("io.ofi4j.ConnectionEnded")
    @Label("Connection Ended")
    static final class Disconnected extends OfProvider {
    }

    @Registered
    @Name("io.ofi4j.CompletionError")
    @Label("Completion Error")
    @Description("An operation failed, or was canceled")
    static final class OperationFailed extends OfProvider {
        @Label("Token")
        long token;

        @Label("Error Number")
        int errno;

        @Label("Text")
        String text;
    }

    @Registered
    @Category("ofi4j")
    @Name("io.ofi4j.FabricException")
    @Label("Fabric Exception")
    static final class CallFailed extends Event {
        @Label("Operation")
        String operation;

        @Label("Error Number")
        int errno;

        @Label("Message")
        String message;
    }

    @Registered
    @Name("io.ofi4j.SlowPost")
    @Label("Slow Post")
    @Description("An operation waited for room, because the provider or the queue was full")
    @Threshold("1 ms")
    static final class SlowPost extends OfProvider {
        @Label("Operation")
        String operation;

        @Label("Attempts")
        int attempts;

        @Label("Accepted")
        @Description("Whether there was room in time")
        boolean accepted;
    }

    @Registered
    @Category("ofi4j")
    @Name("io.ofi4j.SlowWait")
    @Label("Slow Wait")
    @Description("A thread waited for a completion, a count, or another condition")
    @Threshold("10 ms")
    @StackTrace
    static final class SlowWait extends Event {
        @Label("Operation")
        String operation;

        @Label("Found")
        @Description("Whether what was waited for came in time")
        boolean found;
    }
}
