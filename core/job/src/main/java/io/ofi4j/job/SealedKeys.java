package io.ofi4j.job;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Encrypts and authenticates the messages of one connection with AES-256-GCM. There is a key for each direction. The
 * keys are derived from the secret and from the greetings of both sides, which have a random number each, so that
 * messages of one connection are invalid on any other. Messages are numbered, so that none can be left out or repeated.
 * Sides with different secrets cannot read each other's messages. One thread at a time may seal, and one may open.
 *
 * <p>A greeting has the 8 letters and numbers of a protocol and its version, and 32 random bytes. A message is its
 * length in 4 bytes, and the encrypted bytes. A side that cannot read the first message says so with a length of -1.
 */
final class SealedKeys {
    static final int MAGIC_LENGTH = 8;
    static final int GREETING_LENGTH = MAGIC_LENGTH + 32;
    /** By how many bytes encryption makes a message longer. */
    static final int TAG_LENGTH = 16;
    /** Sent in place of a length, in clear, to a side that has another secret. */
    static final int REFUSAL = -1;

    private static final int NONCE_LENGTH = 12;
    private static final SecureRandom RANDOM_NUMBERS = new SecureRandom();

    private final SecretKeySpec sendKey;
    private final SecretKeySpec receiveKey;
    private long sent;
    private long received;

    /** Derives the keys of one side of a connection. One of the two is the server. */
    SealedKeys(String secret, byte[] mine, byte[] theirs, boolean isServer) {
        byte[] both = isServer ? concatenation(theirs, mine) : concatenation(mine, theirs);
        this.sendKey = key(secret, both, isServer ? "server" : "client");
        this.receiveKey = key(secret, both, isServer ? "client" : "server");
    }

    /** {@return a new greeting of a protocol, whose name and version have 8 bytes} */
    static byte[] greeting(byte[] magic) {
        byte[] greeting = new byte[GREETING_LENGTH];
        RANDOM_NUMBERS.nextBytes(greeting);
        System.arraycopy(magic, 0, greeting, 0, MAGIC_LENGTH);
        return greeting;
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

    /** {@return the next message to the other side, with its length in front} */
    ByteBuffer seal(byte[] message) throws SealedChannel.ForgedException {
        ByteBuffer sealed = ByteBuffer.allocate(Integer.BYTES + message.length + TAG_LENGTH)
                .putInt(message.length + TAG_LENGTH);
        crypt(Cipher.ENCRYPT_MODE, sendKey, sent++, message, sealed);
        return sealed.flip();
    }

    /** {@return what the other side has sealed next} */
    byte[] open(byte[] sealed) throws SealedChannel.ForgedException {
        ByteBuffer message = ByteBuffer.allocate(Math.max(0, sealed.length - TAG_LENGTH));
        crypt(Cipher.DECRYPT_MODE, receiveKey, received++, sealed, message);
        return message.array();
    }

    /** {@return how long the next message is} A refusal is an exception. */
    static int requireLength(int announced, int limit) throws IOException {
        if (announced == REFUSAL) { throw new SealedChannel.ForgedException(); }
        if (announced < 0 || announced > limit + TAG_LENGTH) {
            throw new IOException("a message announces " + announced + " bytes, and may have at most " + limit);
        }
        return announced;
    }

    private static void crypt(int mode, SecretKeySpec key, long number, byte[] bytes, ByteBuffer result)
            throws SealedChannel.ForgedException {
        try {
            byte[] nonce = ByteBuffer.allocate(NONCE_LENGTH).putLong(Integer.BYTES, number).array();
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
            cipher.init(mode, key, new GCMParameterSpec(TAG_LENGTH * Byte.SIZE, nonce));
            cipher.doFinal(ByteBuffer.wrap(bytes), result);
        } catch (GeneralSecurityException e) {
            throw new SealedChannel.ForgedException(e);
        }
    }
}
