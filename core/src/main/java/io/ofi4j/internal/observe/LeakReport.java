package io.ofi4j.internal.observe;

import java.lang.ref.Cleaner;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/**
 * What is open, and where it was opened, where the system property {@code io.ofi4j.leaks} asks for it; see the package's
 * description. Nothing is ever closed here: who may close it is for its threading model to say, and a peer may still be using it.
 */
public final class LeakReport {
    /** Whether anything is noted at all. */
    public static final boolean ASKED;

    private static final boolean PRINTS;
    private static final int FRAMES = 16;
    private static final String OURS = "io.ofi4j";
    private static final String OURS_INTERNAL = OURS + ".internal.";

    static {
        String how = System.getProperty("io.ofi4j.leaks", "");
        PRINTS = how.equals("print");
        ASKED = PRINTS || how.equals("report");
    }

    private LeakReport() {
    }

    /** Made when the first object is noted. */
    private static final class Notes {
        static final Cleaner CLEANER = Cleaner.create();
        static final AtomicLong COUNT = new AtomicLong();
        static final Set<Opened> OPEN = ConcurrentHashMap.newKeySet();
        /** No object here equals another. */
        static final Map<Object, Opened> OF_OBJECTS = Collections.synchronizedMap(new WeakHashMap<>());

        static {
            Runtime.getRuntime().addShutdownHook(new Thread(Notes::reportAll, "ofi4j-leaks"));
        }

        static void reportAll() {
            OPEN.stream().sorted(Comparator.comparingLong(one -> one.number))
                    .forEach(one -> report(one, "is open as the process ends"));
        }
    }

    /** One object; it must not refer to it. Runs when it is unreachable, or was closed. */
    private static final class Opened implements Runnable {
        final long number = Notes.COUNT.incrementAndGet();
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
            if (Notes.OPEN.remove(this)) {
                report(this, "was never closed, and nothing refers to it any more");
            }
        }
    }

    private static boolean isOurs(String className) {
        String itsPackage = className.substring(0, Math.max(0, className.lastIndexOf('.')));
        return itsPackage.equals(OURS) || itsPackage.startsWith(OURS_INTERNAL);
    }

    /** Notes an object that the caller of this library is to close. */
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
            if (opened != null && Notes.OPEN.remove(opened)) {
                opened.cleanable.clean();
            }
        }
    }

    /** An object's name, and where it was opened if that was noted. */
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
