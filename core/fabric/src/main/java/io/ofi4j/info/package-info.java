/**
 * The values of fi_getinfo(3): the hints of a program ({@link io.ofi4j.info.FabricHints}), the infos of libfabric
 * ({@link io.ofi4j.info.FabricInfo}), the attributes, options and statistics of opened objects, and the enums of
 * libfabric's constants. All are immutable, and any thread may use them. The one interface,
 * {@link io.ofi4j.info.OpenObjectsMXBean}, shows statistics to other processes.
 */
package io.ofi4j.info;
