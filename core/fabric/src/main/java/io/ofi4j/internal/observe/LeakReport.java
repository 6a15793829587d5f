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
    private static final String MODE = System.getProperty("io.ofi4j.leaks", "");
    private static final boolean PRINTS = MODE.equals("print");
    private static final boolean IS_ON = PRINTS || MODE.equals("report");
    private static final int FRAMES = 16;
    private static final String OURS = "io.ofi4j";

    /** What is open. A class of its own, so that the threads of the cleaner start only where leaks are reported. */
    private static final class Registry {
        static final Cleaner CLEANER = Cleaner.create();
        /** The open objects, in the order in which they were opened. */
        static final Set<OpenObject> OPEN = Collections.synchronizedSet(new LinkedHashSet<>());
        /** The descriptions of the open objects, which have identity equality. */
        static final Map<Object, OpenObject> OF_OBJECTS = Collections.synchronizedMap(new WeakHashMap<>());

        static {
            try {
                Runtime.getRuntime().addShutdownHook(new Thread(Registry::reportAll, "ofi4j-leaks"));
            } catch (IllegalStateException e) {
                // The process ends already: nothing is reported of what is open then.
            }
        }

        static void reportAll() { List.copyOf(OPEN).forEach(one -> report(one, "is open as the process ends")); }
    }

    /** Describes one object without a reference to it. Runs when the object is unreachable or closed. */
    private static final class OpenObject implements Runnable {
        final String what;
        final String thread = Thread.currentThread().getName();
        final List<String> frames;
        Cleaner.Cleanable cleanable;

        OpenObject(Object object) {
            this.what = object.toString();
            this.frames = StackWalker.getInstance()
                    .walk(all -> all.filter(frame -> !isLibraryClass(frame.getClassName())).limit(FRAMES)
                            .map(Object::toString).toList());
        }

        @Override
        public void run() {
            if (Registry.OPEN.remove(this)) { report(this, "was never closed, and nothing refers to it any more"); }
        }
    }

    private static boolean isLibraryClass(String className) {
        String itsPackage = className.substring(0, Math.max(0, className.lastIndexOf('.')));
        return itsPackage.equals(OURS) || itsPackage.equals(OURS + ".verbs")
                || itsPackage.startsWith(OURS + ".internal.");
    }

    /** Notes an object that the program must close. */
    public static void opened(Object object) {
        if (IS_ON) {
            OpenObject opened = new OpenObject(object);
            Registry.OPEN.add(opened);
            Registry.OF_OBJECTS.put(object, opened);
            opened.cleanable = Registry.CLEANER.register(object, opened);
        }
    }

    public static void closed(Object object) {
        if (IS_ON) {
            OpenObject opened = Registry.OF_OBJECTS.remove(object);
            if (opened != null && Registry.OPEN.remove(opened)) { opened.cleanable.clean(); }
        }
    }

    /** The name of an object, and where it was opened if that was noted. */
    public static String name(Object object) {
        OpenObject opened = IS_ON ? Registry.OF_OBJECTS.get(object) : null;
        return opened == null || opened.frames.isEmpty()
                ? object.toString()
                : object + " opened at " + opened.frames.getFirst();
    }

    private static void report(OpenObject opened, String state) {
        String text = opened.what + " " + state + "; thread '" + opened.thread + "' opened it"
                + opened.frames.stream().map("\n\tat "::concat).collect(Collectors.joining());
        if (PRINTS) {
            System.err.println(text);
        } else {
            System.getLogger(OURS).log(System.Logger.Level.WARNING, text);
        }
    }
}
