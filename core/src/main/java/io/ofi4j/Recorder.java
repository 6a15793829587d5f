package io.ofi4j;

/**
 * Tells of what happens beside the data path. This one tells nobody: it serves where the runtime has no module jdk.jfr. What takes
 * time has a first call, whose result goes into the last.
 */
class Recorder {
    static final Recorder RECORDER = find();

    private static Recorder find() {
        try {
            Class.forName("jdk.jfr.Event", false, Recorder.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            return new Recorder();
        }
        return new FlightRecorder();
    }

    Object registering() {
        return null;
    }

    void registered(Object begun, MemoryRegion region) {
        // Nobody listens, here and below.
    }

    Object deregistering() {
        return null;
    }

    void deregistered(Object begun, MemoryRegion region) {
    }

    void enabled(Endpoint endpoint) {
    }

    Object closing() {
        return null;
    }

    void closed(Object begun, Endpoint endpoint) {
    }

    void canceled(Endpoint endpoint, int operations) {
    }

    void connected(Endpoint endpoint) {
    }

    void refused(Endpoint endpoint, int errno) {
    }

    void disconnected(Endpoint endpoint) {
    }

    void failed(CompletionError error) {
    }

    void failed(String operation, int errno, String message) {
    }

    Object posting() {
        return null;
    }

    void posted(Object begun, Endpoint endpoint, String operation, int turns, boolean accepted) {
    }

    Object waiting() {
        return null;
    }

    void waited(Object begun, String operation, boolean found) {
    }
}
