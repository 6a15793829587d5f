package io.ofi4j.job.internal;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.regex.Pattern;

/**
 * The folder of a doorbell: a file and a socket. The file has a word that says whether somebody sleeps, and the process
 * that has made it. A lock would not show that this process lives: the first descriptor of the file that it closes ends
 * it.
 */
public final class BellFolder implements AutoCloseable {
    private static final String PREFIX = "ofi4j-bell-";
    private static final Pattern NAME = Pattern.compile(PREFIX + "[0-9a-f]{16}");
    private static final String FILE = "sleeps";
    private static final String SOCKET = "bell";
    private static final Path SHARED = Path.of("/dev/shm");
    /** What sun_path has room for, less the names in the folder. */
    private static final int MAX_LENGTH = 100;
    private static final int BACKLOG = 1024;
    /** After this a folder without a whole file is nobody's. */
    private static final Duration MAKING_TIME = Duration.ofMinutes(1);
    private static final VarHandle WORD = ValueLayout.JAVA_INT.varHandle();
    /** The file: the word, the number of the process, when it began, and in which namespace of numbers. */
    private static final int PROCESS_AT = 16;
    private static final int FILE_LENGTH = 40;
    private static final Path PROCESSES = Path.of("/proc");
    /** The number of the start among the fields of proc(5) behind the name of the program. */
    private static final int START_FIELD = 19;
    private static final Path NAMESPACE = Path.of("/proc/self/ns/pid");
    private static final int AWAKE = 0;
    private static final int ASLEEP = 1;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Path folder;
    private final boolean isOwn;
    private final FileChannel file;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment word;

    private BellFolder(Path folder, boolean isOwn) throws IOException {
        this.folder = folder;
        this.isOwn = isOwn;
        this.file = isOwn
                ? FileChannel.open(folder.resolve(FILE), StandardOpenOption.READ, StandardOpenOption.WRITE,
                        StandardOpenOption.CREATE_NEW)
                : FileChannel.open(folder.resolve(FILE), StandardOpenOption.READ, StandardOpenOption.WRITE);
        try {
            if (isOwn) {
                file.write(Maker.self().encode(), PROCESS_AT);
            } else if (file.size() < FILE_LENGTH) { throw new IOException(folder + " is not ready"); }
            word = file.map(FileChannel.MapMode.READ_WRITE, 0, Integer.BYTES, arena);
        } catch (IOException | RuntimeException | Error e) {
            file.close();
            arena.close();
            throw e;
        }
    }

    /** Makes one, and removes those of this user whose processes have ended. */
    public static BellFolder create() throws IOException {
        Path parent = Files.isWritable(SHARED) ? SHARED : Path.of(System.getProperty("java.io.tmpdir"));
        sweep(parent);
        Path folder = parent.toAbsolutePath().resolve(PREFIX + "%016x".formatted(RANDOM.nextLong()));
        if (folder.toString().getBytes(StandardCharsets.UTF_8).length > MAX_LENGTH) {
            throw new IOException("the name of the folder for temporary files is too long for a socket: " + parent
                    + "; choose another with -Djava.io.tmpdir");
        }
        Files.createDirectory(folder,
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        try {
            return new BellFolder(folder, true);
        } catch (IOException | RuntimeException | Error e) {
            remove(folder);
            throw e;
        }
    }

    private static void sweep(Path parent) {
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(parent, PREFIX + "*")) {
            folders.forEach(BellFolder::removeAbandoned);
        } catch (IOException | DirectoryIteratorException e) {
            return; // what stays costs a page
        }
    }

    private static void removeAbandoned(Path folder) {
        try {
            if (isOfThisUser(folder) && isAbandoned(folder)) { remove(folder); }
        } catch (IOException e) {
            return; // another process removes it too, or it has files of others: the next one may go
        }
    }

    /** A folder that is being made, or removed, has no whole file for a moment. */
    private static boolean isAbandoned(Path folder) throws IOException {
        try {
            ByteBuffer content = ByteBuffer.wrap(Files.readAllBytes(folder.resolve(FILE)));
            if (content.capacity() > FILE_LENGTH) { return false; } // of another release
            if (content.capacity() == FILE_LENGTH) { return Maker.decode(content.position(PROCESS_AT)).isGone(); }
        } catch (NoSuchFileException e) {
            assert NAME.matcher(folder.getFileName().toString()).matches(); // its maker was killed, or is at work
        }
        Instant changed = Files.getLastModifiedTime(folder, LinkOption.NOFOLLOW_LINKS).toInstant();
        return changed.isBefore(Instant.now().minus(MAKING_TIME));
    }

    /** A process that has made a folder. */
    private record Maker(long process, long start, long namespace) {
        static Maker self() throws IOException {
            long self = ProcessHandle.current().pid();
            return new Maker(self, start(self), namespaceOfThisProcess());
        }

        /**
         * {@return when a process began, in ticks since the machine did} A time of day would be another for each
         * process, once the clock was set.
         */
        private static long start(long process) throws IOException {
            String all = Files.readString(PROCESSES.resolve(process + "/stat"), StandardCharsets.ISO_8859_1);
            String afterName = all.substring(all.lastIndexOf(')') + 2); // the name may have spaces and parentheses
            return Long.parseLong(afterName.split(" ")[START_FIELD]);
        }

        private static long namespaceOfThisProcess() throws IOException {
            return (long) Files.getAttribute(NAMESPACE, "unix:ino");
        }

        ByteBuffer encode() {
            return ByteBuffer.allocate(FILE_LENGTH - PROCESS_AT).order(ByteOrder.nativeOrder()).putLong(process)
                    .putLong(start).putLong(namespace).flip();
        }

        static Maker decode(ByteBuffer bytes) {
            ByteBuffer ordered = bytes.slice().order(ByteOrder.nativeOrder());
            return new Maker(ordered.getLong(), ordered.getLong(), ordered.getLong());
        }

        /** {@return whether it has ended, as far as this process can see: numbers of another namespace mean others} */
        boolean isGone() throws IOException {
            return namespace == namespaceOfThisProcess()
                    && (Files.notExists(PROCESSES.resolve(Long.toString(process))) || start(process) != start);
        }
    }

    private static boolean isOfThisUser(Path folder) throws IOException {
        return NAME.matcher(folder.getFileName().toString()).matches()
                && Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)
                && user(folder).equals(user(Path.of("/proc/self")));
    }

    private static Object user(Path path) throws IOException {
        return Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    }

    /**
     * Opens that of another process.
     *
     * @throws IllegalArgumentException if this is no address
     */
    public static BellFolder open(byte[] address) throws IOException {
        String text = new String(address, StandardCharsets.UTF_8);
        if (address.length > MAX_LENGTH || !text.startsWith("/") || text.indexOf('\0') >= 0
                || !NAME.matcher(text.substring(text.lastIndexOf('/') + 1)).matches()) {
            throw new IllegalArgumentException("these " + address.length + " bytes are no address of a doorbell:"
                    + " pass those of Doorbell.address, unchanged");
        }
        Path folder = Path.of(text);
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) { throw new NoSuchFileException(text); }
        if (!isOfThisUser(folder)) { throw new IOException(text + " is another user's"); }
        return new BellFolder(folder, false);
    }

    public byte[] address() { return folder.toString().getBytes(StandardCharsets.UTF_8); }

    public ServerSocketChannel listen() throws IOException {
        ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            return listener.bind(UnixDomainSocketAddress.of(folder.resolve(SOCKET)), BACKLOG);
        } catch (IOException | RuntimeException | Error e) {
            listener.close();
            throw e;
        }
    }

    /** Connects without waiting: the owner accepts only while it sleeps. The channel does not block. */
    public SocketChannel connect() throws IOException {
        SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            socket.configureBlocking(false);
            if (!socket.connect(UnixDomainSocketAddress.of(folder.resolve(SOCKET)))) { // it does so at once, or never
                throw new IOException("a socket of this machine did not connect");
            }
            return socket;
        } catch (ConnectException e) { // nobody listens
            socket.close();
            throw e;
        } catch (SocketException e) {
            socket.close();
            if (!Files.exists(folder.resolve(SOCKET))) { throw e; }
            throw new IOException(
                    e.getMessage() + ": perhaps " + BACKLOG + " peers wait until the owner of " + folder + " sleeps",
                    e);
        } catch (IOException | RuntimeException | Error e) {
            socket.close();
            throw e;
        }
    }

    /** Says whether its owner sleeps. What is read afterwards is newer than what peers posted before they saw it. */
    public void sleeps(boolean isAsleep) {
        if (!arena.scope().isAlive()) { return; }
        WORD.setVolatile(word, 0L, isAsleep ? ASLEEP : AWAKE);
        VarHandle.fullFence();
    }

    /** {@return whether its owner sleeps, and is now to be woken by the caller, who is the only one} */
    public boolean wakes() {
        if (!arena.scope().isAlive()) { throw new IllegalStateException("the doorbell at " + this + " is closed"); }
        VarHandle.fullFence(); // between what was posted and this look
        return (int) WORD.getVolatile(word, 0L) == ASLEEP && WORD.compareAndSet(word, 0L, ASLEEP, AWAKE);
    }

    @Override
    public void close() {
        if (!arena.scope().isAlive()) { return; }
        arena.close();
        try {
            if (isOwn) { remove(folder); }
            file.close();
        } catch (IOException e) {
            assert !file.isOpen();
        }
    }

    private static void remove(Path folder) throws IOException {
        for (String name : new String[]{SOCKET, FILE}) {
            Files.deleteIfExists(folder.resolve(name));
        }
        Files.deleteIfExists(folder);
    }

    @Override
    public String toString() { return folder.toString(); }
}
