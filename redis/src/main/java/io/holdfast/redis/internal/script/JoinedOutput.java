package io.holdfast.redis.internal.script;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.CommandOutput;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The answers of several operations, in their order: each a {@link ScriptReply}, or {@code {0, error}}. */
final class JoinedOutput extends CommandOutput<String, String, JoinedOutput.Answers> {

    /** The answer to one operation. */
    static final class Answer {

        private final long[] numbers;
        private final @Nullable String text;

        private Answer(long[] numbers, @Nullable String text) {
            this.numbers = numbers;
            this.text = text;
        }

        /** Passes the answer on, as if the operation had been a call of its own. */
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
    }

    /** The answers to all operations. Surplus answers of the server are dropped. */
    static final class Answers {

        private final @Nullable Answer[] all;
        private int count;

        private Answers(int most) {
            all = new Answer[most];
        }

        private void add(Answer answer) {
            if (count < all.length) {
                all[count] = answer;
            }
            count++;
        }

        /** Null if the server sent none. */
        @Nullable
        Answer of(int operation) {
            return count > all.length ? null : all[operation];
        }

        /**
         * Returns the answer of a call with one operation: the numbers of that answer are not answers of several
         * operations.
         */
        Answer alone() {
            int length = Math.min(count, all.length);
            Answer last = length == 0 ? null : all[length - 1];
            String text = last == null || last.numbers.length > 0 ? null : last.text;
            long[] numbers = new long[text == null ? length : length - 1];
            for (int i = 0; i < numbers.length; i++) {
                Answer part = all[i];
                numbers[i] = part != null && part.numbers.length == 1 ? part.numbers[0] : 0;
            }
            return new Answer(numbers, text);
        }
    }

    private final long[] numbers = new long[ScriptReply.MOST_NUMBERS];
    private int length;
    private @Nullable String text;

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
        if (length < numbers.length) {
            numbers[length] = number;
        }
        length++;
    }

    @Override
    public void set(@Nullable ByteBuffer bytes) {
        text = bytes == null ? "" : StandardCharsets.UTF_8.decode(bytes).toString();
    }

    @Override
    public void multi(int size) {
        // The parts follow one by one.
    }

    /** One answer is complete, or all are. */
    @Override
    public void complete(int depth) {
        boolean isAlone = depth == 0 && length > 0;
        if (depth != 1 && !isAlone) {
            return;
        }
        // An answer with more numbers than a sound answer has becomes an empty one, which is an error.
        int kept = length <= numbers.length ? length : 0;
        long[] answered = new long[kept];
        System.arraycopy(numbers, 0, answered, 0, kept);
        output.add(new Answer(answered, text));
        length = 0;
        text = null;
    }
}
