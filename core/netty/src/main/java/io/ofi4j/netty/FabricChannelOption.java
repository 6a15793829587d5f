package io.ofi4j.netty;

import io.netty.channel.ChannelOption;

/**
 * The options of {@link FabricChannel} and {@link FabricServerChannel} that other channels do not have.
 *
 * @param <T> the type of the value
 */
public final class FabricChannelOption<T> extends ChannelOption<T> {
    /**
     * What both sides have to know before they connect, at least 16 characters, as
     * {@link io.ofi4j.job.Rendezvous#newSecret} makes them. Set it at the server, and at each client; there is no
     * connection without one.
     */
    public static final ChannelOption<String> SECRET = valueOf(FabricChannelOption.class, "SECRET");

    @SuppressWarnings("deprecation") // the way of all of Netty's classes of options
    private FabricChannelOption() { super(null); }
}
