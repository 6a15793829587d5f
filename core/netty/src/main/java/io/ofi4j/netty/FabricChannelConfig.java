package io.ofi4j.netty;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import java.util.Map;

/** The options of Netty's that make sense here, and the secret. */
final class FabricChannelConfig extends DefaultChannelConfig {
    private volatile String secret;
    private volatile boolean allowsHalfClosure;
    /** Null until the channel is registered. */
    private volatile ByteBufAllocator ofLoop;
    private volatile boolean hasOwnAllocator;

    FabricChannelConfig(Channel channel) { super(channel); }

    /** {@return the secret} */
    String secret() {
        String set = secret;
        if (set == null) {
            throw new IllegalStateException("a channel over a fabric needs a secret at both sides: set the option "
                    + "FabricChannelOption.SECRET, to what Rendezvous.newSecret() has returned once");
        }
        return set;
    }

    /** From now on this is the allocator, if the program has not set one. */
    void use(ByteBufAllocator allocator) {
        ofLoop = allocator;
    }

    @Override
    public ByteBufAllocator getAllocator() {
        ByteBufAllocator registered = ofLoop;
        return registered == null || hasOwnAllocator ? super.getAllocator() : registered;
    }

    @Override
    public ChannelConfig setAllocator(ByteBufAllocator allocator) {
        super.setAllocator(allocator);
        hasOwnAllocator = true;
        return this;
    }

    @Override
    protected void autoReadCleared() { if (channel instanceof FabricChannel one) { one.autoReadCleared(); } }

    boolean allowsHalfClosure() { return allowsHalfClosure; }

    @Override
    public Map<ChannelOption<?>, Object> getOptions() {
        // and not the secret, which is one
        return getOptions(super.getOptions(), ChannelOption.ALLOW_HALF_CLOSURE, ChannelOption.SO_KEEPALIVE);
    }

    @SuppressWarnings("unchecked")
    @Override
    public <T> T getOption(ChannelOption<T> option) {
        if (option == FabricChannelOption.SECRET) { return (T) secret; }
        if (option == ChannelOption.ALLOW_HALF_CLOSURE) { return (T) (Boolean) allowsHalfClosure; }
        if (option == ChannelOption.SO_KEEPALIVE) { return (T) Boolean.TRUE; }
        return super.getOption(option);
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        if (option == FabricChannelOption.SECRET) {
            validate(option, value);
            secret = (String) value;
            return true;
        }
        if (option == ChannelOption.ALLOW_HALF_CLOSURE) {
            validate(option, value);
            allowsHalfClosure = (Boolean) value;
            return true;
        }
        if (option == ChannelOption.SO_KEEPALIVE) { return (Boolean) value; } // a link is always watched
        return super.setOption(option, value);
    }
}
