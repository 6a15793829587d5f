package io.ofi4j.command.doctor;

import io.ofi4j.command.NativeAccess;
import java.util.List;

/** The JVM that runs this, which is the one that would run the application where the same launcher is used. */
final class JavaChecks {
    private static final int OLDEST = 22;

    private JavaChecks() {}

    static List<Finding> all() { return List.of(jdk(Runtime.version()), nativeAccess()); }

    static Finding jdk(Runtime.Version version) {
        String found = System.getProperty("java.vm.name") + " " + version;
        return version.feature() >= OLDEST
                ? Finding.ok("JDK", found)
                : Finding.problem("JDK", found, "install a JDK of " + OLDEST + " or newer");
    }

    private static Finding nativeAccess() {
        return NativeAccess.isEnabled()
                ? Finding.ok("native access", "enabled")
                : Finding.hint("native access", "not enabled: the JVM warns, and later ones will refuse",
                        "start java with " + NativeAccess.OPTION);
    }
}
