package io.ofi4j.misuse;

import static io.ofi4j.misuse.Misuse.refused;

import io.ofi4j.Access;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.MemoryRegionAttributes;
import io.ofi4j.durable.SaveService;
import io.ofi4j.durable.Saver;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.LibfabricNotFoundException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.WaitObject;
import io.ofi4j.job.Job;
import io.ofi4j.job.JobException;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import io.ofi4j.verbs.Verbs;
import io.ofi4j.verbs.VerbsNotFoundException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What needs a JVM of its own: other options, another environment, or no file descriptor left. The exception that ends
 * it there is thrown here.
 */
final class MisuseInForks {
    private static final String THROWN = "thrown: ";

    private MisuseInForks() {}

    /** What the other JVM does. */
    private enum Deed {
        LOAD {
            @Override
            void commit() { Libfabric.load(); }
        },
        LOAD_VERBS {
            @Override
            void commit() { Verbs.load(); }
        },
        JOIN {
            @Override
            void commit() { Job.join(); }
        },
        STOP_SOCKETS {
            @Override
            void commit() {
                Libfabric.load(Map.of("FI_SOCKETS_DEF_CONN_MAP_SZ", "0"));
                Libfabric.load().openFabric(TestProviders.info("sockets")).openDomain();
            }
        },
        FLUSH {
            @Override
            void commit() {
                Pair pair = new Pair("shm");
                MemoryRegion target = pair.domain.allocate(64, Access.REMOTE_READ, Access.REMOTE_WRITE);
                pair.rma().tryFlush(pair.far, target.remote(), 1);
            }
        },
        ASK_WITHOUT_DESCRIPTORS {
            @Override
            void commit() {
                FabricInfo info = TestProviders.info("sockets");
                info.supports(WaitObject.NONE);
                useUpDescriptors();
                info.supports(WaitObject.NONE);
            }
        },
        SERVE_SAVES_WITHOUT_DESCRIPTORS {
            @Override
            void commit() {
                Pair pair = saving();
                new SaveService(pair.domain).close();
                useUpDescriptors();
                new SaveService(pair.domain);
            }
        },
        SAVE_WITHOUT_DESCRIPTORS {
            @Override
            void commit() {
                Pair pair = saving();
                new Saver(pair.domain, pair.endpoint, pair.queue).close();
                useUpDescriptors();
                new Saver(pair.domain, pair.endpoint, pair.queue);
            }
        };

        abstract void commit();

        static Pair saving() {
            return new Pair(TestProviders.hints("tcp;ofi_rxm").capabilities(Capability.MSG, Capability.RMA));
        }

        /** The classes that an error needs: without a descriptor none is found. */
        static void loadErrors() {
            try (Pair pair = new Pair("shm"); Arena arena = Arena.ofShared()) {
                MemoryRegionAttributes taken = MemoryRegionAttributes.of(arena.allocate(64)).access(Access.WRITE)
                        .requestedKey(1);
                try (MemoryRegion _ = pair.domain.register(taken)) {
                    pair.domain.register(taken);
                } catch (FabricException e) {
                    return;
                }
            }
            throw new AssertionError("two regions have one key");
        }

        static void useUpDescriptors() {
            loadErrors();
            List<Closeable> open = new ArrayList<>();
            try {
                while (true) {
                    open.add(new FileInputStream("/dev/null"));
                }
            } catch (IOException e) {
                OPEN.addAll(open);
            }
        }
    }

    /** Reachable, so that none is closed. */
    private static final List<Closeable> OPEN = new ArrayList<>();

    public static void main(String[] arguments) throws IOException {
        try {
            Deed.valueOf(arguments[0]).commit();
        } catch (Throwable thrown) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
                out.writeObject(thrown);
            }
            System.out.println(THROWN + Base64.getEncoder().encodeToString(bytes.toByteArray()));
        }
        Runtime.getRuntime().halt(0); // what is open may be of any state
    }

    private static Misuse forked(String name, Class<? extends Throwable> expected, String words, Deed deed,
            List<String> prefix, String... options) {
        return refused("in a JVM of its own: " + name, expected, words, s -> {
            String[] arguments = Stream.concat(Stream.of(options), Stream.of(deed.name())).toArray(String[]::new);
            Forked.Result result = Forked.startBehind(prefix, MisuseInForks.class, arguments).await();
            throw result.output().lines().filter(line -> line.startsWith(THROWN)).findFirst()
                    .map(line -> decoded(line.substring(THROWN.length())))
                    .orElseThrow(() -> new AssertionError(result.output()));
        });
    }

    private static RuntimeException decoded(String text) {
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(Base64.getDecoder().decode(text)))) {
            Throwable thrown = (Throwable) in.readObject();
            if (thrown instanceof RuntimeException e) { return e; }
            throw new AssertionError(thrown);
        } catch (IOException | ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }

    static Stream<Misuse> cases() {
        List<String> few = List.of("prlimit", "--nofile=1024");
        return Stream.of(
                forked("load without native access", IllegalCallerException.class, "--enable-native-access", Deed.LOAD,
                        List.of(), Forked.NO_NATIVE_ACCESS),
                forked("load verbs without native access", IllegalCallerException.class, "--enable-native-access",
                        Deed.LOAD_VERBS, List.of(), Forked.NO_NATIVE_ACCESS),
                forked("join a job of PMI-1 without native access", IllegalCallerException.class,
                        "--enable-native-access", Deed.JOIN, List.of("env", "PMI_FD=9", "PMI_RANK=0", "PMI_SIZE=2"),
                        Forked.NO_NATIVE_ACCESS),
                forked("load what is not there", LibfabricNotFoundException.class, "/nowhere/libfabric.so.1", Deed.LOAD,
                        List.of(), "-Dio.ofi4j.library=/nowhere/libfabric.so.1"),
                forked("load verbs that are not there", VerbsNotFoundException.class, "Install rdma-core",
                        Deed.LOAD_VERBS, List.of("env", "LD_LIBRARY_PATH=" + brokenLibraries())),
                forked("join with half an environment", JobException.class, "OFI4J_RANK", Deed.JOIN,
                        List.of("env", "OFI4J_SIZE=2")),
                forked("a variable with which the provider ends the process", UnsupportedOperationException.class,
                        "FI_SOCKETS_DEF_CONN_MAP_SZ", Deed.STOP_SOCKETS, List.of()),
                forked("a flush where nothing is known of the order", UnsupportedOperationException.class,
                        "a flush cannot tell", Deed.FLUSH, List.of(), "-Dio.ofi4j.quirks=none"),
                forked("ask for wait objects without a descriptor", FabricException.class, "fi_domain",
                        Deed.ASK_WITHOUT_DESCRIPTORS, few),
                forked("a save service without a descriptor", FabricException.class, "open files",
                        Deed.SERVE_SAVES_WITHOUT_DESCRIPTORS, few),
                forked("a saver without a descriptor", FabricException.class, "open files",
                        Deed.SAVE_WITHOUT_DESCRIPTORS, few));
    }

    /** A folder with a file that has the name of a library, and is none. */
    private static Path brokenLibraries() {
        try {
            Path folder = Files.createTempDirectory("ofi4j-libraries");
            Files.writeString(folder.resolve("libibverbs.so.1"), "no library");
            return folder;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
