package io.ofi4j.job;

import io.ofi4j.Endpoint;
import io.ofi4j.RemoteRegion;
import io.ofi4j.info.EndpointAddress;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * What one side of a {@link PeerLink} tells the other: where its endpoint is, which of its memory the other side may
 * use, and a few bytes of the program. It is an immutable value.
 *
 * @param address the address of the endpoint
 * @param regions memory for the other side, in an order that both programs know
 * @param data any bytes; copied
 */
public record PeerHello(EndpointAddress address, List<RemoteRegion> regions, byte[] data) {
    /** The largest number of bytes in which address, regions and data are sent; a region takes 40. */
    public static final int MAX_LENGTH = 1 << 14;

    private static final byte[] NO_DATA = {};

    /**
     * Checks the length.
     *
     * @throws IllegalArgumentException if it takes more than {@link #MAX_LENGTH} bytes
     */
    public PeerHello {
        Objects.requireNonNull(address, "address");
        regions = List.copyOf(regions);
        data = data.clone();
        long length = length(address.encode().length, regions.size(), data.length);
        if (length > MAX_LENGTH) {
            throw new IllegalArgumentException("a hello of " + regions.size() + " regions and " + data.length
                    + " bytes of data takes " + length + " bytes, and may take " + MAX_LENGTH
                    + ": pass one region, and let the peer read the rest from it");
        }
    }

    /** {@return the hello of an endpoint, without data} */
    public static PeerHello of(Endpoint endpoint, RemoteRegion... regions) {
        return new PeerHello(endpoint.address(), List.of(regions), NO_DATA);
    }

    /** {@return the same with other bytes of the program} */
    public PeerHello withData(byte... bytes) {
        return new PeerHello(address, regions, bytes);
    }

    /** {@return a copy of the program's bytes} */
    @Override
    public byte[] data() { return data.clone(); }

    private static long length(int address, int regions, int data) {
        return 2L * Integer.BYTES + address + (long) regions * RemoteRegion.ENCODED_LENGTH + data;
    }

    byte[] encode() {
        byte[] where = address.encode();
        ByteBuffer all = ByteBuffer.allocate((int) length(where.length, regions.size(), data.length));
        all.putInt(where.length).put(where).putInt(regions.size());
        regions.forEach(region -> all.put(region.encode()));
        return all.put(data).array();
    }

    static PeerHello decode(ByteBuffer all) throws IOException {
        try {
            EndpointAddress address = EndpointAddress.decode(next(all, all.getInt()));
            RemoteRegion[] regions = new RemoteRegion[Objects.checkIndex(all.getInt(), MAX_LENGTH)];
            for (int number = 0; number < regions.length; number++) {
                regions[number] = RemoteRegion.decode(next(all, RemoteRegion.ENCODED_LENGTH));
            }
            return new PeerHello(address, List.of(regions), next(all, all.remaining()));
        } catch (BufferUnderflowException | IllegalArgumentException | IndexOutOfBoundsException e) {
            throw new IOException("the hello of the other side cannot be read", e);
        }
    }

    private static byte[] next(ByteBuffer buffer, int length) {
        byte[] bytes = new byte[Objects.checkIndex(length, buffer.remaining() + 1)];
        buffer.get(bytes);
        return bytes;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PeerHello that && address.equals(that.address) && regions.equals(that.regions)
                && Arrays.equals(data, that.data);
    }

    @Override
    public int hashCode() { return Objects.hash(address, regions, Arrays.hashCode(data)); }

    /** {@return a description without keys and data} */
    @Override
    public String toString() {
        return "PeerHello[" + address + ", regions=" + regions.size() + ", bytes=" + data.length + "]";
    }
}
