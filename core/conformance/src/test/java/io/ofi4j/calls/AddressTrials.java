package io.ofi4j.calls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.PackagePrivate;
import io.ofi4j.AddressVector;
import io.ofi4j.InsertResult;
import io.ofi4j.Peer;
import io.ofi4j.info.AddressVectorAttributes;
import io.ofi4j.info.AddressVectorType;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.support.TestProviders;
import io.ofi4j.internal.ffi.AvOps;
import io.ofi4j.internal.ffi.FabricConstants;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;

/** Trials of the calls of fi_av(3). */
final class AddressTrials {
    private AddressTrials() {}

    static void addTo(Map<String, CallTrial> all) {
        for (AddressVectorType type : List.of(AddressVectorType.MAP, AddressVectorType.TABLE)) {
            all.put("fi_av_open, " + type,
                    CallTrial.of(hints -> hints.attributes(AttributeHints.none().addressVectorType(type)), t -> {
                        t.vector();
                        t.write();
                    }));
        }
        all.put("fi_av_open, shared", CallTrial.of(AddressTrials::share));
        all.put("fi_av_insert", CallTrial.of(t -> t.writeTo(t.vector().insert(t.pair.farEndpoint.address()))));
        all.put("fi_av_insert, several", CallTrial.of(AddressTrials::insertSeveral));
        all.put("fi_av_insertsvc",
                CallTrial.of(t -> t.writeTo(t.vector().insertService(address(t), Integer.toString(port(t))))));
        all.put("fi_av_insertsym", CallTrial.of(t -> {
            List<InsertResult> found = t.vector().insertSymmetric(address(t), 2, Integer.toString(port(t)), 1);
            assertThat(found).hasSize(2);
            t.writeTo(found.getFirst().peer());
        }));
        all.put("fi_av_remove", CallTrial.of(AddressTrials::remove));
        all.put("fi_av_lookup", CallTrial.of(t -> {
            AvOps.Found found = AvOps.fi_av_lookup(PackagePrivate.handle(t.vector()), t.pair.far.fabricAddress());
            assertThat(found.status()).as("the status").isZero();
            assertThat(found.address()).as("the address").isEqualTo(t.pair.farEndpoint.address().toBytes());
        }));
        all.put("fi_av_straddr",
                CallTrial.of(t -> assertThat(t.vector().toText(t.pair.farEndpoint.address())).isNotBlank()));
    }

    private static String address(Trial t) { return TestProviders.address(t.pair.domain.info().provider()); }

    private static int port(Trial t) {
        t.vector();
        boolean isInternet = t.pair.domain.info().addressFormat() == FabricConstants.FI_SOCKADDR_IN;
        return isInternet ? ByteBuffer.wrap(t.pair.farEndpoint.address().toBytes()).getShort(2) & 0xffff : 1;
    }

    private static void share(Trial t) {
        t.vector();
        AddressVectorAttributes shared = AddressVectorAttributes.defaults().count(4)
                .name("ofi4j-call-" + ProcessHandle.current().pid());
        EndpointAddress far = t.pair.farEndpoint.address();
        try (AddressVector writer = t.pair.domain.openAddressVector(shared)) {
            Peer peer = writer.insert(far);
            try (AddressVector reader = t.pair.domain.openAddressVector(shared.readOnly())) {
                assertThat(reader.insert(far).fabricAddress()).isEqualTo(peer.fabricAddress());
            }
        }
    }

    private static void insertSeveral(Trial t) {
        t.vector().remove(t.pair.far);
        List<InsertResult> both = t.vector()
                .insertAll(List.of(t.pair.endpoint.address(), t.pair.farEndpoint.address()));
        assertThat(both).allMatch(InsertResult::succeeded);
        t.writeTo(both.getLast().peer());
    }

    private static void remove(Trial t) {
        t.vector().remove(t.pair.far);
        assertThatThrownBy(() -> t.write()).isInstanceOfAny(IllegalArgumentException.class, IllegalStateException.class)
                .hasMessageContaining("removed");
        t.writeTo(t.vector().insert(t.pair.farEndpoint.address()));
    }
}
