package io.ofi4j;

import io.ofi4j.errors.FabricException;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.Capability;
import io.ofi4j.info.ThreadingModel;

/**
 * A receive context that several endpoints share: it takes the messages to any of them, from any peer;
 * fi_srx_context, fi_endpoint(3). Opened by {@link Domain#openSharedReceiveContext}. Bind a completion queue to it and
 * enable it. Then bind it, with {@link Endpoint#bind(SharedReceiveContext)}, to endpoints whose info was requested with
 * {@link AttributeHints#sharedReceiveContext}, and bind its queue to them too. Receives are posted to the context.
 *
 * <p>The domain's {@link ThreadingModel} decides which threads may call it; others get {@link WrongThreadException}.
 * Every method but {@link #close} throws {@link IllegalStateException} once the context is closed, and
 * {@link FabricException} if libfabric reports an error.
 */
public final class SharedReceiveContext implements AutoCloseable {
    /** An endpoint that only receives, and has no address. */
    final Endpoint endpoint;

    SharedReceiveContext(Endpoint endpoint) { this.endpoint = endpoint; }

    /**
     * Binds the queue that receives the completions of receives, in {@link #enable}; fi_ep_bind.
     *
     * @return this context
     * @throws IllegalArgumentException if the queue is of another domain
     * @throws IllegalStateException if this context is enabled or has a queue, or the queue is closed
     */
    public SharedReceiveContext bind(CompletionQueue queue) {
        endpoint.bind(queue);
        return this;
    }

    /**
     * Enables the context; fi_ep_bind and fi_enable, fi_endpoint(3). If libfabric reports an error, it is closed.
     *
     * @return this context
     * @throws IllegalStateException if it has no queue, or is enabled
     */
    public SharedReceiveContext enable() {
        endpoint.enable();
        return this;
    }

    /**
     * {@return the messages that this context receives; fi_msg(3)} Methods that send throw
     * UnsupportedOperationException.
     *
     * @throws IllegalStateException if the context is not enabled
     * @throws UnsupportedOperationException if it was opened without {@link Capability#MSG}
     */
    public Messages messages() { return endpoint.messages(); }

    /**
     * {@return the messages with tags that this context receives; fi_tagged(3)} Methods that send throw
     * UnsupportedOperationException.
     *
     * @throws IllegalStateException if the context is not enabled
     * @throws UnsupportedOperationException as {@link Endpoint#tagged}
     */
    public Tagged tagged() { return endpoint.tagged(); }

    /** {@return the options of this context; fi_getopt and fi_setopt, fi_endpoint(3)} */
    public EndpointOptions options() {
        return endpoint.options();
    }

    /**
     * Closes the context; fi_close, fi_endpoint(3). Posted receives complete with {@code ECANCELED} (125). If endpoints
     * bound to it are open, it throws {@link IllegalStateException}, which names them, and stays open. What else it
     * throws is as {@link Endpoint#close} says.
     */
    @Override
    public void close() { endpoint.close(); }

    @Override
    public String toString() { return endpoint.toString(); }
}
