package io.ofi4j.job;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.util.concurrent.CompletableFuture;

/**
 * The beginning of a connection: both sides greet, the client sends its hello, and the first message that comes makes
 * the link. The future has the link, or why there is none. Whoever completes it first closes the connection.
 */
final class PeerHandshake extends CompletableFuture<PeerLink> implements PeerLoop.Watched {
    /** Makes a link of the first message. */
    interface Maker {
        PeerLink make(PeerChannel channel, byte[] message) throws IOException;
    }

    private final PeerChannel channel;
    private final Maker maker;

    PeerHandshake(PeerChannel channel, Maker maker) {
        this.channel = channel;
        this.maker = maker;
        whenComplete((_, failure) -> {
            if (failure != null) { channel.close(); }
        });
    }

    @Override
    public void ready(SelectionKey key) throws IOException {
        if (key.isWritable()) { channel.flush(); }
        byte[] message = channel.receive();
        if (message == null) { return; }
        PeerLink link = maker.make(channel, message);
        key.attach(link.watched);
        if (!complete(link)) { link.drop(); }
    }

    @Override
    public void failed(Throwable why) {
        if (why instanceof SealedChannel.ForgedException) { refuse(); }
        completeExceptionally(why);
    }

    private void refuse() {
        try {
            channel.refuse();
        } catch (IOException e) {
            return; // it has gone
        }
    }
}
