/**
 * Checks of device memory on a machine with a GPU; {@code scripts/device-check} makes a folder of them that runs
 * anywhere. They use the public API alone. {@link io.ofi4j.device.DeviceCheck} is where they start.
 */
package io.ofi4j.device;
