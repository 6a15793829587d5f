package io.ofi4j.support;

import io.ofi4j.Endpoint;
import io.ofi4j.info.EndpointAddress;
import java.nio.file.Path;

/** The file in /dev/shm of an endpoint of shm. */
public final class ShmFile {
    private ShmFile() {}

    public static Path of(Endpoint endpoint) { return of(endpoint.address()); }

    public static Path of(EndpointAddress address) {
        String name = new String(address.toBytes());
        return Path.of("/dev/shm", name.substring(name.indexOf("://") + 3, name.indexOf('\0')));
    }
}
