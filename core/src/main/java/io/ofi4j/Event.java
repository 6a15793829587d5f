package io.ofi4j;

/** What an {@link EventQueue} tells; fi_eq(3). A value, which may be kept. */
public sealed interface Event {
    /**
     * A peer asks a passive endpoint for a connection; FI_CONNREQ.
     *
     * @param request to be accepted, rejected or closed
     */
    record ConnectionRequested(ConnectionRequest request) implements Event {
    }

    /**
     * A connection is there, and takes operations; FI_CONNECTED.
     *
     * @param endpoint this end of it
     * @param data what the accepting peer said; no bytes at the accepting end
     */
    record Connected(Endpoint endpoint, byte[] data) implements Event {
        /** Copies the data. */
        public Connected {
            data = data.clone();
        }

        /** {@return a copy of what the accepting peer said} */
        @Override
        public byte[] data() {
            return data.clone();
        }
    }

    /**
     * A connection is no longer there; FI_SHUTDOWN. Either end may have ended it.
     *
     * @param endpoint this end of it
     */
    record ShutDown(Endpoint endpoint) implements Event {
    }

    /**
     * Something that was begun has failed; fi_eq_readerr.
     *
     * @param error what, and why
     */
    record Failed(EventError error) implements Event {
    }

    /**
     * A region is registered; FI_MR_COMPLETE.
     *
     * @param context of the operation
     * @param data of the operation
     */
    record MemoryRegionComplete(long context, long data) implements Event {
    }

    /**
     * An insertion into an address vector is done; FI_AV_COMPLETE.
     *
     * @param context of the operation
     * @param data how many addresses were inserted
     */
    record AddressVectorComplete(long context, long data) implements Event {
    }

    /**
     * A multicast or collective group was joined; FI_JOIN_COMPLETE.
     *
     * @param context of the operation
     * @param data of the operation
     */
    record JoinComplete(long context, long data) implements Event {
    }

    /**
     * The application's own, from {@link EventQueue#write}; FI_NOTIFY.
     *
     * @param context what was written
     * @param data what was written
     */
    record Notification(long context, long data) implements Event {
    }

    /**
     * An event that this release does not know.
     *
     * @param code libfabric's number for it
     * @param bytes all of it
     */
    record Unknown(int code, byte[] bytes) implements Event {
        /** Copies the bytes. */
        public Unknown {
            bytes = bytes.clone();
        }

        /** {@return a copy of the event's bytes} */
        @Override
        public byte[] bytes() {
            return bytes.clone();
        }
    }
}
