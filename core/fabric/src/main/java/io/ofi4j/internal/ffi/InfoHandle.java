package io.ofi4j.internal.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.ofi4j.info.NetworkDevice;
import io.ofi4j.internal.os.LibC;
import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_domain_attr;
import io.ofi4j.bindings.fi_ep_attr;
import io.ofi4j.bindings.fi_fabric_attr;
import io.ofi4j.bindings.fi_info;
import io.ofi4j.bindings.fi_rx_attr;
import io.ofi4j.bindings.fi_tx_attr;
import io.ofi4j.bindings.fid_nic;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A {@code struct fi_info} of our own: a deep copy that is freed when it becomes unreachable. Reads no field that
 * libfabric 1.17 lacks.
 */
@SuppressWarnings("restricted")
public final class InfoHandle {
    private final MemorySegment info;

    /** Takes over an info that the caller would have to free. */
    public InfoHandle(MemorySegment owned) {
        this.info = owned.reinterpret(fi_info.sizeof(), Arena.ofAuto(), FabricCalls::fi_freeinfo);
    }

    /** fi_dupinfo; {@link MemorySegment#NULL} gives an empty one with all attributes (fi_allocinfo). */
    public static InfoHandle copyOf(MemorySegment info) {
        return new InfoHandle(FabricCalls.fi_dupinfo(info));
    }

    public MemorySegment pointer() { return info; }

    /** The handle of its connection request, or 0. */
    public long request() { return fi_info.handle(info).address(); }

    /**
     * A copy without the connection request, with which only one endpoint may be opened. The fabric is that of the
     * passive endpoint, which some providers name differently in requests; other names are copied where they are left
     * out.
     */
    public InfoHandle withoutRequest(InfoHandle passive) {
        InfoHandle copy = copyOf(info);
        fi_info.handle(copy.info, MemorySegment.NULL);
        copyMissingName(copy.fabric(), passive.fabric(), fi_fabric_attr.prov_name$offset());
        MemorySegment name = fi_fabric_attr.name(copy.fabric());
        if (!Objects.equals(LibC.string(name), LibC.string(fi_fabric_attr.name(passive.fabric())))) {
            LibC.free(name);
            fi_fabric_attr.name(copy.fabric(), MemorySegment.NULL);
            copyMissingName(copy.fabric(), passive.fabric(), fi_fabric_attr.name$offset());
        }
        copyMissingName(copy.domain(), passive.domain(), fi_domain_attr.name$offset());
        return copy;
    }

    private static void copyMissingName(MemorySegment copy, MemorySegment passive, long name) {
        if (copy.get(ADDRESS, name).address() == 0) {
            copy.set(ADDRESS, name, LibC.strdup(LibC.string(passive.get(ADDRESS, name))));
        }
    }

    /**
     * Has the endpoint of a request share the contexts that the passive endpoint's info says; providers leave that out
     * of requests.
     */
    public void copySharedContexts(InfoHandle passive) {
        long shared = fabric_h.FI_SHARED_CONTEXT();
        if (fi_ep_attr.tx_ctx_cnt(passive.endpoint()) == shared) { fi_ep_attr.tx_ctx_cnt(endpoint(), shared); }
        if (fi_ep_attr.rx_ctx_cnt(passive.endpoint()) == shared) { fi_ep_attr.rx_ctx_cnt(endpoint(), shared); }
    }

    /**
     * Returns this info, after setting the number of contexts to 1 where it is SIZE_MAX and the hints did not ask for a
     * shared context. SIZE_MAX means a shared context, but some providers report it for lack of a limit.
     */
    InfoHandle withoutUnaskedSharing(InfoHandle hints) {
        long shared = fabric_h.FI_SHARED_CONTEXT();
        if (fi_ep_attr.tx_ctx_cnt(endpoint()) == shared && fi_ep_attr.tx_ctx_cnt(hints.endpoint()) != shared) {
            fi_ep_attr.tx_ctx_cnt(endpoint(), 1);
        }
        if (fi_ep_attr.rx_ctx_cnt(endpoint()) == shared && fi_ep_attr.rx_ctx_cnt(hints.endpoint()) != shared) {
            fi_ep_attr.rx_ctx_cnt(endpoint(), 1);
        }
        return this;
    }

    /** A copy with this number of receives. */
    public InfoHandle withReceives(long count) {
        InfoHandle copy = copyOf(info);
        fi_rx_attr.size(copy.receive(), count);
        return copy;
    }

    /** A copy that asks for these capabilities, too. */
    public InfoHandle withCapabilities(long bits) {
        InfoHandle copy = copyOf(info);
        fi_info.caps(copy.info, fi_info.caps(copy.info) | bits);
        fi_rx_attr.caps(copy.receive(), fi_rx_attr.caps(copy.receive()) | bits);
        return copy;
    }

    public InfoHandle withDestination(byte[] address) { return withBytes(null, address, new byte[0]); }

    public InfoHandle withSource(byte[] address, int format) {
        InfoHandle copy = withBytes(address, null, new byte[0]);
        fi_info.addr_format(copy.info, format);
        return copy;
    }

    /**
     * A copy with other addresses, where they are not null, and another authorization key, where it is not empty; this
     * info itself where there are none.
     */
    InfoHandle withBytes(byte[] source, byte[] destination, byte[] key) {
        if (source == null && destination == null && key.length == 0) { return this; }
        InfoHandle shell = copyOf(info); // by libfabric, which also copies fields that the bindings lack
        MemorySegment itsSource = fi_info.src_addr(shell.info);
        MemorySegment itsDestination = fi_info.dest_addr(shell.info);
        MemorySegment itsDomainKey = fi_domain_attr.auth_key(shell.domain());
        MemorySegment itsEndpointKey = fi_ep_attr.auth_key(shell.endpoint());
        try (Arena arena = Arena.ofConfined()) {
            if (source != null) {
                fi_info.src_addr(shell.info, arena.allocateFrom(JAVA_BYTE, source));
                fi_info.src_addrlen(shell.info, source.length);
            }
            if (destination != null) {
                fi_info.dest_addr(shell.info, arena.allocateFrom(JAVA_BYTE, destination));
                fi_info.dest_addrlen(shell.info, destination.length);
            }
            if (key.length > 0) {
                MemorySegment bytes = arena.allocateFrom(JAVA_BYTE, key);
                fi_domain_attr.auth_key(shell.domain(), bytes);
                fi_domain_attr.auth_key_size(shell.domain(), key.length);
                fi_ep_attr.auth_key(shell.endpoint(), bytes);
                fi_ep_attr.auth_key_size(shell.endpoint(), key.length);
            }
            return copyOf(shell.info);
        } finally { // the shell owns them
            fi_info.src_addr(shell.info, itsSource);
            fi_info.dest_addr(shell.info, itsDestination);
            fi_domain_attr.auth_key(shell.domain(), itsDomainKey);
            fi_ep_attr.auth_key(shell.endpoint(), itsEndpointKey);
        }
    }

    /** A copy whose endpoint takes over the address of a passive endpoint. */
    public InfoHandle withHandle(Handle passiveEndpoint) {
        InfoHandle copy = copyOf(info);
        fi_info.handle(copy.info, passiveEndpoint.pointer());
        return copy;
    }

    /** fi_tostr. */
    public String text() { return FabricCalls.fi_tostr(info, fabric_h.FI_TYPE_INFO()); }

    public long capabilities() { return fi_info.caps(info); }

    public long mode() { return fi_info.mode(info); }

    public int addressFormat() { return fi_info.addr_format(info); }

    /** The vendor of the device, or no text. */
    public String deviceVendor() {
        return Attributes.networkDevice(this).flatMap(NetworkDevice::device).map(NetworkDevice.Device::vendor)
                .orElse("");
    }

    /** The struct fid_nic, or NULL. */
    MemorySegment nic() {
        MemorySegment nic = fi_info.nic(info);
        return nic.address() == 0 ? nic : nic.reinterpret(fid_nic.sizeof());
    }

    /** The local address, src_addr; empty if there is none. */
    public byte[] sourceAddress() {
        return bytes(fi_info.src_addr(info), fi_info.src_addrlen(info));
    }

    /** The peer's address, dest_addr; empty if there is none. */
    public byte[] destinationAddress() {
        return bytes(fi_info.dest_addr(info), fi_info.dest_addrlen(info));
    }

    private static byte[] bytes(MemorySegment pointer, long length) {
        return pointer.address() == 0 ? new byte[0] : pointer.reinterpret(length).toArray(JAVA_BYTE);
    }

    public MemorySegment transmit() { return fi_info.tx_attr(info).reinterpret(fi_tx_attr.sizeof()); }

    public MemorySegment receive() { return fi_info.rx_attr(info).reinterpret(fi_rx_attr.sizeof()); }

    public MemorySegment endpoint() { return fi_info.ep_attr(info).reinterpret(fi_ep_attr.sizeof()); }

    /** The struct fi_domain_attr; before libfabric 2.0, up to the last field that 1.17 has. */
    public MemorySegment domain() {
        return fi_info.domain_attr(info)
                .reinterpret(FabricCalls.isVersion2()
                        ? fi_domain_attr.sizeof()
                        : fi_domain_attr.tclass$offset() + fi_domain_attr.tclass$layout().byteSize());
    }

    public MemorySegment fabric() { return fi_info.fabric_attr(info).reinterpret(fi_fabric_attr.sizeof()); }
}
