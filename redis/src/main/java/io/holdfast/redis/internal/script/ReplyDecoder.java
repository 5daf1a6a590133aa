package io.holdfast.redis.internal.script;

import io.lettuce.core.output.CommandOutput;
import java.util.function.Function;
import java.util.function.Supplier;

/** How the driver collects an answer, and what to make of it. */
public interface ReplyDecoder<R, T> {

    CommandOutput<String, String, R> output();

    T decode(R reply);

    /** Anything that the driver can collect. */
    static <R, T> ReplyDecoder<R, T> of(Supplier<CommandOutput<String, String, R>> collector, Function<R, T> meaning) {
        return new ReplyDecoder<>() {
            @Override
            public CommandOutput<String, String, R> output() {
                return collector.get();
            }

            @Override
            public T decode(R reply) {
                return meaning.apply(reply);
            }
        };
    }

    /** So many numbers. */
    static <T> ReplyDecoder<long[], T> ofNumbers(int count, Function<long[], T> meaning) {
        return new ReplyDecoder<>() {
            @Override
            public CommandOutput<String, String, long[]> output() {
                return new LongArrayOutput(count);
            }

            @Override
            public T decode(long[] reply) {
                return meaning.apply(reply);
            }
        };
    }
}
