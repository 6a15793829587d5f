package io.ofi4j.hostile;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.durable.Durability;
import io.ofi4j.durable.SaveService;
import io.ofi4j.durable.Saver;
import io.ofi4j.support.FaultPeer;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

/**
 * A disk fails and works again at random moments, and anybody may be told of its errors: each piece whose save was said
 * to survive a loss of power is on the disk when it is mounted anew, and once a save of a mapping has failed, all later
 * ones of it fail. The disk is ext4 on a loop device, whose file is on a tmpfs that is full or not.
 */
final class HostileDisks {
    private static final String DISK = """
            mount -t tmpfs -o size=64m tmpfs "$0" && mkdir "$0/disk" && truncate -s 256m "$0/image" &&
            mkfs.ext4 -q -b 4096 -O ^has_journal -E lazy_itable_init=0 "$0/image" &&
            mount -o loop "$0/image" "$0/disk" || exit 77
            """;
    private static final int MS_SYNC = 4;
    private static final String ALL_AS_EXPECTED = "all as expected";

    private HostileDisks() {}

    /** {@return why this machine cannot have such a disk; empty if it can} */
    static Optional<String> whyNot() {
        List<String> output = new ArrayList<>();
        try {
            Path folder = Files.createTempDirectory("hostile-disk");
            int exit = FaultPeer.exit(List.of("unshare", "-m", "sh", "-c", DISK, folder.toString()), output);
            Files.delete(folder);
            return exit == 0
                    ? Optional.empty()
                    : Optional.of("a disk that fails needs root, mkfs.ext4 and loop devices: " + output);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void run(HostileRun run) throws Exception {
        Random random = run.random();
        while (run.goesOn()) {
            Path folder = Files.createTempDirectory("hostile-disk");
            List<String> arguments = new ArrayList<>(HostileJvm.chosen().options());
            arguments.addAll(
                    List.of(run.provider, Long.toString(random.nextLong() & Long.MAX_VALUE), folder.toString()));
            Forked.Result result = Forked
                    .startBehind(List.of("unshare", "-m", "sh", "-c", DISK + "exec \"$@\"", folder.toString()),
                            Life.class, arguments.toArray(String[]::new))
                    .await();
            Files.delete(folder);
            if (result.exit() != 0 || !result.output().contains(ALL_AS_EXPECTED)) {
                throw new AssertionError("ended with " + result.exit() + ":\n" + result.output());
            }
            run.tried("disks");
            result.output().lines().filter(line -> line.startsWith("did ")).forEach(run::tried);
        }
    }

    /** The life of a disk. Arguments: the provider, a seed, and the folder that the disk is in. */
    static final class Life implements CompletionHandler {
        private static final int EIO = 5;
        private static final int STEPS = 150;
        /** One for each step, and the last one. */
        private static final int PIECES = STEPS + 1;

        private final Random random;
        private final Path disk;
        private final Path file;
        private final Domain domain;
        private final CompletionQueue queue;
        private final CompletionQueue farQueue;
        private final MemoryRegion source;
        private final Endpoint endpoint;
        private final Peer far;
        private final SaveService service;
        private final Saver saver;
        private MemoryRegion region;
        private boolean isFull;
        /** Whether there may be an error of the disk that nobody was told of. */
        private boolean mayFail;
        /** Whether a save of this mapping has failed. */
        private boolean hasFailed;
        private final Set<Integer> durable = new HashSet<>();
        private int next;
        private long awaited;
        private int outcome;

        private Life(Random random, Path folder, Fabric fabric) throws IOException {
            this.random = random;
            this.disk = folder.resolve("disk");
            this.file = disk.resolve("file");
            Files.createFile(file);
            domain = fabric.openDomain();
            queue = domain.openCompletionQueue();
            farQueue = domain.openCompletionQueue();
            AddressVector vector = domain.openAddressVector();
            endpoint = domain.openEndpoint().bind(vector).bind(queue).enable();
            far = vector.insert(domain.openEndpoint().bind(vector).bind(farQueue).enable().address());
            source = domain.allocate(HostilePieces.SLOT, Access.WRITE);
            service = new SaveService(domain);
            saver = new Saver(domain, endpoint, queue);
            saver.saveThrough(far, service.ticket());
        }

        public static void main(String[] arguments) throws Exception {
            Fabric fabric = HostileOwner.openFabric(arguments[0]);
            new Life(new Random(Long.parseLong(arguments[1])), Path.of(arguments[2]), fabric).live();
            System.out.println(ALL_AS_EXPECTED);
            System.exit(0);
        }

        private void live() throws Exception {
            map();
            for (int step = 0; step < STEPS; step++) {
                step();
            }
            work();
            told(() -> FaultPeer.exit(List.of("sync", "-f", disk.toString()), new ArrayList<>())); // the last error
            mapAnew();
            save(Durability.POWER_SAFE);
            require(!hasFailed, "a save on a disk that works again has failed");
            region.close();
            run("umount", disk.toString());
            run("mount", "-o", "loop", disk.resolveSibling("image").toString(), disk.toString());
            MemorySegment bytes = MemorySegment.ofArray(Files.readAllBytes(file));
            for (int number : durable) {
                HostilePieces.require(bytes, number, "and was said to survive a loss of power");
            }
        }

        private void step() throws Exception {
            switch (random.nextInt(12)) {
                case 0 -> {
                    if (isFull) {
                        work();
                    } else {
                        fill();
                    }
                }
                case 1 -> mapAnew();
                case 2 -> told(() -> FaultPeer.exit(List.of("sync", "-f", disk.toString()), new ArrayList<>()));
                case 3 -> told(this::forceMapping);
                case 4 -> told(this::forceChannel);
                case 5 -> force();
                default -> save(random.nextInt(3) == 0 ? Durability.PROCESS_SAFE : Durability.POWER_SAFE);
            }
        }

        private void map() throws IOException {
            long length = (long) PIECES * HostilePieces.SLOT;
            region = domain.map(file, MapMode.READ_WRITE, 0, length, Access.REMOTE_WRITE);
            hasFailed = false;
        }

        private void mapAnew() throws IOException {
            region.close();
            map();
            System.out.println("did map the file anew");
        }

        /** Writes a new piece, and saves it. */
        private void save(Durability level) {
            int number = next++;
            int length = HostilePieces.length(number);
            long to = HostilePieces.offset(number);
            MemorySegment.copy(HostilePieces.bytes(number), 0, source.segment(), ValueLayout.JAVA_BYTE, 0, length);
            await("a write", token -> endpoint.rma().tryWrite(source, 0, length, far, region.remote(), to, token));
            require(outcome == 0, "a write has failed");
            await("a save", token -> saver.trySave(far, region.remote().slice(to, length), level, token));
            if (level == Durability.PROCESS_SAFE) {
                require(outcome == 0, "a save for the process has failed with " + outcome);
                return;
            }
            require(outcome == 0 || outcome == EIO, "the error is " + outcome);
            require(outcome != 0 || !hasFailed, "a save of a mapping that has failed was said to have done it");
            require(outcome == 0 || hasFailed || mayFail, "a disk that works has failed");
            hasFailed |= outcome != 0;
            if (outcome == 0) { durable.add(number); }
            System.out.println(outcome == 0 ? "did save" : "did fail to save");
        }

        private void force() {
            try {
                region.force();
                require(!hasFailed, "a force of a mapping that has failed was said to have done it");
            } catch (UncheckedIOException e) {
                require(mayFail || hasFailed, "a disk that works has failed: " + e);
                hasFailed = true;
            }
        }

        /** Who is told of an error, before the service asks. */
        private interface Telling {
            void tell() throws IOException;
        }

        private void told(Telling telling) {
            try {
                telling.tell();
            } catch (IOException | UncheckedIOException e) {
                System.out.println("did tell of an error");
            }
        }

        /** Of the region itself, beside ofi4j. */
        @SuppressWarnings("restricted")
        private void forceMapping() throws IOException {
            Linker linker = Linker.nativeLinker();
            int status;
            try {
                status = (int) linker
                        .downcallHandle(linker.defaultLookup().find("msync").orElseThrow(), FunctionDescriptor.of(
                                ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT))
                        .invokeExact(region.segment(), region.length(), MS_SYNC);
            } catch (Throwable t) {
                throw new AssertionError(t);
            }
            if (status != 0) { throw new IOException("msync"); }
        }

        private void forceChannel() throws IOException {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.force(true);
            }
        }

        private interface Post {
            boolean isAccepted(long token);
        }

        private void await(String what, Post post) {
            long token = ++awaited;
            outcome = -1;
            Waiting.YIELD.until(() -> {
                poll();
                return post.isAccepted(token);
            }, Pair.DEADLINE);
            boolean isBack = Waiting.YIELD.tryUntil(() -> {
                poll();
                return outcome >= 0;
            }, Pair.DEADLINE);
            require(isBack, what + " did not come back");
        }

        private void poll() {
            service.progress();
            farQueue.poll(HostileTraffic.IGNORE, 16);
            saver.poll(this, 16);
        }

        @Override
        public void onCompletion(long token, long flags, long length, long data) {
            require(token == awaited && outcome < 0, "another token");
            outcome = 0;
        }

        @Override
        public void onError(CompletionError error) {
            require(error.token() == awaited && outcome < 0, "another token");
            outcome = error.errno();
        }

        /** Fills the tmpfs, so that the loop device can write only where it has written before. */
        private void fill() {
            isFull = true;
            mayFail = true;
            System.out.println("did fill the disk");
            try (FileChannel channel = FileChannel.open(disk.resolveSibling("full"), StandardOpenOption.CREATE,
                    StandardOpenOption.WRITE)) {
                while (channel.write(ByteBuffer.allocate(1 << 12)) > 0) {
                    continue;
                }
            } catch (IOException e) {
                return; // full
            }
        }

        /** The disk works again. */
        private void work() throws IOException {
            Files.deleteIfExists(disk.resolveSibling("full"));
            isFull = false;
        }

        private static void run(String... command) {
            List<String> output = new ArrayList<>();
            require(FaultPeer.exit(List.of(command), output) == 0, List.of(command) + ": " + output);
        }

        private static void require(boolean holds, String otherwise) {
            if (!holds) { throw new AssertionError(otherwise); }
        }
    }
}
