package io.holdfast.redis.internal.script;

import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.internal.ExceptionFactory;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.CompleteableCommand;
import io.lettuce.core.protocol.RedisCommand;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * One script that is sent to one server. The driver's own would be a future around a command around its arguments. This
 * command writes itself into the connection's buffer when the driver requests that. So a command that was withdrawn
 * before is never written.
 *
 * <p>It ends once: by its answer, by an error of the driver, or by its withdrawal.
 */
public final class ScriptCommand<R, T> implements RedisCommand<String, String, R>, CompleteableCommand<R> {

    /** Receives the end of the command, unless it was withdrawn. */
    public interface Sender<T> {

        /** The server has answered. */
        <R> void answered(ScriptCommand<R, T> command, R reply);

        /** The server or the driver reports an error. */
        void failed(ScriptCommand<?, T> command, Throwable error);
    }

    /** Stands in the place of a listener after the end: there is nothing left to report. */
    private static final class Ended implements BiConsumer<Object, Throwable> {

        @Override
        public void accept(Object reply, Throwable error) {
            // The end was reported before.
        }
    }

    private static final Ended ENDED = new Ended();

    @SuppressWarnings("rawtypes") // a class literal has no type arguments
    private static final AtomicReferenceFieldUpdater<ScriptCommand, @Nullable BiConsumer> AT_END =
            AtomicReferenceFieldUpdater.newUpdater(ScriptCommand.class, BiConsumer.class, "atEnd");

    /**
     * Takes the place of a command that cannot be written. Otherwise the driver would close the connection, with the
     * commands of all others.
     */
    private static final byte[] INSTEAD = "*1\r\n$4\r\nPING\r\n".getBytes(StandardCharsets.US_ASCII);

    private final Sender<T> sender;
    private final ScriptPipeline pipeline;
    private final StatefulRedisConnection<String, String> connection;
    private final CommandType type;
    private final ScriptRequest<T> request;
    private final ReplyDecoder<R, T> decoder;

    /** The driver replaces it only in transactions, and no script is in one. */
    private CommandOutput<String, String, R> output;

    /**
     * Null unless the driver, or a tracer, requests them before the command is written. Used by the thread that writes.
     */
    private @Nullable ScriptArgs args;

    /** Written and read within the queue of its link. */
    private boolean isAlone;

    /** {@link #ENDED}, or the driver's listener for the end, such as the timer of its time limit. */
    @SuppressWarnings("rawtypes")
    private volatile @Nullable BiConsumer atEnd;

    /**
     * Makes a command that was not sent yet.
     *
     * @param pipeline to the server that it will be sent to
     * @param type EVALSHA, or EVAL for a server that does not know the script
     */
    public ScriptCommand(
            Sender<T> sender,
            ScriptPipeline pipeline,
            StatefulRedisConnection<String, String> connection,
            CommandType type,
            ScriptRequest<T> request,
            ReplyDecoder<R, T> decoder) {
        this.sender = sender;
        this.pipeline = pipeline;
        this.connection = connection;
        this.type = type;
        this.request = request;
        this.decoder = decoder;
        output = decoder.output();
    }

    public ScriptPipeline pipeline() {
        return pipeline;
    }

    public StatefulRedisConnection<String, String> connection() {
        return connection;
    }

    ScriptRequest<T> request() {
        return request;
    }

    /** Keeps this command from joining another one. Within the queue of the link. */
    ScriptCommand<R, T> alone() {
        isAlone = true;
        return this;
    }

    /** Whether this command and the next can be sent as one call. */
    boolean canJoin(ScriptCommand<?, ?> next) {
        return !isAlone
                && !next.isAlone
                && !bringsScript()
                && !next.bringsScript()
                && request.script().sha().equals(next.request.script().sha())
                && request.arguments() instanceof JoinedCalls.Operation
                && next.request.arguments() instanceof JoinedCalls.Operation;
    }

    public ReplyDecoder<R, T> decoder() {
        return decoder;
    }

    /** Whether it carries the whole script. */
    public boolean bringsScript() {
        return type == CommandType.EVAL;
    }

    /**
     * Ends the command without a report: no caller waits for its answer any more. If it was not written yet, it is not
     * sent.
     */
    public void withdraw() {
        boolean unused = end(null, null);
    }

    @Override
    public void encode(ByteBuf buffer) {
        ScriptArgs known = args;
        if (known != null) {
            known.encode(type, buffer);
            return;
        }
        ScriptArgs scratch = pipeline.borrowArgs();
        try {
            write(scratch).encode(type, buffer);
        } catch (RuntimeException | Error thrown) {
            buffer.writeBytes(INSTEAD);
            boolean unused = completeExceptionally(thrown);
        } finally {
            pipeline.giveBack(scratch);
        }
    }

    private ScriptArgs write(ScriptArgs to) {
        return request.write(to, type, pipeline.server());
    }

    /** Returns the arguments before the command is written. */
    @Override
    public CommandArgs<String, String> getArgs() {
        ScriptArgs known = args;
        if (known == null) {
            known = write(new ScriptArgs(ScriptArgs.USUAL_BYTES));
            args = known;
        }
        return known;
    }

    /** The server has answered, whether or not a caller still waits for the answer. */
    @Override
    public void complete() {
        String error = output.getError();
        pipeline.answered(this, error);
        if (isDone()) {
            return;
        }
        if (error != null) {
            boolean unused = completeExceptionally(ExceptionFactory.createExecutionException(error));
        } else if (end(output.get(), null)) {
            sender.answered(this, output.get());
        }
    }

    /** The server has answered to this command among others. */
    void complete(ScriptReply answer) {
        answer.pass(output);
        complete();
    }

    @Override
    public boolean completeExceptionally(Throwable error) {
        boolean isFirst = end(null, error);
        if (isFirst) {
            sender.failed(this, error);
        }
        return isFirst;
    }

    /** Called by the driver when the connection is closed. */
    @Override
    public void cancel() {
        boolean unused = completeExceptionally(new CancellationException("the connection was closed"));
    }

    /** Ends the command. False if it has ended before. */
    @SuppressWarnings("unchecked")
    private boolean end(@Nullable R reply, @Nullable Throwable error) {
        BiConsumer<Object, @Nullable Throwable> listener = AT_END.getAndSet(this, ENDED);
        if (listener == ENDED) {
            return false;
        }
        if (listener != null) {
            try {
                listener.accept(reply, error);
            } catch (RuntimeException | Error thrown) {
                Operators.onErrorDropped(thrown, Context.empty()); // thrown by a listener of other code
            }
        }
        return true;
    }

    @Override
    public void onComplete(Consumer<? super R> action) {
        onComplete((reply, error) -> {
            if (error == null) {
                action.accept(reply);
            }
        });
    }

    @Override
    @SuppressWarnings("unchecked")
    public void onComplete(BiConsumer<? super R, Throwable> action) {
        BiConsumer<R, Throwable> known;
        BiConsumer<R, Throwable> all;
        do {
            known = atEnd;
            if ((Object) known == ENDED) {
                action.accept(null, null);
                return;
            }
            all = known == null ? action::accept : known.andThen(action);
        } while (!AT_END.compareAndSet(this, known, all));
    }

    @Override
    public boolean isDone() {
        return atEnd == ENDED;
    }

    /** False: of the driver's two ways to end, this class does not use cancellation. */
    @Override
    public boolean isCancelled() {
        return false;
    }

    @Override
    public CommandOutput<String, String, R> getOutput() {
        return output;
    }

    @Override
    public void setOutput(CommandOutput<String, String, R> replaced) {
        output = replaced;
    }

    @Override
    public CommandType getType() {
        return type;
    }

    /** Returns a text for the driver's messages. */
    @Override
    public String toString() {
        return "%s %s %s".formatted(type, request.script().name(), request.firstKey());
    }
}
