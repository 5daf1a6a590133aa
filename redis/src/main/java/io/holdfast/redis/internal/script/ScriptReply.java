package io.holdfast.redis.internal.script;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.CommandOutput;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The answer of a script about one claim: a few numbers, and perhaps a text behind them. */
public final class ScriptReply {

    /** The longest sound answer: a grant to a run, in the answer to a release. */
    static final int MOST_NUMBERS = 5;

    private static final long[] NO_NUMBERS = {};
    private static final ScriptReply NONE = new ScriptReply(NO_NUMBERS, null);

    private final long[] numbers;
    private final @Nullable String text;

    ScriptReply(long[] numbers, @Nullable String text) {
        this.numbers = numbers;
        this.text = text;
    }

    public long[] numbers() {
        return numbers;
    }

    public @Nullable String text() {
        return text;
    }

    /** Passes the answer to one operation among others on, as if the operation had been a call of its own. */
    void pass(CommandOutput<?, ?, ?> to) {
        if (text != null && numbers.length == 1 && numbers[0] == 0) {
            to.setError(text.strip());
        } else {
            for (long number : numbers) {
                to.set(number);
            }
            if (text != null) {
                to.set(StandardCharsets.UTF_8.encode(text));
            }
        }
        to.complete(0);
    }

    /** Makes a reply of numbers alone, for tests. */
    public static ScriptReply of(long... numbers) {
        return new ScriptReply(numbers, null);
    }

    /** Collects the answer. An answer with more numbers than a sound one becomes an empty one. */
    static final class Output extends CommandOutput<String, String, ScriptReply> {

        private long[] numbers = NO_NUMBERS;
        private int count;
        private @Nullable String text;

        Output() {
            super(StringCodec.UTF8, NONE);
        }

        boolean hasNumbers() {
            return count > 0;
        }

        /** Most answers have one number. */
        @Override
        public void set(long number) {
            if (count < MOST_NUMBERS) {
                if (count == numbers.length) {
                    numbers = Arrays.copyOf(numbers, count == 0 ? 1 : MOST_NUMBERS);
                }
                numbers[count] = number;
            }
            count++;
        }

        @Override
        public void set(@Nullable ByteBuffer bytes) {
            text = bytes == null ? null : StandardCharsets.UTF_8.decode(bytes).toString();
        }

        @Override
        public void complete(int depth) {
            if (depth == 0) {
                boolean isFull = count == numbers.length;
                output = new ScriptReply(
                        isFull ? numbers : Arrays.copyOf(numbers, count <= MOST_NUMBERS ? count : 0), text);
            }
        }

        @Override
        public void multi(int size) {
            // The elements follow one by one.
        }
    }
}
