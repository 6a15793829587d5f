package io.ofi4j.calls;

import io.ofi4j.info.OperationFlag;
import static io.ofi4j.calls.Trial.LENGTH;
import static io.ofi4j.calls.Trial.TOKEN;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;

/** Trials of the calls of fi_rma(3). */
final class RmaTrials {
    private static final long DATA = 0x11223344;

    private RmaTrials() {}

    static void addTo(Map<String, CallTrial> all) {
        all.put("fi_write", CallTrial.of(t -> {
            t.rma().write(t.here.slice(0, LENGTH), t.pair.far, t.there.remote(), TOKEN);
            t.awaitToken(TOKEN);
            t.awaitWritten();
        }));
        all.put("fi_writev", CallTrial.of(t -> {
            t.message().write(TOKEN);
            t.awaitToken(TOKEN);
            t.awaitWritten();
        }));
        all.put("fi_writemsg", CallTrial.of(t -> {
            t.message().flags(OperationFlag.COMPLETION).write(TOKEN);
            t.awaitToken(TOKEN);
            t.awaitWritten();
        }));
        all.put("fi_inject_write", CallTrial.of(t -> {
            t.rma().injectWrite(t.here.slice(0, LENGTH), t.pair.far, t.there.remote());
            t.awaitWritten();
            assertThat(t.pair.completed).isEmpty();
        }));
        all.put("fi_writedata", CallTrial.of(t -> {
            t.rma().writeData(t.here.slice(0, LENGTH), DATA, t.pair.far, t.there.remote(), TOKEN);
            t.awaitData(DATA);
            t.awaitWritten();
        }));
        all.put("fi_inject_writedata", CallTrial.of(t -> {
            t.rma().injectWriteData(t.here.slice(0, LENGTH), DATA, t.pair.far, t.there.remote());
            t.awaitData(DATA);
            t.awaitWritten();
        }));
        all.put("fi_read", CallTrial.of(t -> {
            t.rma().read(t.here.slice(0, LENGTH), t.pair.far, t.there.remote(), TOKEN);
            t.awaitToken(TOKEN);
            t.awaitRead();
        }));
        all.put("fi_readv", CallTrial.of(t -> {
            t.message().read(TOKEN);
            t.awaitToken(TOKEN);
            t.awaitRead();
        }));
        all.put("fi_readmsg", CallTrial.of(t -> {
            t.message().flags(OperationFlag.COMPLETION).read(TOKEN);
            t.awaitToken(TOKEN);
            t.awaitRead();
        }));
    }
}
