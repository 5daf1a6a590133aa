package io.holdfast.redis.internal.script;

import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A script call: what to send to a server, and how to decode the answer.
 *
 * @param firstKey by which its server is found
 * @param arguments what follows the script
 * @param decoder decodes the answer
 * @param subject for messages; called only for a failure
 * @param onUnknown called once if the command was sent and no answer will be seen
 */
public record ScriptRequest<T>(
        LuaScript script,
        String firstKey,
        KeysAndArgs arguments,
        ReplyDecoder<?, T> decoder,
        Supplier<ExceptionTranslator.Subject> subject,
        Runnable onUnknown) {

    /** Returns the same request with its first key only; null if its script needs more keys. */
    public @Nullable ScriptRequest<T> ofFirstKey() {
        KeysAndArgs alone = arguments.ofFirstKey();
        return alone == null ? null : new ScriptRequest<>(script, firstKey, alone, decoder, subject, onUnknown);
    }

    /** Appends the script, by its hash or as a whole, and its arguments. */
    ScriptArgs write(ScriptArgs to, CommandType type, RedisURI server) {
        to.text(type == CommandType.EVAL ? script.body() : script.sha());
        arguments.write(to, server);
        return to;
    }

    /**
     * Makes a command that the driver sends together with others of its own.
     *
     * @param as the decoder, or another one of the same answer
     * @param type EVALSHA, or EVAL for a server that does not know the script
     * @param server the server that it will be sent to
     */
    public <R> AsyncCommand<String, String, R> command(ReplyDecoder<R, T> as, CommandType type, RedisURI server) {
        ScriptArgs args = write(new ScriptArgs(ScriptArgs.USUAL_BYTES), type, server);
        return new AsyncCommand<>(new Command<>(type, as.output(), args));
    }
}
