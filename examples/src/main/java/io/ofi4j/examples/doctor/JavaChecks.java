package io.ofi4j.examples.doctor;

import io.ofi4j.Libfabric;
import java.util.List;

/** The JVM that runs this, which is the one that would run the application where the same launcher is used. */
final class JavaChecks {
    private static final int OLDEST = 22;

    private JavaChecks() {
    }

    static List<Finding> all() {
        return List.of(jdk(), nativeAccess());
    }

    private static Finding jdk() {
        String found = System.getProperty("java.vm.name") + " " + Runtime.version();
        return Runtime.version().feature() >= OLDEST
                ? Finding.ok("JDK", found)
                : Finding.problem("JDK", found, "install a JDK of " + OLDEST + " or newer");
    }

    private static Finding nativeAccess() {
        Module module = Libfabric.class.getModule();
        String flag = "--enable-native-access=" + (module.isNamed() ? "io.ofi4j,io.ofi4j.bindings" : "ALL-UNNAMED");
        return module.isNativeAccessEnabled()
                ? Finding.ok("native access", "enabled")
                : Finding.hint("native access", "not enabled: the JVM warns, and later ones will refuse",
                        "start java with " + flag);
    }
}
