package io.ofi4j.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.ByteOrder;

/**
 * Lets only datagrams into the socket of an ofi_rxd endpoint that may be the provider's: it believes what it is sent without looking how
 * long that is, or whether a packet of this kind exists, and ends the process. The kernel drops the others, by a program of socket(7)'s
 * SO_ATTACH_FILTER. Of who knows the protocol and sends a number that the endpoint has not given away it cannot protect.
 */
@SuppressWarnings("restricted")
public final class DatagramFilter {
    static final int MSG_DONTWAIT = 0x40;

    private static final MethodHandle RECV = LibC.handle("recv",
            FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));

    /** {@code struct sock_fprog} and {@code struct sock_filter}. */
    private static final long PROGRAM = 16;
    private static final long PROGRAM_AT = 8;
    private static final long INSTRUCTION = 8;
    private static final int MOST_WAITING = 1 << 16;

    private static final int LOAD = 0x20;
    private static final int LOAD_SHORT = 0x28;
    private static final int LOAD_BYTE = 0x30;
    private static final int IF_EQUAL = 0x15;
    private static final int IF_MORE = 0x25;
    private static final int IF_AT_LEAST = 0x35;
    private static final int IF_ANY_BIT = 0x45;
    private static final int GO = 0x05;
    private static final int RETURN = 0x06;
    private static final int WHOLE = -1;

    /** Where these are in a datagram, behind the header of UDP. Of numbers with 64 bits, the lower ones. */
    private static final int VERSION = 8;
    private static final int TYPE = VERSION + 1;
    private static final int NUMBER = VERSION + 4;
    private static final int BASE_END = VERSION + 16;
    private static final int OWN_NUMBER = BASE_END + (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? 0 : 4);
    private static final int FAMILY = BASE_END + 8;
    private static final int SHORT_END = VERSION + 32;
    private static final int REQUEST_END = VERSION + 88;
    private static final int KNOWN_VERSION = 2;
    private static final int[] NO_TYPES = {3, 5};
    private static final int CONNECTION_REQUEST = 9;
    private static final int CONNECTION_ANSWER = 10;
    private static final int ACKNOWLEDGEMENT = 11;
    private static final int LAST_TYPE = 13;
    /** Bits that no number of a peer has, which begin with 1, in the order of the kernel's loads. */
    private static final int NO_NUMBER = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN
            ? Integer.reverseBytes(0xFFF00000)
            : 0xFFF00000;

    private DatagramFilter() {
    }

    /**
     * Filters what comes to an endpoint that takes nothing yet, and throws away what has come before.
     *
     * @param address where it is bound
     */
    public static void attach(byte[] address) {
        try (Arena arena = Arena.ofConfined()) {
            int family = Byte.toUnsignedInt(address[0]) << Byte.SIZE | Byte.toUnsignedInt(address[1]);
            int[][] instructions = instructions(family);
            MemorySegment filter = arena.allocate(INSTRUCTION * instructions.length, JAVA_LONG.byteAlignment());
            for (int at = 0; at < instructions.length; at++) {
                put(filter, at, instructions[at]);
            }
            MemorySegment program = arena.allocate(PROGRAM, JAVA_LONG.byteAlignment());
            program.set(JAVA_SHORT, 0, (short) instructions.length);
            program.set(ADDRESS, PROGRAM_AT, filter);
            MemorySegment value = arena.allocate(JAVA_LONG);
            BoundSockets.forEach(address, descriptor -> attach(descriptor, program, value));
        }
    }

    private static void attach(int descriptor, MemorySegment program, MemorySegment value) {
        int protocol = SocketOptions.get(descriptor, SocketOptions.SO_PROTOCOL, value, value.asSlice(Integer.BYTES));
        if (protocol != SocketOptions.IPPROTO_UDP
                || !SocketOptions.set(descriptor, SocketOptions.SO_ATTACH_FILTER, program, PROGRAM)) {
            return; // without a filter as in a C program
        }
        try {
            int waiting = 0;
            while (waiting < MOST_WAITING && (long) RECV.invokeExact(descriptor, value, 1L, MSG_DONTWAIT) >= 0) {
                waiting++;
            }
        } catch (Throwable t) {
            throw Downcalls.unexpected(t);
        }
    }

    /** Code, what it is about, and where to go on if so, and if not: where that is not the next one. Loads behind the end drop, too. */
    private static int[][] instructions(int family) {
        int request = 13;
        int answer = 17;
        int number = 19;
        int drop = 22;
        return new int[][]{{LOAD_BYTE, VERSION}, // 0
                {IF_EQUAL, KNOWN_VERSION, 0, drop}, {LOAD_BYTE, BASE_END - 1}, {LOAD_BYTE, TYPE}, // 1 to 3
                {IF_EQUAL, CONNECTION_REQUEST, request}, {IF_EQUAL, CONNECTION_ANSWER, answer}, // 4, 5
                {IF_MORE, LAST_TYPE, drop}, {IF_EQUAL, NO_TYPES[0], drop}, {IF_EQUAL, NO_TYPES[1], drop}, // 6 to 8
                {IF_AT_LEAST, ACKNOWLEDGEMENT, 0, 11}, {LOAD_BYTE, SHORT_END - 1}, // 9, 10
                {LOAD, NUMBER}, {GO, number}, // 11, 12
                {LOAD_BYTE, REQUEST_END - 1}, {LOAD_SHORT, FAMILY}, {IF_EQUAL, family, 0, drop}, {GO, 18}, // 13 to 16
                {LOAD_BYTE, SHORT_END - 1}, {LOAD, OWN_NUMBER}, // 17, 18
                {IF_EQUAL, 0, drop}, {IF_ANY_BIT, NO_NUMBER, drop}, {RETURN, WHOLE}, {RETURN, 0}}; // 19 to 22
    }

    private static void put(MemorySegment filter, int at, int[] instruction) {
        long offset = at * INSTRUCTION;
        boolean goes = instruction[0] == GO;
        filter.set(JAVA_SHORT, offset, (short) instruction[0]);
        filter.set(JAVA_BYTE, offset + 2, distance(at, instruction, 2));
        filter.set(JAVA_BYTE, offset + 3, distance(at, instruction, 3));
        filter.set(JAVA_INT, offset + 4, goes ? instruction[1] - at - 1 : instruction[1]);
    }

    private static byte distance(int at, int[] instruction, int target) {
        return instruction.length > target && instruction[target] > 0 ? (byte) (instruction[target] - at - 1) : 0;
    }
}
