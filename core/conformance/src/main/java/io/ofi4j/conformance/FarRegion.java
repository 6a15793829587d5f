package io.ofi4j.conformance;

import io.ofi4j.RemoteRegion;

/** Memory of the far end of a {@link Pair}. */
public final class FarRegion {
    private final FarEnd end;
    /** By which the far half knows it. */
    final long number;
    private final RemoteRegion remote;

    /** A byte that is not what it should be. */
    public record Mismatch(long place, byte came) {}

    FarRegion(FarEnd end, long number, RemoteRegion remote) {
        this.end = end;
        this.number = number;
        this.remote = remote;
    }

    /** {@return what the near end reaches it by} */
    public RemoteRegion remote() { return remote; }

    /** Fills a part with the bytes of a {@link Pattern}. */
    public void fill(long offset, long length, long pattern) {
        end.ask(FarQuestion.FILL, number, offset, length, pattern);
    }

    /** {@return the first byte of a part that is not that of a pattern; null if there is none} */
    public Mismatch mismatch(long offset, long length, long pattern) {
        String[] words = end.ask(FarQuestion.MISMATCH, number, offset, length, pattern).split(" ");
        return words.length == 1 ? null : new Mismatch(Long.parseLong(words[0]), Byte.parseByte(words[1]));
    }

    /** States that a part has the bytes of a pattern. */
    public void require(String what, long offset, long length, long pattern) {
        Mismatch mismatch = mismatch(offset, length, pattern);
        if (mismatch != null) {
            throw new Wrong("byte " + mismatch.place + " of " + what, Byte.toString(mismatch.came),
                    Byte.toString(Pattern.at(pattern, mismatch.place)));
        }
    }

    /** {@return a byte} */
    public byte at(long offset) {
        return Byte.parseByte(end.ask(FarQuestion.BYTE, number, offset));
    }

    /** Closes it. */
    public void close() { end.ask(FarQuestion.CLOSE_REGION, number); }
}
