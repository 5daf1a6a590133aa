package io.holdfast.internal;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Claim ids: 128 bits in hexadecimal, never the same twice.
 *
 * <p>A client starts at 128 bits of the system's randomness, so two clients do not meet; from there on each half counts up and is
 * mixed by a bijection, so one client never repeats itself. Asking the system each time would read a device file on an event loop.
 */
final class ClaimIds {

    private static final byte[] DIGITS = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'
    };
    private static final long STEP = 0x9E3779B97F4A7C15L;

    private final long high;
    private final long low;
    private final AtomicLong count = new AtomicLong();

    ClaimIds(Seed seed) {
        high = seed.high();
        low = seed.low();
    }

    @SuppressWarnings("deprecation") // String(byte[], int): the one constructor that copies Latin-1 without decoding
    String next() {
        long n = count.getAndIncrement() * STEP;
        byte[] text = new byte[32];
        hex(mix(high + n), text, 0);
        hex(mix(low ^ n), text, 16);
        return new String(text, 0);
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
