package io.holdfast.redis.internal.script;

import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * What to ask a server, and what to make of the answer.
 *
 * @param firstKey by which its server is found
 * @param arguments what follows the script
 * @param decoder what it answers
 * @param subject for messages; called only for a failure
 * @param onUnknown called once when the command was sent and no answer will be seen
 */
public record ScriptRequest<T>(
        LuaScript script,
        String firstKey,
        KeysAndArgs arguments,
        ReplyDecoder<?, T> decoder,
        Supplier<ExceptionTranslator.Subject> subject,
        Runnable onUnknown) {

    /** A script that answers so many numbers. */
    public ScriptRequest(
            LuaScript script,
            String firstKey,
            KeysAndArgs arguments,
            int answers,
            Function<long[], T> decode,
            Supplier<ExceptionTranslator.Subject> subject,
            Runnable onUnknown) {
        this(script, firstKey, arguments, ReplyDecoder.ofNumbers(answers, decode), subject, onUnknown);
    }

    /** Appends the script, by its hash or as a whole, and what follows it. */
    ScriptArgs write(ScriptArgs to, CommandType type, RedisURI server) {
        to.text(type == CommandType.EVAL ? script.body() : script.sha());
        arguments.write(to, server);
        return to;
    }

    /**
     * A command that the driver sends together with others of its own.
     *
     * @param as the decoder, or another one of the same answer
     * @param type EVALSHA, or EVAL for a server that does not know the script
     * @param server where it is to be sent
     */
    public <R> AsyncCommand<String, String, R> command(ReplyDecoder<R, T> as, CommandType type, RedisURI server) {
        ScriptArgs args = write(new ScriptArgs(ScriptArgs.USUAL_BYTES), type, server);
        return new AsyncCommand<>(new Command<>(type, as.output(), args));
    }
}
