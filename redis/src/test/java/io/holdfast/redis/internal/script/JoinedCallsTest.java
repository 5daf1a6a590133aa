package io.holdfast.redis.internal.script;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.connection.ManualDriver;
import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.RedisCommand;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Several operations in one call: what is written, and the result of each. */
class JoinedCallsTest {

    private static final RedisURI SERVER = RedisURI.create("redis://localhost");

    private final ManualDriver driver = new ManualDriver();
    private final ScriptPipeline pipeline = new CommandLink(driver, SERVER).scripts();
    private final StatefulRedisConnection<String, String> connection =
            driver.connect(SERVER).join();

    /** The results by the key of the operation: its numbers, or the error. */
    private final Map<String, Object> told = new TreeMap<>();

    private ScriptCommand<?, long[]> operation(String key) {
        return command(CommandType.EVALSHA, key, new JoinedCalls.Operation() {
            @Override
            public void write(ScriptArgs to, RedisURI server) {
                to.text("1").text(key).text("alone");
            }

            @Override
            public void writeArgs(ScriptArgs to, RedisURI server) {
                to.text("for " + key);
                if (key.equals("unwritable")) {
                    throw new IllegalStateException("of the test");
                }
            }
        });
    }

    private ScriptCommand<?, long[]> command(CommandType type, String key, KeysAndArgs arguments) {
        ScriptRequest<long[]> request = new ScriptRequest<>(
                LuaScript.load("lock"),
                key,
                arguments,
                ReplyDecoder.ofNumbers(3, reply -> reply),
                () -> new ExceptionTranslator.Subject("orders", "test"),
                () -> {});
        return command(type, request, request.decoder());
    }

    private <R> ScriptCommand<R, long[]> command(
            CommandType type, ScriptRequest<long[]> request, ReplyDecoder<R, long[]> decoder) {
        return new ScriptCommand<>(
                new ScriptCommand.Sender<long[]>() {
                    @Override
                    public <A> void answered(ScriptCommand<A, long[]> command, A reply) {
                        told.put(
                                request.firstKey(),
                                Arrays.toString(command.decoder().decode(reply)));
                    }

                    @Override
                    public void failed(ScriptCommand<?, long[]> command, Throwable error) {
                        told.put(request.firstKey(), error);
                    }
                },
                pipeline,
                connection,
                type,
                request,
                decoder);
    }

    private RedisCommand<?, ?, ?> joined(ScriptCommand<?, ?>... operations) {
        List<RedisCommand<String, String, ?>> all = JoinedCalls.join(List.of(operations));
        assertThat(all).hasSize(1);
        return all.get(0);
    }

    /** Returns the arguments behind the hash of the script. */
    private static List<String> written(RedisCommand<?, ?, ?> command) {
        ByteBuf wire = Unpooled.buffer();
        command.encode(wire);
        List<String> lines = Arrays.asList(wire.toString(StandardCharsets.UTF_8).split("\r\n", -1));
        List<String> args = new ArrayList<>();
        for (int i = 6; i < lines.size(); i += 2) {
            args.add(lines.get(i));
        }
        return args;
    }

    private static void answer(RedisCommand<?, ?, ?> command, Object answer) {
        pass(answer, command.getOutput(), 0);
        command.complete();
    }

    private static void pass(Object answer, CommandOutput<?, ?, ?> output, int depth) {
        if (answer instanceof List<?> parts) {
            output.multi(parts.size());
            parts.forEach(part -> pass(part, output, depth + 1));
        } else if (answer instanceof String text) {
            output.set(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
        } else {
            output.set((Long) answer);
        }
        output.complete(depth);
    }

    @Test
    void neighboursOfOneScriptAreOneCallAndNothingElseIs() {
        ScriptCommand<?, ?> whole = command(CommandType.EVAL, "whole", (to, server) -> {});
        ScriptCommand<?, ?> shared = command(CommandType.EVALSHA, "shared", (to, server) -> {});
        ScriptCommand<?, ?> last = operation("last");
        List<RedisCommand<String, String, ?>> sent =
                JoinedCalls.join(List.of(operation("a"), operation("b"), whole, shared, last));

        assertThat(sent).hasSize(4);
        assertThat(written(sent.get(0))).containsExactly("2", "a", "b", "for a", "for b");
        assertThat(sent.subList(1, 4)).isEqualTo(List.of(whole, shared, last));
        assertThat(written(last)).as("a single operation").containsExactly("1", "last", "alone");
    }

    @Test
    void eachHasItsOwnAnswerOrError() {
        RedisCommand<?, ?, ?> call = joined(operation("a"), operation("b"), operation("c"), operation("d"));
        assertThat(written(call)).hasSize(9);

        answer(
                call,
                List.of(7L, List.of(2L, 166L), List.of(0L, "FOREIGN key under the lock"), List.of(1L, 8L, 30_000L)));

        assertThat(told)
                .containsEntry("a", "[7]")
                .containsEntry("b", "[2, 166]")
                .containsEntry("d", "[1, 8, 30000]");
        assertThat(told.get("c"))
                .isInstanceOfSatisfying(
                        RedisCommandExecutionException.class,
                        error -> assertThat(error).hasMessage("FOREIGN key under the lock"));
    }

    @Test
    void anOperationThatWasWithdrawnBeforeIsNotWritten() {
        ScriptCommand<?, ?> withdrawn = operation("b");
        RedisCommand<?, ?, ?> call = joined(operation("a"), withdrawn, operation("c"));
        withdrawn.withdraw();

        assertThat(written(call)).containsExactly("2", "a", "c", "for a", "for c");
        answer(call, List.of(1L, 3L));

        assertThat(told).hasSize(2).containsEntry("a", "[1]").containsEntry("c", "[3]");
    }

    @Test
    void anOperationThatIsWithdrawnAfterwardsKeepsItsPlaceInTheAnswer() {
        ScriptCommand<?, ?> withdrawn = operation("b");
        RedisCommand<?, ?, ?> call = joined(operation("a"), withdrawn, operation("c"));
        assertThat(written(call)).hasSize(7);
        withdrawn.withdraw();

        answer(call, List.of(1L, 2L, 3L));

        assertThat(told).hasSize(2).containsEntry("a", "[1]").containsEntry("c", "[3]");
    }

    /** The script answers one operation without a list. */
    @Test
    void theOnlyOperationLeftIsAnsweredAlone() {
        for (Object reply : List.of(7L, List.of(2L, 166L), List.of(1L, 8L, 30_000L))) {
            ScriptCommand<?, ?> withdrawn = operation("a");
            RedisCommand<?, ?, ?> call = joined(withdrawn, operation("b"));
            withdrawn.withdraw();
            assertThat(written(call)).containsExactly("1", "b", "for b");

            answer(call, reply);

            assertThat(told).hasSize(1).containsEntry("b", reply instanceof List<?> ? reply.toString() : "[7]");
        }
    }

    @Test
    void anOperationThatCannotBeWrittenFailsAlone() {
        RedisCommand<?, ?, ?> call = joined(operation("a"), operation("unwritable"), operation("c"));

        assertThat(written(call)).containsExactly("2", "a", "c", "for a", "for c");
        answer(call, List.of(1L, 3L));

        assertThat(told).containsEntry("a", "[1]").containsEntry("c", "[3]");
        assertThat(told.get("unwritable")).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void withoutAnAnswerAllFail() {
        RedisCommand<?, ?, ?> call = joined(operation("a"), operation("b"));
        RedisException lost = new RedisException("the connection was closed");

        assertThat(((ScriptCommand<?, ?>) call).completeExceptionally(lost)).isTrue();

        assertThat(told).hasSize(2).containsEntry("a", lost).containsEntry("b", lost);
    }

    @Test
    void anUnsoundReplyFailsTheOperationsThatItDoesNotAnswer() {
        for (Object reply : List.of(List.of(1L), List.of(), List.of(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L), "text")) {
            told.clear();
            RedisCommand<?, ?, ?> call = joined(operation("a"), operation("b"), operation("c"));
            assertThat(written(call)).hasSize(7);

            answer(call, reply);

            assertThat(told).as("after %s", reply).hasSize(3);
            assertThat(told.get("c")).as("after %s", reply).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void afterAForbiddenKeyEachIsSentAloneThisTimeOnly() {
        ScriptCommand<?, ?> a = operation("a");
        ScriptCommand<?, ?> b = operation("b");
        RedisCommand<?, ?, ?> call = joined(a, b);
        assertThat(written(call)).hasSize(5);

        call.getOutput().setError("NOPERM this user has no permissions to access one of the keys used as arguments");
        call.complete();

        assertThat(told).isEmpty();
        assertThat(pipeline.joinsCalls()).isTrue();
        assertThat(driver.sent).isEqualTo(List.of(a, b));
    }

    /** Stands for a proxy before several servers. */
    @Test
    void aServerThatRefusesKeysOfSeveralLocksGetsEachAloneOnThisConnection() {
        ScriptCommand<?, ?> a = operation("a");
        ScriptCommand<?, ?> b = operation("b");
        RedisCommand<?, ?, ?> call = joined(a, b);
        assertThat(written(call)).hasSize(5);

        call.getOutput().setError("CROSSSLOT Keys in request don't hash to the same slot");
        call.complete();

        assertThat(told).isEmpty();
        assertThat(pipeline.joinsCalls()).isFalse();
        assertThat(driver.sent).isEqualTo(List.of(a, b));

        pipeline.reconnected(); // to one server, perhaps
        assertThat(pipeline.joinsCalls()).isTrue();
    }
}
