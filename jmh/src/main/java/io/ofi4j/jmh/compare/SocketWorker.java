package io.ofi4j.jmh.compare;

import com.sun.management.ThreadMXBean;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Arrays;

/** Plain Java NIO sockets, for orientation: exchanges of letters over the loopback interface, without blocking. */
final class SocketWorker {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final ByteBuffer letter = ByteBuffer.allocateDirect(Long.BYTES);
    private ServerSocketChannel server;
    private SocketChannel channel;

    private SocketWorker() {}

    /** Obeys until stdin ends. */
    public static void main(String[] arguments) throws InterruptedException {
        Commands.obey(new SocketWorker()::obey);
    }

    private String obey(String[] words) {
        try {
            return switch (words[0]) {
                case "listen" -> listen();
                case "connect" -> connect(Integer.parseInt(words[1]));
                case "accept" -> accept();
                case "ping" -> ping(Long.parseLong(words[2]), Integer.parseInt(words[3]));
                case "pong" -> pong(Long.parseLong(words[2]));
                default -> throw new IllegalArgumentException("not understood: " + words[0]);
            };
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String listen() throws IOException {
        server = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        return "ok " + ((InetSocketAddress) server.getLocalAddress()).getPort();
    }

    private String connect(int port) throws IOException {
        return use(SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)));
    }

    private String accept() throws IOException { return use(server.accept()); }

    private String use(SocketChannel connected) throws IOException {
        channel = connected;
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(false);
        return "ok";
    }

    private String ping(long unmeasured, int count) throws IOException {
        long[] samples = new long[count];
        Arrays.fill(samples, 1);
        long switches = Switches.ofThisThread();
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (long done = 0; done < unmeasured; done++) {
            exchange();
        }
        for (int done = 0; done < count; done++) {
            long begun = System.nanoTime();
            exchange();
            samples[done] = System.nanoTime() - begun;
        }
        long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
        switches = Switches.ofThisThread() - switches;
        StringBuilder answer = new StringBuilder("ok ").append(allocated).append(' ').append(switches);
        for (long sample : samples) {
            answer.append(' ').append(sample);
        }
        return answer.toString();
    }

    private String pong(long count) throws IOException {
        long switches = Switches.ofThisThread();
        for (long done = 0; done < count; done++) {
            receive();
            send();
        }
        return "ok 0 " + (Switches.ofThisThread() - switches);
    }

    private void exchange() throws IOException {
        send();
        receive();
    }

    private void send() throws IOException {
        letter.clear();
        while (letter.hasRemaining()) {
            channel.write(letter);
        }
    }

    private void receive() throws IOException {
        letter.clear();
        while (letter.hasRemaining()) {
            if (channel.read(letter) < 0) { throw new EOFException("the other side is gone"); }
        }
    }
}
