package io.ofi4j.command.perf;

/** One-sided transfers between the same slots of both regions. */
final class RmaTransfer implements Transfer {
    /** What every provider that carries data carries: 4 bytes. */
    private static final long DATA = 0xffff_ffffL;

    private final Operation operation;
    private final Poster poster;
    private final long size;
    private final long first;
    private final long stride;

    RmaTransfer(Operation operation, End here, Layout layout) {
        this.operation = operation;
        this.poster = here.poster();
        this.size = layout.size();
        this.first = layout.offset(0);
        this.stride = layout.stride();
    }

    @Override
    public boolean tryPost(int slot, long token) {
        long offset = first + slot * stride;
        return switch (operation) {
            case WRITE -> poster.tryWrite(offset, size, offset, token);
            case WRITEDATA -> poster.tryWriteData(offset, size, token & DATA, offset, token);
            case READ -> poster.tryRead(offset, size, offset, token);
            case INJECT -> poster.tryInject(offset, size, offset);
            default -> throw new AssertionError(operation);
        };
    }
}
