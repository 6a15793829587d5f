/**
 * Netty's channels over a fabric: a program changes the factory of its event loops, the class of its channels, and sets
 * a secret. Experimental: this API may change after 0.1.0. Begin with {@link io.ofi4j.netty.FabricIoHandler}.
 */
package io.ofi4j.netty;
