package io.ofi4j.command.powerfail;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.durable.Durability;
import io.ofi4j.durable.SaveService;
import io.ofi4j.durable.Saver;
import io.ofi4j.info.EndpointAddress;
import java.util.HexFormat;

/**
 * Writes to all files in turn, saves after every few writes, and prints {@code saved FILE WRITE} for each save that
 * came back.
 */
final class Writer implements CompletionHandler {
    private static final int WRITES_PER_SAVE = 4;
    /** In flight for each file: a slot is not written again before its save has come back. */
    private static final int MOST_UNSAVED = Math.min(SlotFile.SLOTS / 2, 32);
    private static final int FILE_BITS = 8;

    private final Saver saver;
    private final Rma rma;
    private final Peer peer;
    private final Stream[] streams;

    /** To one file. */
    private static final class Stream {
        final Durability level;
        final RemoteRegion region;
        final MemoryRegion source;
        long written;
        long saved;

        Stream(Durability level, RemoteRegion region, MemoryRegion source) {
            this.level = level;
            this.region = region;
            this.source = source;
        }
    }

    private Writer(Saver saver, Rma rma, Peer peer, Stream[] streams) {
        this.saver = saver;
        this.rma = rma;
        this.peer = peer;
        this.streams = streams;
    }

    /**
     * Arguments: the provider, the owner's address and ticket, and of each file its level and its region, as
     * LEVEL:REGION.
     */
    static void run(String[] arguments) {
        HexFormat hex = HexFormat.of();
        Domain domain = PowerFail.openDomain(arguments[0]);
        CompletionQueue queue = domain.openCompletionQueue();
        AddressVector vector = domain.openAddressVector();
        Endpoint endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
        Peer peer = vector.insert(EndpointAddress.decode(hex.parseHex(arguments[1])));
        Saver saver = new Saver(domain, endpoint, queue);
        saver.saveThrough(peer, SaveService.Ticket.decode(hex.parseHex(arguments[2])));
        Stream[] streams = new Stream[arguments.length - 3];
        for (int file = 0; file < streams.length; file++) {
            String[] parts = arguments[file + 3].split(":");
            streams[file] = new Stream(Durability.valueOf(parts[0]), RemoteRegion.decode(hex.parseHex(parts[1])),
                    domain.allocate(SlotFile.LENGTH, Access.WRITE));
        }
        Writer writer = new Writer(saver, endpoint.rma(), peer, streams);
        while (true) {
            writer.turn();
        }
    }

    private void turn() {
        for (int file = 0; file < streams.length; file++) {
            Stream stream = streams[file];
            if (stream.written - stream.saved < MOST_UNSAVED) { advance(file, stream); }
            saver.poll(this, 64);
        }
    }

    private void advance(int file, Stream stream) {
        for (int write = 0; write < WRITES_PER_SAVE; write++) {
            stream.written++;
            long at = SlotFile.offsetOf(stream.written);
            SlotFile.fill(stream.source.segment(), stream.written);
            rma.write(stream.source.slice(at, SlotFile.SLOT), peer, stream.region.slice(at, SlotFile.SLOT), 0);
        }
        saver.save(peer, stream.region, stream.level, stream.written << FILE_BITS | file);
    }

    @Override
    public void onCompletion(long token, long flags, long length, long data) {
        if (token == 0) { return; } // of a write
        int file = (int) token & (1 << FILE_BITS) - 1;
        streams[file].saved = token >> FILE_BITS;
        System.out.println("saved " + file + " " + streams[file].saved);
    }

    @Override
    public void onError(CompletionError error) { throw error.toException(); }
}
