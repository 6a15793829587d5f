package io.ofi4j.conformance.calls;

import io.ofi4j.AddressVector;
import io.ofi4j.InsertResult;
import io.ofi4j.Peer;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.Trial;
import io.ofi4j.info.AddressFormat;
import io.ofi4j.info.AddressVectorAttributes;
import io.ofi4j.info.AddressVectorType;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.EndpointAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;

/** Trials of the calls of fi_av(3). */
final class AddressTrials {
    private static final int SOCKADDR_IN_LENGTH = 16;

    private AddressTrials() {}

    static void addTo(Map<String, Trial> all) {
        for (AddressVectorType type : List.of(AddressVectorType.MAP, AddressVectorType.TABLE)) {
            all.put("fi_av_open, " + type,
                    RmaTrial.of(hints -> hints.attributes(AttributeHints.none().addressVectorType(type)), t -> {
                        t.ends.vector();
                        t.write();
                    }));
        }
        all.put("fi_av_open, shared", RmaTrial.of(AddressTrials::share));
        all.put("fi_av_insert", RmaTrial.of(t -> t.writeTo(t.ends.vector().insert(t.far.endpoint().address()))));
        all.put("fi_av_insert, several", RmaTrial.of(AddressTrials::insertSeveral));
        all.put("fi_av_insertsvc",
                RmaTrial.of(t -> t.writeTo(t.ends.vector().insertService(address(t), Integer.toString(port(t))))));
        all.put("fi_av_insertsym", RmaTrial.of(t -> {
            List<InsertResult> found = t.ends.vector().insertSymmetric(address(t), 2, Integer.toString(port(t)), 1);
            Check.equal("the number of results", found.size(), 2);
            t.writeTo(found.getFirst().peer());
        }));
        all.put("fi_av_remove", RmaTrial.of(AddressTrials::remove));
        all.put("fi_av_lookup", RmaTrial.of(t -> Check.equal("the address",
                t.ends.vector().address(t.ends.peer).toBytes(), t.far.endpoint().address().toBytes())));
        all.put("fi_av_straddr", RmaTrial.of(t -> Check.holds("an address has a text",
                !t.ends.vector().toText(t.far.endpoint().address()).isBlank())));
    }

    private static String address(RmaSetting t) { return ChosenAddress.hostOf(t.ends.domain.info()); }

    private static int port(RmaSetting t) {
        t.ends.vector();
        byte[] address = t.far.endpoint().address().toBytes();
        boolean isInternet = t.ends.domain.info().addressFormat() == AddressFormat.SOCKADDR_IN
                && address.length == SOCKADDR_IN_LENGTH;
        return isInternet ? ByteBuffer.wrap(address).getShort(2) & 0xffff : 1;
    }

    private static void share(RmaSetting t) {
        t.ends.vector();
        AddressVectorAttributes shared = AddressVectorAttributes.defaults().count(4)
                .name("ofi4j-call-" + ProcessHandle.current().pid());
        EndpointAddress far = t.far.endpoint().address();
        try (AddressVector writer = t.ends.domain.openAddressVector(shared)) {
            Peer peer = writer.insert(far);
            try (AddressVector reader = t.ends.domain.openAddressVector(shared.readOnly())) {
                Peer found = reader.sharedPeer(0);
                Check.equal("the number of the peer in the other vector", found.fabricAddress(), peer.fabricAddress());
                Check.equal("the address in the other vector", reader.address(found).toBytes(), far.toBytes());
            }
        }
    }

    private static void insertSeveral(RmaSetting t) {
        t.ends.vector().remove(t.ends.peer);
        List<InsertResult> both = t.ends.vector()
                .insertAll(List.of(t.near.endpoint().address(), t.far.endpoint().address()));
        Check.holds("both were inserted", both.stream().allMatch(InsertResult::succeeded));
        t.writeTo(both.getLast().peer());
    }

    private static void remove(RmaSetting t) {
        t.rma(); // which some providers do not have
        t.ends.vector().remove(t.ends.peer);
        Throwable refused = Check.thrown("a write to a peer that was removed", RuntimeException.class, t::write);
        if (refused instanceof UnsupportedOperationException unsupported) { throw unsupported; } // it has raw keys
        Check.holds("the exception says that the peer was removed", refused.getMessage().contains("removed"));
        t.writeTo(t.ends.vector().insert(t.far.endpoint().address()));
    }
}
