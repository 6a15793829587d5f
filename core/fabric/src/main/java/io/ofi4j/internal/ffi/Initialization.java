package io.ofi4j.internal.ffi;

import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.internal.os.Blocker;
import io.ofi4j.internal.os.Descriptors;
import io.ofi4j.internal.os.DmaBufs;
import io.ofi4j.internal.os.FileMappings;
import io.ofi4j.internal.os.Functions;
import io.ofi4j.internal.os.NativeFile;
import io.ofi4j.internal.os.NativeMemory;
import io.ofi4j.internal.os.NativeWords;
import io.ofi4j.internal.os.SignalGuard;
import java.lang.invoke.MethodHandles;
import java.util.List;

/**
 * Initializes the classes that hold method handles, when the library is loaded. A class whose initialization ends the
 * stack of some thread can never be used again: the first poll of a process may come deep in a recursion.
 */
final class Initialization {
    private static final List<Class<?>> CLASSES = List.of(Functions.class, Blocker.class, NativeWords.class,
            NativeMemory.class, NativeFile.class, FileMappings.class, Descriptors.class, DmaBufs.class,
            SignalGuard.class, InlineFunction.class, FabricConstants.class, CqFormat.class, CqOps.class,
            CqEntries.class, CqErrorEntry.class, CntrOps.class, RmaOps.class, MsgOps.class, TaggedOps.class,
            AtomicOps.class, CollectiveOps.class, EqOps.class, PreparedStruct.class, SegmentVector.class,
            PreparedMessageStruct.class, PreparedRmaStruct.class, PreparedAtomicStruct.class);

    private Initialization() {}

    static void run() {
        for (Class<?> one : CLASSES) {
            try {
                MethodHandles.lookup().ensureInitialized(one);
            } catch (IllegalAccessException e) {
                throw new AssertionError(e);
            }
        }
        Downcalls.prepare();
    }
}
