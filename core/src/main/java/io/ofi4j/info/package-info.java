/**
 * The values of fi_getinfo(3): what a program asks for ({@link io.ofi4j.info.FabricHints}), what libfabric has found
 * ({@link io.ofi4j.info.FabricInfo}), attributes of the objects that are opened, and the enums of libfabric's constants. All of them
 * are immutable, and any thread may use them.
 */
package io.ofi4j.info;
