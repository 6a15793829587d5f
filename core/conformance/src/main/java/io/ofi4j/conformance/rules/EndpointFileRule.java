package io.ofi4j.conformance.rules;

import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.conformance.JavaProcess;
import io.ofi4j.conformance.Subject;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.FabricInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * An endpoint of shm is a file. One of its name may be there, without a byte, as a process leaves it that is killed
 * while it makes its endpoint.
 */
final class EndpointFileRule {
    static final String NAME = "an endpoint has the name of an empty file";

    private static final Path FOLDER = Path.of("/dev/shm");

    private EndpointFileRule() {}

    /** Whether the name is refused is open. */
    static void run(Subject subject) throws IOException {
        if (!subject.provider().equals("shm")) {
            throw new UnsupportedOperationException("its endpoints are no files");
        }
        String name = JavaProcess.ownFile();
        FabricInfo info = Subject.info(subject.hints());
        Path file = Files.createFile(FOLDER.resolve(name));
        try (Fabric fabric = Libfabric.load().openFabric(info);
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue();
                AddressVector vector = domain.openAddressVector();
                Endpoint endpoint = domain.openEndpoint().address(info.addressNamed(name)).bind(queue).bind(vector)) {
            endpoint.enable();
        } catch (FabricException e) {
            return; // refused, and the process goes on
        } finally {
            Files.deleteIfExists(file);
        }
    }
}
