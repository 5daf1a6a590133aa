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
 * One sending of a script to one server. The driver's own would be a future around a command around its arguments. This one writes itself
 * into the connection's buffer when the driver asks for that, so a command that is withdrawn before was never written.
 *
 * <p>It ends once: by its answer, by an error of the driver, or by its withdrawal.
 */
public final class ScriptCommand<R, T> implements RedisCommand<String, String, R>, CompleteableCommand<R> {

    /** Told how the command ended, unless it was withdrawn. */
    public interface Sender<T> {

        /** The server has answered. */
        <R> void answered(ScriptCommand<R, T> command, R reply);

        /** An error of the server or of the driver. */
        void failed(ScriptCommand<?, T> command, Throwable error);
    }

    /** In the place of a listener: there is nothing to tell any more. */
    private static final class Ended implements BiConsumer<Object, Throwable> {

        @Override
        public void accept(Object reply, Throwable error) {
            // It was told when it ended.
        }
    }

    private static final Ended ENDED = new Ended();

    @SuppressWarnings("rawtypes") // a class literal has no type arguments
    private static final AtomicReferenceFieldUpdater<ScriptCommand, @Nullable BiConsumer> AT_END =
            AtomicReferenceFieldUpdater.newUpdater(ScriptCommand.class, BiConsumer.class, "atEnd");

    /** Takes the place of a command that cannot be written: the driver would close the connection, with the commands of all others. */
    private static final byte[] INSTEAD = "*1\r\n$4\r\nPING\r\n".getBytes(StandardCharsets.US_ASCII);

    private final Sender<T> sender;
    private final ScriptPipeline pipeline;
    private final StatefulRedisConnection<String, String> connection;
    private final CommandType type;
    private final ScriptRequest<T> request;
    private final ReplyDecoder<R, T> decoder;

    /** Replaced by the driver only in transactions, which no script is in. */
    private CommandOutput<String, String, R> output;

    /** Null unless the driver, or a tracer, asks for them before the command is written. Used by the thread that writes. */
    private @Nullable ScriptArgs args;

    /** Written by the thread that writes, read by the one that reads, which is the same. */
    private boolean isReplaced;

    /** Written and read within the queue of its link. */
    private boolean isAlone;

    /** {@link #ENDED}, or what the driver is told at the end: the timer of its time limit, say. */
    @SuppressWarnings("rawtypes")
    private volatile @Nullable BiConsumer atEnd;

    /**
     * A command that was not sent yet.
     *
     * @param pipeline to the server that it is to be sent to
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

    /** The same, which joins no other one. Within the queue of the link. */
    ScriptCommand<R, T> alone() {
        isAlone = true;
        return this;
    }

    /** Whether this one and the next can be sent as one call. */
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

    /** Whether it has the whole script with it. */
    public boolean bringsScript() {
        return type == CommandType.EVAL;
    }

    /** Its answer is not waited for any more. It is not sent, if it was not written yet. */
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
            isReplaced = true;
            buffer.writeBytes(INSTEAD);
            boolean unused = completeExceptionally(thrown);
        } finally {
            pipeline.giveBack(scratch);
        }
    }

    private ScriptArgs write(ScriptArgs to) {
        return request.write(to, type, pipeline.server());
    }

    /** Before the command is written. */
    @Override
    public CommandArgs<String, String> getArgs() {
        ScriptArgs known = args;
        if (known == null) {
            known = write(new ScriptArgs(ScriptArgs.USUAL_BYTES));
            args = known;
        }
        return known;
    }

    /** The server has answered, whether or not the answer is still waited for. */
    @Override
    public void complete() {
        String error = output.getError();
        boolean isToldByMembers = sender instanceof JoinedCalls && error == null;
        if (!isReplaced && !isToldByMembers) {
            pipeline.answered(request.script(), error);
        }
        if (isDone()) {
            return;
        }
        if (error != null) {
            boolean unused = completeExceptionally(ExceptionFactory.createExecutionException(error));
        } else if (end(output.get(), null)) {
            sender.answered(this, output.get());
        }
    }

    /** The server has answered, to this one among others. */
    void complete(JoinedOutput.Answer answer) {
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

    /** By the driver, when the connection is closed. */
    @Override
    public void cancel() {
        boolean unused = completeExceptionally(new CancellationException("the connection was closed"));
    }

    /** False when it has ended before. */
    @SuppressWarnings("unchecked")
    private boolean end(@Nullable R reply, @Nullable Throwable error) {
        BiConsumer<Object, @Nullable Throwable> told = AT_END.getAndSet(this, ENDED);
        if (told == ENDED) {
            return false;
        }
        if (told != null) {
            try {
                told.accept(reply, error);
            } catch (RuntimeException | Error thrown) {
                Operators.onErrorDropped(thrown, Context.empty()); // a stranger's
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

    /** Of the driver's two ways to end, this one is not used. */
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

    /** For the driver's messages. */
    @Override
    public String toString() {
        return "%s %s %s".formatted(type, request.script().name(), request.firstKey());
    }
}
