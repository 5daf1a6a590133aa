package io.holdfast.redis.internal.script;

import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.holdfast.redis.internal.error.KnownError;
import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.RedisCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;

/**
 * Operations of one script that are due together, sent as one call: the server starts the script once for all of them.
 * It runs them in their order, and each has an answer, an error or a withdrawal of its own. If the call gets no answer,
 * the outcome of each operation is unknown.
 */
public final class JoinedCalls implements ScriptCommand.Sender<JoinedOutput.Answers>, KeysAndArgs {

    /** The part of one operation in such a call. */
    public interface Operation extends KeysAndArgs {

        /**
         * Appends the ARGV of this operation. Each operation of a script has the same number. Its only key is the first
         * key of the request.
         */
        void writeArgs(ScriptArgs to, RedisURI server);
    }

    private final List<ScriptCommand<?, ?>> members;

    /**
     * The operations that were not withdrawn before, in their order. Written together with the command, by the thread
     * that also reads the answer.
     */
    private List<ScriptCommand<?, ?>> written = List.of();

    private JoinedCalls(List<ScriptCommand<?, ?>> members) {
        this.members = members;
    }

    /**
     * Joins neighbours of the same script.
     *
     * @param due to one connection
     */
    static List<RedisCommand<String, String, ?>> join(List<ScriptCommand<?, ?>> due) {
        List<RedisCommand<String, String, ?>> joined = new ArrayList<>(due.size());
        int from = 0;
        while (from < due.size()) {
            int to = from + 1;
            while (to < due.size() && due.get(from).canJoin(due.get(to))) {
                to++;
            }
            joined.add(to == from + 1 ? due.get(from) : new JoinedCalls(due.subList(from, to)).command());
            from = to;
        }
        return joined;
    }

    private ScriptCommand<JoinedOutput.Answers, JoinedOutput.Answers> command() {
        ScriptCommand<?, ?> first = members.get(0);
        ReplyDecoder<JoinedOutput.Answers, JoinedOutput.Answers> decoder =
                new ReplyDecoder<>(() -> new JoinedOutput(members.size()), answers -> answers);
        ScriptRequest<JoinedOutput.Answers> request = new ScriptRequest<>(
                first.request().script(),
                first.request().firstKey(),
                this,
                decoder,
                () -> new ExceptionTranslator.Subject("", "run %d operations".formatted(members.size())),
                () -> {});
        return new ScriptCommand<>(this, first.pipeline(), first.connection(), CommandType.EVALSHA, request, decoder);
    }

    @Override
    public void write(ScriptArgs to, RedisURI server) {
        ScriptPipeline pipeline = members.get(0).pipeline();
        ScriptArgs operations = pipeline.borrowArgs();
        try {
            List<ScriptCommand<?, ?>> able = new ArrayList<>(members.size());
            for (ScriptCommand<?, ?> member : members) {
                if (!member.isDone() && isWritten(member, operations, server)) {
                    able.add(member);
                }
            }
            if (able.isEmpty()) {
                throw new CancellationException("all of the operations were withdrawn");
            }
            to.number(able.size());
            able.forEach(member -> to.text(member.request().firstKey()));
            to.append(operations);
            written = able;
        } finally {
            pipeline.giveBack(operations);
        }
    }

    /** Appends the operation. If that fails, only this operation fails. */
    private static boolean isWritten(ScriptCommand<?, ?> member, ScriptArgs to, RedisURI server) {
        int end = to.count();
        int size = to.size();
        try {
            ((Operation) member.request().arguments()).writeArgs(to, server);
            return true;
        } catch (RuntimeException | Error thrown) {
            to.cut(end, size);
            boolean unused = member.completeExceptionally(thrown);
            return false;
        }
    }

    @Override
    public <R> void answered(ScriptCommand<R, JoinedOutput.Answers> command, R reply) {
        JoinedOutput.Answers answers = command.decoder().decode(reply);
        if (written.size() == 1) {
            written.get(0).complete(answers.alone());
            return;
        }
        for (int i = 0; i < written.size(); i++) {
            ScriptReply answer = answers.of(i);
            if (answer == null) {
                boolean unused = written.get(i)
                        .completeExceptionally(new IllegalStateException(
                                "unexpected reply: not as many answers as the %d operations of the call"
                                        .formatted(written.size())));
            } else {
                written.get(i).complete(answer);
            }
        }
    }

    /**
     * Sends each operation by itself, if the server does not accept the keys: it refuses before it runs the script, so
     * it carried out nothing. Either the user has no right to one of the locks. Or a proxy knows that the keys belong
     * to several servers: then nothing is joined any more.
     */
    @Override
    public void failed(ScriptCommand<?, JoinedOutput.Answers> command, Throwable error) {
        ScriptPipeline pipeline = command.pipeline();
        boolean isOfSeveralServers = KnownError.isOfSeveralServers(error);
        if (isOfSeveralServers) {
            pipeline.joinNoMore();
        }
        if (isOfSeveralServers || KnownError.isForbiddenKey(error)) {
            pipeline.inOrder(() -> members.stream()
                    .filter(member -> !member.isDone())
                    .forEach(member -> pipeline.send(member.alone(), false)));
            return;
        }
        members.forEach(member -> {
            boolean unused = member.completeExceptionally(error);
        });
    }
}
