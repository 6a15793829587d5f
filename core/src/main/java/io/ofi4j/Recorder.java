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

    void registered(Object begun, String provider, long length, Object access) {
        // Nobody listens, here and below.
    }

    Object deregistering() {
        return null;
    }

    void deregistered(Object begun, String provider, long length, Object access) {
    }

    void enabled(String provider, Object type) {
    }

    Object closing() {
        return null;
    }

    void closed(Object begun, String provider, Object type) {
    }

    void canceled(String provider, int operations) {
    }

    void connected(String provider) {
    }

    void refused(String provider, int errno) {
    }

    void disconnected(String provider) {
    }

    void failed(String provider, long token, int errno, String text) {
    }

    void failed(String operation, int errno, String message) {
    }

    Object posting() {
        return null;
    }

    void posted(Object begun, String provider, String operation, int turns, boolean accepted) {
    }

    Object waiting() {
        return null;
    }

    void waited(Object begun, String operation, boolean found) {
    }
}
