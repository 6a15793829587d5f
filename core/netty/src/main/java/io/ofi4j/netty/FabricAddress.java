package io.ofi4j.netty;

import io.ofi4j.info.EndpointAddress;
import java.io.NotSerializableException;
import java.io.ObjectOutputStream;
import java.net.SocketAddress;
import java.util.Objects;

/** Where the other side of an accepted channel is: the address of its loop's endpoint. It cannot be serialized. */
public final class FabricAddress extends SocketAddress {
    private static final long serialVersionUID = 1L;

    private final transient EndpointAddress endpoint;

    FabricAddress(EndpointAddress endpoint) { this.endpoint = endpoint; }

    /** {@return the address of the endpoint} */
    public EndpointAddress endpoint() { return endpoint; }

    private void writeObject(ObjectOutputStream stream) throws NotSerializableException {
        throw new NotSerializableException(FabricAddress.class.getName());
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof FabricAddress address && Objects.equals(endpoint, address.endpoint);
    }

    @Override
    public int hashCode() { return Objects.hashCode(endpoint); }

    @Override
    public String toString() { return String.valueOf(endpoint); }
}
