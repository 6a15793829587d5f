package io.ofi4j.internal.observe;

import java.lang.ref.Cleaner;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.stream.Collectors;

/**
 * Open objects and where they were opened, if the system property {@code io.ofi4j.leaks} asks for it; see the
 * description of the package io.ofi4j. Nothing is closed here: the threading model may forbid it, and a peer may be
 * using it.
 */
public final class LeakReport {
    private static final String HOW = System.getProperty("io.ofi4j.leaks", "");
    private static final boolean PRINTS = HOW.equals("print");
    private static final boolean ASKED = PRINTS || HOW.equals("report");
    private static final int FRAMES = 16;
    private static final String OURS = "io.ofi4j";

    /** Initialized with the first object. */
    private static final class Notes {
        static final Cleaner CLEANER = Cleaner.create();
        /** In the order of opening. */
        static final Set<Opened> OPEN = Collections.synchronizedSet(new LinkedHashSet<>());
        /** Objects here have identity equality. */
        static final Map<Object, Opened> OF_OBJECTS = Collections.synchronizedMap(new WeakHashMap<>());

        static {
            try {
                Runtime.getRuntime().addShutdownHook(new Thread(Notes::reportAll, "ofi4j-leaks"));
            } catch (IllegalStateException e) {
                // The process ends already: nothing is reported of what is open then.
            }
        }

        static void reportAll() { List.copyOf(OPEN).forEach(one -> report(one, "is open as the process ends")); }
    }

    /** Describes one object without a reference to it. Runs when the object is unreachable or closed. */
    private static final class Opened implements Runnable {
        final String what;
        final String thread = Thread.currentThread().getName();
        final List<String> frames;
        Cleaner.Cleanable cleanable;

        Opened(Object object) {
            this.what = object.toString();
            this.frames = StackWalker.getInstance().walk(all -> all.filter(frame -> !isOurs(frame.getClassName()))
                    .limit(FRAMES).map(Object::toString).toList());
        }

        @Override
        public void run() {
            if (Notes.OPEN.remove(this)) { report(this, "was never closed, and nothing refers to it any more"); }
        }
    }

    private static boolean isOurs(String className) {
        String itsPackage = className.substring(0, Math.max(0, className.lastIndexOf('.')));
        return itsPackage.equals(OURS) || itsPackage.equals(OURS + ".verbs")
                || itsPackage.startsWith(OURS + ".internal.");
    }

    /** Notes an object that the program must close. */
    public static void opened(Object object) {
        if (ASKED) {
            Opened opened = new Opened(object);
            Notes.OPEN.add(opened);
            Notes.OF_OBJECTS.put(object, opened);
            opened.cleanable = Notes.CLEANER.register(object, opened);
        }
    }

    public static void closed(Object object) {
        if (ASKED) {
            Opened opened = Notes.OF_OBJECTS.remove(object);
            if (opened != null && Notes.OPEN.remove(opened)) { opened.cleanable.clean(); }
        }
    }

    /** The name of an object, and where it was opened if that was noted. */
    public static String name(Object object) {
        Opened opened = ASKED ? Notes.OF_OBJECTS.get(object) : null;
        return opened == null || opened.frames.isEmpty()
                ? object.toString()
                : object + " opened at " + opened.frames.getFirst();
    }

    private static void report(Opened opened, String state) {
        String text = opened.what + " " + state + "; thread '" + opened.thread + "' opened it"
                + opened.frames.stream().map("\n\tat "::concat).collect(Collectors.joining());
        if (PRINTS) {
            System.err.println(text);
        } else {
            System.getLogger(OURS).log(System.Logger.Level.WARNING, text);
        }
    }
}
