package io.ofi4j.internal.observe;

/**
 * Reports events that are not on the data path. This class itself reports nothing: it is used if the runtime lacks the
 * module jdk.jfr. For work that takes time there are two methods; the result of the first is passed to the second.
 */
public class EventRecorder {
    public static final EventRecorder RECORDER = find();

    private static EventRecorder find() {
        try {
            Class.forName("jdk.jfr.Event", false, EventRecorder.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            return new EventRecorder();
        }
        return new FlightRecorder();
    }

    public Object registering() { return null; }

    public Object deregistering() { return null; }

    /** Ends {@link #registering} or {@link #deregistering}. */
    public void regionChanged(Object begun, String provider, long length, Object access) {}

    public void enabled(String provider, Object type) {}

    public Object closing() { return null; }

    public void closed(Object begun, String provider, Object type) {}

    public void canceled(String provider, int operations) {}

    public void connected(String provider) {}

    public void refused(String provider, int errno) {}

    public void disconnected(String provider) {}

    public void failed(String provider, long token, int errno, String text) {}

    public void failed(String operation, int errno, String message) {}

    public Object posting() { return null; }

    public void posted(Object begun, String provider, String operation, int turns, boolean accepted) {}

    public Object waiting() { return null; }

    public void waited(Object begun, String operation, boolean found) {}
}
