package io.ofi4j.internal.ffi;

import io.ofi4j.bindings.fabric_h;
import io.ofi4j.info.Hook;
import io.ofi4j.info.Version;
import io.ofi4j.internal.os.Downcalls;
import io.ofi4j.internal.os.FileMappings;
import io.ofi4j.internal.os.LibC;
import io.ofi4j.internal.os.NativeAccess;
import io.ofi4j.internal.os.SignalGuard;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Loads libfabric once, in the global arena, after the process was made safe for it. No class of the generated bindings
 * may be touched before: their first use looks the library up.
 */
@SuppressWarnings("restricted")
public final class NativeLibrary {
    /** The system property with the path of another library file. */
    public static final String PATH_PROPERTY = "io.ofi4j.library";

    private static final String SEARCH_PATH = "LD_LIBRARY_PATH";
    private static final String SONAME = "libfabric.so.1";
    private static final List<String> LOCATIONS = List.of(SONAME, "/usr/local/lib/" + SONAME,
            "/usr/local/lib64/" + SONAME, "/opt/libfabric/lib/" + SONAME, "/opt/amazon/efa/lib64/" + SONAME,
            "/opt/amazon/efa/lib/" + SONAME);

    /** libfabric's variable with the names of hooking providers, separated by semicolons. */
    private static final String HOOKS = "FI_HOOK";
    /** Null until it is loaded. */
    private static volatile SymbolLookup library;
    private static List<String> hooks = List.of();

    /** The oldest libfabric that is taken: the first whose source the quirks were compared with. */
    public static final Version OLDEST = new Version(1, 15);

    /** No libfabric can be loaded; the message names every place that was tried, or says what was found. */
    public static final class NotFound extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final transient Version tooOld;

        NotFound(String message, Throwable cause) {
            super(message, cause);
            tooOld = null;
        }

        private NotFound(Version tooOld) {
            super("libfabric " + tooOld + " is too old for ofi4j: install " + OLDEST
                    + " or newer, or name the file of another one with -D" + PATH_PROPERTY + "=/path/to/" + SONAME
                    + ".");
            this.tooOld = tooOld;
        }

        /** The version of the libfabric that was found and is older than {@link #OLDEST}; null where none was. */
        public Version tooOld() {
            return tooOld;
        }
    }

    public static void ensureLoaded() { load(Map.of()); }

    /**
     * Sets variables for libfabric, which reads them once, and loads it. False if it was loaded already; then no
     * variable is set. Throws an IllegalCallerException if the JVM refuses native access.
     */
    public static synchronized boolean load(Map<String, String> environment) {
        if (library != null) { return false; }
        SymbolLookup found = NativeAccess.require(() -> prepareAndOpen(environment));
        String named = LibC.getenv(HOOKS);
        hooks = named == null || named.isBlank() ? List.of() : List.of(named.split(";"));
        library = found;
        return true;
    }

    /** A function that libfabric, which is loaded, has by name. */
    static MemorySegment function(String name) {
        return function(library, name);
    }

    private static MemorySegment function(SymbolLookup in, String name) {
        return in.find(name).orElseThrow(() -> new UnsatisfiedLinkError("libfabric has no function " + name));
    }

    /** The variable that tells libfabric to use these hooks. */
    public static Map<String, String> hooked(List<Hook> by) {
        return Map.of(HOOKS,
                by.stream().map(hook -> hook.name().toLowerCase(Locale.ROOT)).collect(Collectors.joining(";")));
    }

    /** The names of the hooks that libfabric was told to use. */
    public static synchronized List<String> hooks() {
        return hooks;
    }

    private static SymbolLookup prepareAndOpen(Map<String, String> environment) {
        environment.forEach((name, value) -> LibC.setenv(name, value, true));
        // PSM's constructors replace the JVM's signal handlers unless they are told not to.
        LibC.setenv("IPATH_NO_BACKTRACE", "1", true);
        LibC.setenv("HFI_NO_BACKTRACE", "1", true);
        // The registration cache's monitor patches libc's mmap and munmap while JVM threads run in them.
        LibC.setenv("FI_MR_CACHE_MONITOR", "disabled", false);
        Set<String> loadedBefore = System.getProperty(PATH_PROPERTY) == null ? Set.of() : FileMappings.files();
        SymbolLookup opened = SignalGuard.call(NativeLibrary::open);
        long loadedAddress = opened.find("fi_log").orElseThrow(() -> new NotFound("The library that " + PATH_PROPERTY
                + " names is not a libfabric: it has no function fi_log. Correct the property, or leave it out.", null))
                .address();
        long usedAddress = fabric_h.fi_log.address().address(); // the others' addresses come with a method handle each
        if (loadedAddress != usedAddress) { throw new NotFound(whyAnother(usedAddress, loadedBefore), null); }
        Version found = Version.of(Downcalls.callForInt(function(opened, "fi_version")));
        if (found.compareTo(OLDEST) < 0) { throw new NotFound(found); }
        Initialization.run();
        return opened;
    }

    /** Why the bindings use another library than the one that the property names. */
    private static String whyAnother(long usedAddress, Set<String> loadedBefore) {
        String used = FileMappings.at(usedAddress).map(FileMappings.Mapping::path).orElse("");
        return loadedBefore.contains(used)
                ? "This process has loaded another libfabric already, " + used + ", which would be used in place of the"
                        + " one that " + PATH_PROPERTY + " names: leave the property out, or keep the other from being"
                        + " loaded first (LD_PRELOAD, System.load, another library that needs it)."
                : "The library that " + PATH_PROPERTY + " names has another SONAME than " + SONAME
                        + ", and a second libfabric is on this machine. Name a library with this SONAME.";
    }

    private static SymbolLookup open() {
        String chosen = System.getProperty(PATH_PROPERTY);
        List<String> tried = new ArrayList<>();
        Throwable cause = null;
        for (String place : chosen != null ? List.of(chosen) : LOCATIONS) {
            try {
                return place.contains("/")
                        ? SymbolLookup.libraryLookup(Path.of(place), Arena.global())
                        : SymbolLookup.libraryLookup(place, Arena.global());
            } catch (IllegalArgumentException e) {
                cause = e;
                tried.add(place + loadProblem(place));
            }
        }
        String remedy = chosen != null
                ? "Correct the system property " + PATH_PROPERTY + "."
                : "Install it ('apt-get install libfabric1' on Debian and Ubuntu, 'dnf install libfabric' on Fedora "
                        + "and related systems), or name the file with -D" + PATH_PROPERTY + "=/path/to/" + SONAME
                        + ".";
        throw new NotFound("libfabric was not found; tried " + String.join(", ", tried) + ". " + remedy, cause);
    }

    private static String loadProblem(String place) {
        if (place.contains("/")) {
            return path(place).map(file -> Files.exists(file) ? " (" + refusal(file) + ")" : "")
                    .orElse(" (which Java cannot read as a file's name in this locale: set LC_ALL=C.UTF-8)");
        }
        String folders = LibC.getenv(SEARCH_PATH);
        String refused = folders == null
                ? ""
                : Stream.of(folders.split("[:;]")).filter(folder -> !folder.isEmpty())
                        .flatMap(folder -> path(folder).stream()).map(folder -> folder.resolve(place))
                        .filter(Files::exists).map(file -> "; " + SEARCH_PATH + " has " + file + ", " + refusal(file))
                        .collect(Collectors.joining());
        return " (the dynamic linker's search path" + refused + ")";
    }

    /** {@return the file of this name, or nothing if Java cannot encode it} */
    private static Optional<Path> path(String name) {
        try {
            return Optional.of(Path.of(name));
        } catch (InvalidPathException e) {
            return Optional.empty();
        }
    }

    private static String refusal(Path file) {
        String reason = LibC.linkerRefusal(file.toString());
        return "which is there, but cannot be loaded: " + (reason.isEmpty() ? "a second try succeeded" : reason);
    }
}
