package io.ofi4j;

import static io.ofi4j.Trial.LENGTH;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/** One trial for each of libfabric's calls that core makes: it fails unless the call did what its man page says. */
final class CallTrials {
    /** In the order of the table. */
    static final Map<String, CallTrial> ALL = new LinkedHashMap<>();
    /** What must be asked of the provider for some of them, beside RMA. */
    static final Map<String, Capability> NEEDS = new HashMap<>();

    private static final long TOKEN = 77;
    private static final long DATA = 0x11223344;

    /** Tries one call. */
    interface CallTrial {
        void run(Trial trial);
    }

    private static final Map<OperationFlag, Capability> FLAG_NEEDS = Map.of(OperationFlag.FENCE, Capability.FENCE,
            OperationFlag.COMMIT_COMPLETE, Capability.RMA_PMEM);

    static {
        rma();
        flags();
    }

    private CallTrials() {
    }

    private static void rma() {
        ALL.put("fi_write", t -> {
            t.rma().write(t.here, 0, LENGTH, t.pair.far, t.there.remote(), 0, TOKEN);
            t.pair.awaitToken(TOKEN);
            t.awaitWritten();
        });
        ALL.put("fi_writev", t -> {
            t.message().writeVector(TOKEN);
            t.pair.awaitToken(TOKEN);
            t.awaitWritten();
        });
        ALL.put("fi_writemsg", t -> {
            t.message().write(TOKEN);
            t.pair.awaitToken(TOKEN);
            t.awaitWritten();
        });
        ALL.put("fi_inject_write", t -> {
            t.rma().injectWrite(t.here, 0, LENGTH, t.pair.far, t.there.remote(), 0);
            t.awaitWritten();
            assertThat(t.pair.completed).isEmpty();
        });
        ALL.put("fi_writedata", t -> {
            t.rma().writeData(t.here, 0, LENGTH, DATA, t.pair.far, t.there.remote(), 0, TOKEN);
            t.awaitData(DATA);
            t.awaitWritten();
        });
        ALL.put("fi_inject_writedata", t -> {
            t.rma().injectWriteData(t.here, 0, LENGTH, DATA, t.pair.far, t.there.remote(), 0);
            t.awaitData(DATA);
            t.awaitWritten();
        });
        ALL.put("fi_read", t -> {
            t.rma().read(t.here, 0, LENGTH, t.pair.far, t.there.remote(), 0, TOKEN);
            t.pair.awaitToken(TOKEN);
            t.awaitRead();
        });
        ALL.put("fi_readv", t -> {
            t.message().readVector(TOKEN);
            t.pair.awaitToken(TOKEN);
            t.awaitRead();
        });
        ALL.put("fi_readmsg", t -> {
            t.message().read(TOKEN);
            t.pair.awaitToken(TOKEN);
            t.awaitRead();
        });
    }

    private static void flags() {
        for (OperationFlag flag : OperationFlag.values()) {
            String call = "fi_writemsg, " + flag;
            if (FLAG_NEEDS.containsKey(flag)) {
                NEEDS.put(call, FLAG_NEEDS.get(flag));
            }
            ALL.put(call, t -> {
                t.message().flags(flag).data(DATA).write(TOKEN);
                if (flag == OperationFlag.MORE) {
                    t.message().write(TOKEN);
                }
                t.awaitWritten();
                if (flag == OperationFlag.REMOTE_CQ_DATA) {
                    t.awaitData(DATA);
                }
            });
        }
    }
}
