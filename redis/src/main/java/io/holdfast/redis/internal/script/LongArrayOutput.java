package io.holdfast.redis.internal.script;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.CommandOutput;
import java.util.Arrays;

/**
 * The answer of every script here: one integer, or a flat list of them. Collected without boxing, and in no more room
 * than the longest sound answer takes, whatever the server announces or sends.
 */
public final class LongArrayOutput extends CommandOutput<String, String, long[]> {

    private int count;

    /**
     * Begins without numbers.
     *
     * @param most how many numbers are kept; a longer answer becomes an empty one
     */
    public LongArrayOutput(int most) {
        super(StringCodec.UTF8, new long[most]);
    }

    @Override
    public void set(long number) {
        if (count < output.length) {
            output[count] = number;
        }
        count++;
    }

    @Override
    public void complete(int depth) {
        if (depth == 0 && count != output.length) {
            output = Arrays.copyOf(output, count < output.length ? count : 0);
        }
    }

    @Override
    public void multi(int size) {
        // The elements follow one by one.
    }
}
