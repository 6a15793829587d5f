package io.ofi4j.internal.observe;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;

/** The events of the JDK Flight Recorder; the description of the package io.ofi4j lists them. */
public final class FlightEvents {
    @Category("ofi4j")
    @Registered(false)
    public abstract static class OfProvider extends Event {
        @Label("Provider")
        String provider;
    }

    @Registered(false)
    public abstract static class OfRegion extends OfProvider {
        @Label("Length")
        @DataAmount
        long length;

        @Label("Access")
        String access;
    }

    @Registered(false)
    public abstract static class OfEndpoint extends OfProvider {
        @Label("Endpoint Type")
        String type;
    }

    @Registered(false)
    public abstract static class OfError extends OfProvider {
        @Label("Error Number")
        int errno;

        @Label("Text")
        String text;
    }

    @Registered
    @Name("io.ofi4j.MemoryRegistration")
    @Label("Memory Registration")
    public static final class Registration extends OfRegion {}

    @Registered
    @Name("io.ofi4j.MemoryDeregistration")
    @Label("Memory Deregistration")
    public static final class Deregistration extends OfRegion {}

    @Registered
    @Name("io.ofi4j.EndpointEnabled")
    @Label("Endpoint Enabled")
    public static final class Enabled extends OfEndpoint {}

    @Registered
    @Name("io.ofi4j.EndpointClosed")
    @Label("Endpoint Closed")
    public static final class Closed extends OfEndpoint {}

    @Registered
    @Name("io.ofi4j.OperationsCanceled")
    @Label("Operations Canceled")
    @Description("An endpoint was closed with operations in flight")
    public static final class Canceled extends OfProvider {
        @Label("Operations")
        int operations;
    }

    @Registered
    @Name("io.ofi4j.ConnectionMade")
    @Label("Connection Made")
    public static final class Connected extends OfProvider {}

    @Registered
    @Name("io.ofi4j.ConnectionRefused")
    @Label("Connection Refused")
    @Description("A connection did not come about")
    public static final class Refused extends OfError {}

    @Registered
    @Name("io.ofi4j.ConnectionEnded")
    @Label("Connection Ended")
    public static final class Disconnected extends OfProvider {}

    @Registered
    @Name("io.ofi4j.CompletionError")
    @Label("Completion Error")
    @Description("An operation failed, or was canceled")
    public static final class OperationFailed extends OfError {
        @Label("Token")
        long token;
    }

    @Registered
    @Category("ofi4j")
    @Name("io.ofi4j.FabricException")
    @Label("Fabric Exception")
    public static final class CallFailed extends Event {
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
    public static final class SlowPost extends OfProvider {
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
    public static final class SlowWait extends Event {
        @Label("Operation")
        String operation;

        @Label("Found")
        @Description("Whether what was waited for came in time")
        boolean found;
    }
}
