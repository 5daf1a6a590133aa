package io.holdfast.redis.internal.script;

import io.lettuce.core.output.CommandOutput;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Collects an answer for the driver, and decodes it.
 *
 * @param collector makes an output of the driver
 * @param meaning decodes what it has collected
 */
public record ReplyDecoder<R, T>(Supplier<CommandOutput<String, String, R>> collector, Function<R, T> meaning) {

    CommandOutput<String, String, R> output() {
        return collector.get();
    }

    public T decode(R reply) {
        return meaning.apply(reply);
    }

    /** Makes a decoder of the answer about one claim. */
    public static <T> ReplyDecoder<ScriptReply, T> ofReply(Function<ScriptReply, T> meaning) {
        return new ReplyDecoder<>(ScriptReply.Output::new, meaning);
    }

    /** Makes a decoder of as many numbers. */
    public static <T> ReplyDecoder<long[], T> ofNumbers(int count, Function<long[], T> meaning) {
        return new ReplyDecoder<>(() -> new LongArrayOutput(count), meaning);
    }
}
