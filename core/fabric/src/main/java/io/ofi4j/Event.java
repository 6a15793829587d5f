package io.ofi4j;

import java.util.HexFormat;

/** An event of an {@link EventQueue}; fi_eq(3). It holds copies and may be kept. */
public sealed interface Event {
    /**
     * A peer requests a connection to a passive endpoint; FI_CONNREQ.
     *
     * @param request the request, to be accepted, rejected or closed
     */
    record ConnectionRequested(ConnectionRequest request) implements Event {}

    /**
     * A connection is established; FI_CONNECTED.
     *
     * @param endpoint the local endpoint
     * @param data the data of the accepting peer; empty at the accepting end
     */
    record Connected(Endpoint endpoint, byte[] data) implements Event {
        /** Copies the data. */
        public Connected {
            data = data.clone();
        }

        /** {@return a copy of the data of the accepting peer} */
        @Override
        public byte[] data() { return data.clone(); }

        @Override
        public String toString() { return "Connected[" + endpoint + ", " + data.length + " bytes of data]"; }
    }

    /**
     * A connection has ended, by either end; FI_SHUTDOWN.
     *
     * @param endpoint the local endpoint
     */
    record ShutDown(Endpoint endpoint) implements Event {}

    /**
     * An asynchronous operation has failed; fi_eq_readerr.
     *
     * @param error the failed operation and the cause
     */
    record Failed(EventError error) implements Event {}

    /**
     * A region is registered; FI_MR_COMPLETE.
     *
     * @param context the operation's context
     * @param data the operation's data
     */
    record MemoryRegionComplete(long context, long data) implements Event {}

    /**
     * An insertion into an address vector has completed; FI_AV_COMPLETE.
     *
     * @param context the operation's context
     * @param data the number of addresses inserted
     */
    record AddressVectorComplete(long context, long data) implements Event {}

    /**
     * A multicast or collective group was joined; FI_JOIN_COMPLETE.
     *
     * @param context the operation's context
     * @param data the operation's data
     */
    record JoinComplete(long context, long data) implements Event {}

    /**
     * An event of the application, from {@link EventQueue#write}; FI_NOTIFY.
     *
     * @param context the context that was written
     * @param data the data that was written
     */
    record Notification(long context, long data) implements Event {}

    /**
     * An event that this release does not know.
     *
     * @param code libfabric's number for it
     * @param bytes the whole event
     */
    record Unknown(int code, byte[] bytes) implements Event {
        /** Copies the bytes. */
        public Unknown {
            bytes = bytes.clone();
        }

        /** {@return a copy of the event's bytes} */
        @Override
        public byte[] bytes() { return bytes.clone(); }

        @Override
        public String toString() { return "Unknown[code " + code + ", " + HexFormat.of().formatHex(bytes) + "]"; }
    }
}
