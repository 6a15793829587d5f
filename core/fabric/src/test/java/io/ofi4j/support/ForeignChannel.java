package io.ofi4j.support;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;

/** A channel of an application, whose mapping is other memory. */
public final class ForeignChannel extends FileChannel {
    private final FileChannel channel;
    private final MemorySegment memory;

    public ForeignChannel(FileChannel channel, MemorySegment memory) {
        this.channel = channel;
        this.memory = memory;
    }

    @Override
    public int read(ByteBuffer to) throws IOException { return channel.read(to); }

    @Override
    public long read(ByteBuffer[] to, int offset, int length) throws IOException {
        return channel.read(to, offset, length);
    }

    @Override
    public int write(ByteBuffer from) throws IOException { return channel.write(from); }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) throws IOException {
        return channel.write(from, offset, length);
    }

    @Override
    public long position() throws IOException { return channel.position(); }

    @Override
    public FileChannel position(long position) throws IOException { return channel.position(position); }

    @Override
    public long size() throws IOException { return channel.size(); }

    @Override
    public FileChannel truncate(long size) throws IOException { return channel.truncate(size); }

    @Override
    public void force(boolean metaData) throws IOException { channel.force(metaData); }

    @Override
    public long transferTo(long position, long count, WritableByteChannel target) throws IOException {
        return channel.transferTo(position, count, target);
    }

    @Override
    public long transferFrom(ReadableByteChannel source, long position, long count) throws IOException {
        return channel.transferFrom(source, position, count);
    }

    @Override
    public int read(ByteBuffer to, long position) throws IOException { return channel.read(to, position); }

    @Override
    public int write(ByteBuffer from, long position) throws IOException { return channel.write(from, position); }

    @Override
    public MappedByteBuffer map(MapMode mode, long position, long size) throws IOException {
        return channel.map(mode, position, size);
    }

    @Override
    public MemorySegment map(MapMode mode, long offset, long size, Arena arena) { return memory; }

    @Override
    public FileLock lock(long position, long size, boolean shared) throws IOException {
        return channel.lock(position, size, shared);
    }

    @Override
    public FileLock tryLock(long position, long size, boolean shared) throws IOException {
        return channel.tryLock(position, size, shared);
    }

    @Override
    protected void implCloseChannel() throws IOException { channel.close(); }
}
