package io.holdfast.benchmarks.load;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Counts ended cycles in a file that two processes map, so that they need no messages. Thread-safe. */
public final class Count {

    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final ByteBuffer mapped;

    private Count(ByteBuffer mapped) {
        this.mapped = mapped;
    }

    /** Maps a file, and creates it if it is missing. */
    public static Count in(Path file) {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return new Count(channel.map(MapMode.READ_WRITE, 0, Long.BYTES));
        } catch (IOException e) {
            throw new UncheckedIOException("no counter in " + file, e);
        }
    }

    /** Makes a counter for this process only. */
    public static Count here() {
        return new Count(ByteBuffer.allocateDirect(Long.BYTES));
    }

    /** Counts one more cycle. */
    public void increment() {
        long unused = (long) LONGS.getAndAdd(mapped, 0, 1L);
    }

    /** Returns the count so far. */
    public long value() {
        return (long) LONGS.getVolatile(mapped, 0);
    }
}
