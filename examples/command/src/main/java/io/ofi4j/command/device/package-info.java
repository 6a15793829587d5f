/**
 * Checks of memory of a GPU: {@code ofi4j verify --device}. {@code scripts/device-check} makes a folder of them that
 * runs anywhere. {@link io.ofi4j.command.device.DeviceRun} is where they start.
 */
package io.ofi4j.command.device;
