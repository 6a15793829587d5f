package io.ofi4j.jmh.compare;

import io.ofi4j.info.FabricHints;
import io.ofi4j.info.ProgressModel;
import io.ofi4j.info.ThreadingModel;
import java.util.ArrayList;
import java.util.List;

/**
 * The threading and progress that both sides ask for.
 *
 * @param threading who serialises calls
 * @param progress who makes progress
 */
record Models(ThreadingModel threading, ProgressModel progress) {
    private static final String LOOPBACK = "127.0.0.1";

    /** {@return what to try for a provider, the fastest first} */
    static List<Models> toTry(String provider, int libfabricMajor) {
        boolean completion = libfabricMajor >= 2 && provider.equals("tcp");
        return toTry(completion ? ThreadingModel.COMPLETION : ThreadingModel.DOMAIN, ThreadingModel.SAFE);
    }

    /** {@return what to try with one of these, in turn} */
    static List<Models> toTry(ThreadingModel... threading) {
        List<Models> models = new ArrayList<>();
        for (ThreadingModel each : threading) {
            for (ProgressModel progress : List.of(ProgressModel.MANUAL, ProgressModel.UNSPECIFIED)) {
                models.add(new Models(each, progress));
            }
        }
        return models;
    }

    /** {@return what to try where several threads use one endpoint} */
    static List<Models> safe() {
        return List.of(new Models(ThreadingModel.SAFE, ProgressModel.MANUAL),
                new Models(ThreadingModel.SAFE, ProgressModel.UNSPECIFIED));
    }

    /** {@return what to ask a provider for; one that has internet addresses, on this machine only} */
    FabricHints hints(String provider) {
        FabricHints hints = FabricHints.rma().provider(provider).threading(threading).controlProgress(progress)
                .dataProgress(progress);
        return provider.startsWith("shm") ? hints : hints.source(LOOPBACK, null);
    }

    @Override
    public String toString() { return "threading " + threading + ", progress " + progress; }
}
