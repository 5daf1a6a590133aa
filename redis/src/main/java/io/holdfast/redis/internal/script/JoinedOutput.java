package io.holdfast.redis.internal.script;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.CommandOutput;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The answers of several operations, in their order: each a {@link ScriptReply}, or {@code {0, error}}. */
final class JoinedOutput extends CommandOutput<String, String, JoinedOutput.Answers> {

    /** The answers to all operations. Surplus answers of the server are dropped. */
    static final class Answers {

        private final @Nullable ScriptReply[] all;
        private int count;

        private Answers(int most) {
            all = new ScriptReply[most];
        }

        private void add(ScriptReply answer) {
            if (count < all.length) {
                all[count] = answer;
            }
            count++;
        }

        /** Null if the server sent none. */
        @Nullable
        ScriptReply of(int operation) {
            return count > all.length ? null : all[operation];
        }

        /**
         * Returns the answer of a call with one operation: the numbers of that answer are not answers of several
         * operations.
         */
        ScriptReply alone() {
            int length = Math.min(count, all.length);
            ScriptReply last = length == 0 ? null : all[length - 1];
            String text = last == null || last.numbers().length > 0 ? null : last.text();
            long[] numbers = new long[text == null ? length : length - 1];
            for (int i = 0; i < numbers.length; i++) {
                ScriptReply part = all[i];
                numbers[i] = part != null && part.numbers().length == 1 ? part.numbers()[0] : 0;
            }
            return new ScriptReply(numbers, text);
        }
    }

    private ScriptReply.Output part = new ScriptReply.Output();

    /**
     * Begins without an answer.
     *
     * @param operations how many were sent
     */
    JoinedOutput(int operations) {
        super(StringCodec.UTF8, new Answers(Math.max(operations, ScriptReply.MOST_NUMBERS + 1)));
    }

    @Override
    public void set(long number) {
        part.set(number);
    }

    @Override
    public void set(@Nullable ByteBuffer bytes) {
        part.set(bytes);
    }

    @Override
    public void multi(int size) {
        // The parts follow one by one.
    }

    /** One answer is complete, or all are. */
    @Override
    public void complete(int depth) {
        if (depth == 1 || (depth == 0 && part.hasNumbers())) {
            part.complete(0);
            output.add(part.get());
            part = new ScriptReply.Output();
        }
    }
}
