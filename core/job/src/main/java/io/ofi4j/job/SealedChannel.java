package io.ofi4j.job;

import io.ofi4j.job.internal.Deadline;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Messages over a socket, encrypted and authenticated with AES-256-GCM. There is a key for each direction. The keys are
 * derived from the secret and from a random number of each side, so that messages of one connection are invalid on any
 * other. Messages are numbered, so that none can be left out or repeated. Sides with different secrets cannot read each
 * other's messages.
 *
 * <p>Each side begins with 8 bytes, the letters {@code OFIMEET} and the version of the protocol, and 32 random bytes. A
 * message is its length in 4 bytes, and the encrypted bytes. A side that cannot read the first message says so with a
 * length of -1: an end without this word is no sign of another secret.
 */
final class SealedChannel implements AutoCloseable {
    private static final byte[] MAGIC = {'O', 'F', 'I', 'M', 'E', 'E', 'T', 1};
    private static final int RANDOM = 32;
    private static final int TAG_BITS = 128;
    private static final int NONCE = 12;
    /** The largest number of bytes that are allocated before any have come, whatever length a message announces. */
    private static final int FIRST_PIECE = 1 << 16;
    /** Sent in place of a length, in clear, to a side that has another secret. */
    private static final int REFUSAL = -1;
    private static final SecureRandom RANDOM_NUMBERS = new SecureRandom();

    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;
    private final SecretKeySpec sendKey;
    private final SecretKeySpec receiveKey;
    private final int limit;
    private long sent;
    private long received;
    /** The part of the next message that has come: its length, then its bytes. */
    private byte[] incoming = {};
    private int filled;
    /** The length of the next message, or -1 if that has not come. */
    private int length = -1;

    /** The message is not the one that the other side sent: the secrets differ, or a third party changed it. */
    static final class ForgedException extends IOException {
        private static final long serialVersionUID = 1L;

        ForgedException() { super("the other side has another secret"); }

        ForgedException(Throwable cause) { super("a message cannot be decrypted with this secret", cause); }
    }

    /**
     * Opens the channel. One side is the server.
     *
     * @param limit the length of the longest message that is accepted, in bytes
     * @param deadline when the other side must have begun
     */
    SealedChannel(Socket socket, String secret, boolean isServer, int limit, Deadline deadline) throws IOException {
        this.socket = socket;
        this.limit = limit;
        socket.setTcpNoDelay(true);
        this.in = socket.getInputStream();
        this.out = socket.getOutputStream();
        byte[] mine = new byte[MAGIC.length + RANDOM];
        RANDOM_NUMBERS.nextBytes(mine);
        System.arraycopy(MAGIC, 0, mine, 0, MAGIC.length);
        out.write(mine);
        byte[] theirs = next(mine.length, deadline);
        if (!Arrays.equals(theirs, 0, MAGIC.length, MAGIC, 0, MAGIC.length)) {
            throw new IOException("the other side is not a rendezvous, or runs another release");
        }
        byte[] both = isServer ? concatenation(theirs, mine) : concatenation(mine, theirs);
        this.sendKey = key(secret, both, isServer ? "server" : "client");
        this.receiveKey = key(secret, both, isServer ? "client" : "server");
    }

    private static byte[] concatenation(byte[] one, byte[] other) {
        return ByteBuffer.allocate(one.length + other.length).put(one).put(other).array();
    }

    private static SecretKeySpec key(String secret, byte[] both, String sender) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
            mac.update(both);
            return new SecretKeySpec(mac.doFinal(sender.getBytes(StandardCharsets.UTF_8)), "AES");
        } catch (GeneralSecurityException e) { // every JDK has both algorithms
            throw new IllegalStateException(e);
        }
    }

    void send(byte[] message) throws IOException {
        byte[] sealed = crypt(Cipher.ENCRYPT_MODE, sendKey, sent++, message);
        out.write(ByteBuffer.allocate(Integer.BYTES + sealed.length).putInt(sealed.length).put(sealed).array());
    }

    /** Tells the other side that its message cannot be read. */
    void refuse() throws IOException {
        out.write(ByteBuffer.allocate(Integer.BYTES).putInt(REFUSAL).array());
    }

    /**
     * {@return the next message} If a wait ends before the message is here, the next call goes on with it.
     *
     * @throws SocketTimeoutException if the whole message has not come in time
     */
    byte[] receive(Deadline deadline) throws IOException {
        if (length < 0) {
            int said = ByteBuffer.wrap(next(Integer.BYTES, deadline)).getInt();
            if (said == REFUSAL) { throw new ForgedException(); }
            if (said < 0 || said > limit + TAG_BITS / Byte.SIZE) {
                throw new IOException("a message announces " + said + " bytes, and may have at most " + limit);
            }
            length = said;
        }
        byte[] sealed = next(length, deadline);
        length = -1;
        return crypt(Cipher.DECRYPT_MODE, receiveKey, received++, sealed);
    }

    /** {@return the next bytes} If not all come in time, the next call continues with those that have come. */
    private byte[] next(int count, Deadline deadline) throws IOException {
        if (filled == 0) { incoming = new byte[Math.min(count, FIRST_PIECE)]; }
        while (filled < count) {
            if (filled == incoming.length) { incoming = Arrays.copyOf(incoming, Math.min(count, 2 * filled)); }
            filled += read(deadline);
        }
        filled = 0;
        return incoming;
    }

    private int read(Deadline deadline) throws IOException {
        while (!deadline.isOver()) {
            try {
                socket.setSoTimeout(deadline.millisLeft());
                int count = in.read(incoming, filled, incoming.length - filled);
                if (count < 0) { throw new EOFException(); }
                return count;
            } catch (SocketTimeoutException e) {
                continue; // a socket waits 24 days at most
            }
        }
        throw new SocketTimeoutException("nothing came in time");
    }

    private static byte[] crypt(int mode, SecretKeySpec key, long number, byte[] bytes) throws IOException {
        try {
            byte[] nonce = ByteBuffer.allocate(NONCE).putLong(Integer.BYTES, number).array();
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
            cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
            return cipher.doFinal(bytes);
        } catch (GeneralSecurityException e) {
            throw new ForgedException(e);
        }
    }

    @Override
    public void close() throws IOException { socket.close(); }
}
