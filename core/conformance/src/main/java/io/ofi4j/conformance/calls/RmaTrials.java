package io.ofi4j.conformance.calls;

import static io.ofi4j.conformance.calls.RmaSetting.LENGTH;
import static io.ofi4j.conformance.calls.RmaSetting.TOKEN;

import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.Trial;
import io.ofi4j.info.OperationFlag;
import java.util.Map;

/** Trials of the calls of fi_rma(3). */
final class RmaTrials {
    private static final long DATA = 0x11223344;

    private RmaTrials() {}

    static void addTo(Map<String, Trial> all) {
        all.put("fi_write", RmaTrial.of(t -> {
            t.rma().write(t.here.slice(0, LENGTH), t.ends.peer, t.there.remote(), TOKEN);
            t.ends.awaitToken(TOKEN);
            t.awaitWritten();
        }));
        all.put("fi_writev", RmaTrial.of(t -> {
            t.message().write(TOKEN);
            t.ends.awaitToken(TOKEN);
            t.awaitWritten();
        }));
        all.put("fi_writemsg", RmaTrial.of(t -> {
            t.message().flags(OperationFlag.COMPLETION).write(TOKEN);
            t.ends.awaitToken(TOKEN);
            t.awaitWritten();
        }));
        all.put("fi_inject_write", RmaTrial.of(t -> {
            t.rma().injectWrite(t.here.slice(0, LENGTH), t.ends.peer, t.there.remote());
            t.awaitWritten();
            Check.none("the completions", t.near.tokens());
        }));
        all.put("fi_writedata", RmaTrial.of(t -> {
            t.rma().writeData(t.here.slice(0, LENGTH), DATA, t.ends.peer, t.there.remote(), TOKEN);
            t.awaitData(DATA);
            t.awaitWritten();
        }));
        all.put("fi_inject_writedata", RmaTrial.of(t -> {
            t.rma().injectWriteData(t.here.slice(0, LENGTH), DATA, t.ends.peer, t.there.remote());
            t.awaitData(DATA);
            t.awaitWritten();
        }));
        all.put("fi_read", RmaTrial.of(t -> {
            t.rma().read(t.here.slice(0, LENGTH), t.ends.peer, t.there.remote(), TOKEN);
            t.ends.awaitToken(TOKEN);
            t.awaitRead();
        }));
        all.put("fi_readv", RmaTrial.of(t -> {
            t.message().read(TOKEN);
            t.ends.awaitToken(TOKEN);
            t.awaitRead();
        }));
        all.put("fi_readmsg", RmaTrial.of(t -> {
            t.message().flags(OperationFlag.COMPLETION).read(TOKEN);
            t.ends.awaitToken(TOKEN);
            t.awaitRead();
        }));
    }
}
