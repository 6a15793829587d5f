package io.ofi4j.internal.quirks.shm;

import io.ofi4j.internal.quirks.Fact;
import io.ofi4j.internal.quirks.Quirk;
import io.ofi4j.internal.quirks.Tested;
import java.util.List;

/** The quirks of {@code shm}. */
public final class ShmQuirks {
    /** All of them. An insertion goes through them from the last one to the first. */
    public static final List<Quirk> ALL = all();

    private ShmQuirks() {}

    private static List<Quirk> all() {
        ShmNeighbours neighbours = new ShmNeighbours();
        return List.of(new ShmRoom(), new AbsentPeers(), new ShmNames.OwnPeers(), new ShmNames(), neighbours,
                new ShmPlaces(neighbours), new ShmPlaces.LastPlace(), new ShmFiles(),
                new Quirk("shm-removed-peers", provider -> provider.is("shm"), Tested.ALL,
                        "What a removed peer has sent, and this process has not worked off, leads into nowhere; on 1.x the"
                                + " next peer is taken for it.",
                        "AddressVectorTest", Fact.REMOVED_PEERS_STAY, Fact.LOOKUP_INEXACT),
                new Quirk("shm-event-wait", provider -> provider.is("shm"), Tested.ALL,
                        "fi_eq_sread of an event queue does not return when its time is over.", "EventQueueTest",
                        Fact.EVENT_WAIT_IGNORES_TIME),
                new Quirk("shm-options", provider -> provider.is("shm"), Tested.ALL,
                        "An option of an endpoint that is not enabled ends the process.", "EndpointOptionsTest",
                        Fact.OPTIONS_NEED_ENABLE),
                new Quirk("shm-empty-deliveries", provider -> provider.is("shm"), Tested.ONE,
                        "A write that is to be delivered is cut into pieces, and one of no bytes into none.",
                        "RmaCallsTest", Fact.EMPTY_DELIVERIES_HANG),
                new Quirk("shm-closed-regions", provider -> provider.is("shm"), Tested.TWO,
                        "A transfer asks the provider's structure of a region what kind of memory it is, also after the"
                                + " region's fi_close.",
                        "ClosedTargetTest", Fact.CLOSED_REGIONS_ARE_READ));
    }
}
