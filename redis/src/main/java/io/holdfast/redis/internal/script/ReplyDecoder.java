package io.holdfast.redis.internal.script;

import io.lettuce.core.output.CommandOutput;
import java.util.function.Function;
import java.util.function.Supplier;

/** Collects an answer for the driver, and decodes it. */
public interface ReplyDecoder<R, T> {

    CommandOutput<String, String, R> output();

    T decode(R reply);

    /** Makes a decoder of any output of the driver. */
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

    /** Makes a decoder of the answer about one claim. */
    static <T> ReplyDecoder<ScriptReply, T> ofReply(Function<ScriptReply, T> meaning) {
        return of(ScriptReply.Output::new, meaning);
    }

    /** Makes a decoder of as many numbers. */
    static <T> ReplyDecoder<long[], T> ofNumbers(int count, Function<long[], T> meaning) {
        return of(() -> new LongArrayOutput(count), meaning);
    }
}
