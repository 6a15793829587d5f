package io.ofi4j.internal.quirks.shm;

import static io.ofi4j.info.VersionRange.from;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Provider;
import io.ofi4j.internal.quirks.Quirk;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The quirks of {@code shm}. Ranges without a comment that are no guesses are by source: 1.15 and today's main have the
 * behaviour, and all between them.
 */
public final class ShmQuirks {
    static final Predicate<Provider> SHM = provider -> provider.is("shm");

    private static final ShmCloseCoordinator COORDINATOR = new ShmCloseCoordinator();

    /** 607be0b80 mended it. */
    private static final Quirk ABSENT_PEERS = new Quirk("shm-absent-peers", SHM, from(1, 15).to(1, 22), """
            An absent peer's place in a vector is given to the next peer too.""", "AddressVectorTest") {
        @Override
        protected void beforeInsert(EndpointAddress address) { ShmFiles.requireExists(address); }
    };

    /** 0fb02def3 brought it. */
    private static final Quirk UNOPENED_FILES = new Quirk("shm-unopened-files", SHM, from(2, 2), """
            An endpoint whose file could not be made, because of its name, for want of a descriptor or where \
            /dev/shm takes none, is enabled all the same, which ends the process.""", "DescriptorFaultTest") {
        @Override
        protected int enable(Supplier<EndpointAddress> address, long transmitSize, long receiveSize,
                IntSupplier enable) {
            int error = ShmFiles.creationError(address.get());
            return error == 0 ? enable.getAsInt() : -error;
        }
    };

    private static final Quirk REMOVED_PEERS = new Quirk("shm-removed-peers", SHM, from(1, 15).guess(), """
            What a removed peer has sent, and this process has not worked off, leads into nowhere; on 1.x the next \
            peer is taken for it.""", "AddressVectorTest", Fact.REMOVED_PEERS_STAY, Fact.LOOKUP_INEXACT);

    /** 9cf1cb7fb brought it. */
    private static final Quirk OPTIONS = new Quirk("shm-options", SHM, from(1, 17), """
            Reading an option of an endpoint that is not enabled ends the process.""", "EndpointOptionsTest",
            Fact.OPTIONS_NEED_ENABLE);

    /** 9cf1cb7fb brought it; the source of 2.0 keeps the value until the endpoint is enabled. */
    private static final Quirk RECEIVE_OPTIONS = new Quirk("shm-receive-options", SHM, from(1, 17).to(1, 22), """
            Setting FI_OPT_MIN_MULTI_RECV of an endpoint that is not enabled ends the process.""",
            "EndpointOptionsTest", Fact.RECEIVE_OPTIONS_NEED_ENABLE);

    /** 896fbab0d (1.19.0) mended it. */
    private static final Quirk EMPTY_DELIVERIES = new Quirk("shm-empty-deliveries", SHM, from(1, 15).to(1, 18), """
            A write that is to be delivered is cut into pieces, and one of no bytes into none.""", "RmaCallsTest",
            Fact.EMPTY_DELIVERIES_HANG);

    private static final Quirk ORDER = new Quirk("shm-order", SHM, from(1, 15).guess(), """
            Operations are carried out one after the other, whatever their lengths, which fi_getinfo does not \
            promise.""", "FlushTest", Fact.FLUSHES_IN_ORDER, Fact.EMPTY_DELIVERIES_OVERTAKE);

    private static final Quirk LONG_MESSAGES = new Quirk("shm-long-messages", SHM, from(1, 15).guess(), """
            A poll or a receive that meets a message longer than its buffer may never return.""", "LongMessageTest",
            Fact.LONG_MESSAGES_STOP_CALLS);

    /** Of any length since 9cf1cb7fb (1.17), before that of a length that is sent in pieces. */
    private static final Quirk MANY_MESSAGES = new Quirk("shm-many-messages", SHM, from(1, 15), """
            A message longer than what is left of a receive of many messages is written beyond its end.""",
            "ManyMessagesTest", Fact.LONG_MESSAGES_OVERWRITE);

    /** As in shm-looks before 1.19; efe339e97 mended it, and brought shm-untaken-messages. */
    private static final Quirk DISCARDS = new Quirk("shm-discards", SHM, from(1, 19).to(1, 19), """
            The sender of a long message is not told that it is discarded, and waits for ever.""", "TaggedTest",
            Fact.DISCARDED_SENDS_HANG);

    /** efe339e97 brought it in 1.20.2, 488dc58b5 mended it in 2.5. 1.20.0 cannot be told from 1.20.2. */
    private static final Quirk UNTAKEN_MESSAGES = new Quirk("shm-untaken-messages", SHM, from(1, 20).to(2, 4), """
            A message that is discarded, or that waits when its endpoint is closed, has the provider write to the \
            memory of its sender's endpoint, be that mapped or not.""", "UntakenMessagesTest",
            Fact.UNTAKEN_MESSAGES_BREAK_CLOSE, Fact.DISCARDS_OVERWRITE);

    /** 152139ac0 brought it. */
    private static final Quirk DIRECTED_RECEIVES = new Quirk("shm-directed-receives", SHM, from(1, 19), """
            A receive of messages without tags from one peer overwrites the provider's memory beside one from any \
            peer, and ends the process when it is canceled. No receive from one peer recognizes a peer that was \
            inserted with a slash before its name.""", "DirectedReceiveTest", Fact.DIRECTED_RECEIVES_CRASH,
            Fact.RESPELLED_PEERS_UNRECOGNIZED);

    /** 002384db9 mended it. */
    private static final Quirk RESPELLED_PEERS = new Quirk("shm-respelled-peers", SHM, from(1, 15).to(1, 16), """
            No receive from one peer recognizes a peer that was inserted with a slash before its name.""",
            "DirectedReceiveTest", Fact.RESPELLED_PEERS_UNRECOGNIZED);

    /** 9cf1cb7fb brought it, 152139ac0 mended it. */
    private static final Quirk MATCHING = new Quirk("shm-matching", SHM, from(1, 17).to(1, 18), """
            A message that came before its receive is matched without the mask, a look for one posts a receive that \
            takes it, and one receive too many is ENOMEM.""", "TaggedTest", Fact.MASKS_IGNORED, Fact.PEEK_RECEIVES,
            Fact.FULL_RECEIVES_LACK_MEMORY);

    /** As in shm-matching, which has more of it since 9cf1cb7fb. */
    private static final Quirk LOOKS = new Quirk("shm-looks", SHM, from(1, 15).to(1, 16), """
            A look for a message posts a receive that takes it.""", "TaggedTest", Fact.PEEK_RECEIVES);

    /** 7e84aceb4 brought it in 1.20.0; 3bb1450e0 mended it in 1.21.1, which cannot be told from 1.21.0. */
    private static final Quirk ATOMIC_READS = new Quirk("shm-atomic-reads", SHM, from(1, 20).to(1, 21), """
            ATOMIC_READ completes without the value: the result stays as it was, or is zero.""", "AtomicsRefusedTest",
            Fact.ATOMIC_READS_RETURN_NOTHING);

    private static final Quirk ATOMIC_DATA = new Quirk("shm-atomic-data", SHM, from(1, 15), """
            An atomic operation with completion data leaves wrong bytes at the target.""", "PreparedAtomicTest",
            Fact.ATOMICS_CARRY_NO_DATA);

    private static final Quirk DEVICE_COPIES = new Quirk("shm-device-copies", SHM, from(1, 15).guess(), """
            What goes from a device to the same device completes when the driver's copy was begun, unless the \
            program has asked the driver to wait (CU_POINTER_ATTRIBUTE_SYNC_MEMOPS).""", "DeviceRunTest",
            Fact.DEVICE_COPIES_END_LATE);

    /** d00397e5e brought it. */
    private static final Quirk CLOSED_REGIONS = new Quirk("shm-closed-regions", SHM, from(1, 18), """
            A transfer asks the provider's structure of a region what kind of memory it is, also after the region's \
            fi_close.""", "ClosedTargetTest", Fact.CLOSED_REGIONS_ARE_READ);

    /** All of them. An insertion goes through them from the last one to the first. */
    public static final List<Quirk> ALL = List.of(UNOPENED_FILES, ShmNames.TAKEN, new ShmUsers(),
            new ShmFileReservation(), ABSENT_PEERS, ShmNames.OWN_PEERS, ShmNames.USED, ShmNames.UNKNOWN_SOURCES,
            new ShmNames(), COORDINATOR, new ShmPeerSlots(COORDINATOR), ShmPeerSlots.LAST_SLOT, new ShmFiles(),
            REMOVED_PEERS, OPTIONS, RECEIVE_OPTIONS, EMPTY_DELIVERIES, ORDER, LONG_MESSAGES, MANY_MESSAGES, DISCARDS,
            UNTAKEN_MESSAGES, DIRECTED_RECEIVES, RESPELLED_PEERS, MATCHING, LOOKS, ATOMIC_READS, ATOMIC_DATA,
            DEVICE_COPIES, CLOSED_REGIONS);

    private ShmQuirks() {}
}
