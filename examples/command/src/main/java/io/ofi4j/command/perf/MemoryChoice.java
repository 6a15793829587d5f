package io.ofi4j.command.perf;

import io.ofi4j.MemoryRegionAttributes;
import io.ofi4j.info.DeviceInterface;
import java.util.Optional;
import java.util.OptionalInt;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Whose memory an end of this process has, where one of the two ends is on a device.
 *
 * @param cuda the number of the CUDA device; none for memory of the host
 * @param direct whether the other end is in another process, which may map the device's memory
 */
record MemoryChoice(OptionalInt cuda, boolean direct) {
    private static final String HOST = "host";
    private static final String CUDA = "cuda";
    private static final int MOST_DIGITS = 4;

    /** Of the command line: {@code cuda}, {@code cuda:N} or {@code host}. */
    static final class Converter implements ITypeConverter<MemoryChoice> {
        @Override
        public MemoryChoice convert(String text) {
            if (text.equals(HOST)) { return new MemoryChoice(OptionalInt.empty(), false); }
            String[] words = text.split(":", 2);
            String number = words.length == 2 ? words[1] : "0";
            if (!words[0].equals(CUDA) || !number.matches("[0-9]{1," + MOST_DIGITS + "}")) {
                throw new TypeConversionException("'" + text + "' is no device: write cuda, cuda:N with its number,"
                        + " or host for this side's memory where the other side's is on a device");
            }
            return new MemoryChoice(OptionalInt.of(Integer.parseInt(number)), false);
        }
    }

    MemoryChoice direct(boolean whether) { return new MemoryChoice(cuda, whether); }

    /** Fails with a sentence where there is no such device. */
    void require() { cuda.ifPresent(CudaMemory::require); }

    /** {@return memory of the device; none where the end has memory of the host} */
    Optional<CudaMemory> allocate(long length) {
        return cuda.isPresent() ? Optional.of(CudaMemory.allocate(cuda.getAsInt(), length)) : Optional.empty();
    }

    /** {@return what a region of the device's memory is registered with, without rights} */
    MemoryRegionAttributes attributes(CudaMemory memory, long length) {
        MemoryRegionAttributes attributes = MemoryRegionAttributes.ofDevice(DeviceInterface.CUDA, cuda.orElseThrow(),
                memory.address(), length);
        return direct ? attributes.deviceOnly() : attributes;
    }

    @Override
    public String toString() { return cuda.isPresent() ? CUDA + ":" + cuda.getAsInt() : HOST; }
}
