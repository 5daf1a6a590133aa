package io.holdfast.internal.engine;

import io.holdfast.internal.engine.Randomness.Seed;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.support.OwnerLabel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Makes claim ids: 128 bits in hexadecimal, never the same twice, and the label of the client.
 *
 * <p>A client starts at 128 random bits of the system, so two clients do not meet. From there each half counts up, and
 * a bijection mixes it, so one client never repeats an id. To read the system's randomness each time would read a
 * device file on an event loop.
 *
 * <p>A process may be cloned with its memory: by a snapshot that is restored twice. So a seed is used for a second at
 * most, by the wall clock, which differs when a snapshot is restored. Each id also has the nanosecond of its making
 * mixed in, for clones that go on within that second. Record 0036 gives the reasons.
 */
final class ClaimIds {

    private static final byte[] DIGITS = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'
    };
    private static final long STEP = 0x9E3779B97F4A7C15L;

    static final long SEED_MILLIS = 1_000;

    private record Sequence(Seed seed, long sinceMillis, AtomicLong count) {

        /** Returns true also when the clock was set back: any jump may come from a restored snapshot. */
        boolean isOver(long nowMillis) {
            long age = nowMillis - sinceMillis;
            return age < 0 || age >= SEED_MILLIS;
        }
    }

    private static final int DIGITS_OF_ID = 32;

    /** A thread writes an id here, and the id copies it. */
    private static final ThreadLocal<byte[]> TEXT =
            ThreadLocal.withInitial(() -> new byte[DIGITS_OF_ID + 1 + OwnerLabel.MOST_CHARS]);

    private final byte[] label;

    private final Supplier<Seed> seeds;

    /** It jumps when a snapshot of the process is restored; it only tells when a seed is old. */
    private final LongSupplier wallClockMillis;

    private final LongSupplier nanos;

    /** If two threads find it too old at the same time, each uses a new one of its own, and one stays. */
    private volatile Sequence sequence;

    /** Uses that seed without end, so that a client is repeatable. */
    ClaimIds(Seed seed, String owner) {
        this(seed, owner, () -> seed, () -> 0, () -> 0);
    }

    /** An empty owner is no label; {@code nanos} is the time to mix into each id. */
    ClaimIds(Seed first, String owner, Supplier<Seed> seeds, LongSupplier wallClockMillis, LongSupplier nanos) {
        label = (owner.isEmpty() ? "" : LockClaim.OWNER_MARK + owner).getBytes(StandardCharsets.ISO_8859_1);
        this.seeds = seeds;
        this.wallClockMillis = wallClockMillis;
        this.nanos = nanos;
        sequence = new Sequence(first, wallClockMillis.getAsLong(), new AtomicLong());
    }

    @SuppressWarnings("deprecation") // the only constructor of String that copies Latin-1 without decoding
    String next() {
        Sequence current = current();
        long n = current.count.getAndIncrement() * STEP;
        byte[] text = TEXT.get();
        hex(mix(current.seed.high() + n), text, 0);
        hex(mix((current.seed.low() ^ n) + mix(nanos.getAsLong())), text, 16);
        System.arraycopy(label, 0, text, DIGITS_OF_ID, label.length);
        return new String(text, 0, 0, DIGITS_OF_ID + label.length);
    }

    private Sequence current() {
        Sequence current = sequence;
        long now = wallClockMillis.getAsLong();
        if (!current.isOver(now)) {
            return current;
        }
        Sequence fresh = new Sequence(seeds.get(), now, new AtomicLong());
        sequence = fresh;
        return fresh;
    }

    private static void hex(long value, byte[] text, int from) {
        for (int i = 0; i < 16; i++) {
            text[from + i] = DIGITS[(int) (value >>> (60 - 4 * i)) & 15];
        }
    }

    /** The finalizer of SplitMix64 (Steele, Lea, Flood 2014): a bijection on 64 bits. */
    private static long mix(long value) {
        long a = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
        long b = (a ^ (a >>> 27)) * 0x94D049BB133111EBL;
        return b ^ (b >>> 31);
    }
}
