package io.holdfast.redis.internal.script;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.connection.ManualDriver;
import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.RedisCommand;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.Test;

/** The command that carries a script: how the driver uses it, and how it ends. */
class ScriptCommandTest {

    private static final LuaScript SCRIPT = LuaScript.load("lock");
    private static final RedisURI SERVER = RedisURI.create("redis://localhost");

    private final ManualDriver driver = new ManualDriver();
    private final ScriptPipeline pipeline = new CommandLink(driver, SERVER).scripts();
    private final StatefulRedisConnection<String, String> connection =
            driver.connect(SERVER).join();

    private final List<Object> told = new ArrayList<>();
    private final ScriptCommand.Sender<Long> sender = new ScriptCommand.Sender<>() {
        @Override
        public <R> void answered(ScriptCommand<R, Long> command, R reply) {
            told.add(command.decoder().decode(reply));
        }

        @Override
        public void failed(ScriptCommand<?, Long> command, Throwable error) {
            told.add(error);
        }
    };

    private final ScriptCommand<?, Long> command =
            command(CommandType.EVALSHA, KeysAndArgs.of(List.of("Zoë", "b"), List.of("7", "")));

    private ScriptCommand<?, Long> command(CommandType type, KeysAndArgs arguments) {
        ScriptRequest<Long> request = new ScriptRequest<>(
                SCRIPT,
                "Zoë",
                arguments,
                ReplyDecoder.ofNumbers(1, reply -> reply[0]),
                () -> new ExceptionTranslator.Subject("orders", "test"),
                () -> {});
        return command(type, request, request.decoder());
    }

    private <R> ScriptCommand<R, Long> command(
            CommandType type, ScriptRequest<Long> request, ReplyDecoder<R, Long> decoder) {
        return new ScriptCommand<>(sender, pipeline, connection, type, request, decoder);
    }

    private static String written(RedisCommand<?, ?, ?> command) {
        ByteBuf wire = Unpooled.buffer();
        command.encode(wire);
        return wire.toString(StandardCharsets.UTF_8);
    }

    private static void answer(RedisCommand<?, ?, ?> command, long number) {
        command.getOutput().set(number);
        command.getOutput().complete(0);
        command.complete();
    }

    private static void refuse(RedisCommand<?, ?, ?> command, String error) {
        command.getOutput().setError(error);
        command.getOutput().complete(0);
        command.complete();
    }

    @Test
    void aCommandIsWrittenAsTheDriverWritesItsOwn() {
        ScriptArgs args = new ScriptArgs(1)
                .text(SCRIPT.sha())
                .number(2)
                .text("Zoë")
                .text("b")
                .text("7")
                .text("");
        String drivers = written(new Command<>(CommandType.EVALSHA, new LongArrayOutput(1), args));

        assertThat(written(command)).isEqualTo(drivers);
        assertThat(written(command)).as("once more").isEqualTo(drivers);
    }

    @Test
    void aWholeScriptIsWrittenWithItsBody() {
        String whole = written(command(CommandType.EVAL, (to, server) -> to.number(0)));

        assertThat(whole).startsWith("*3\r\n$4\r\nEVAL\r\n$").contains(SCRIPT.body());
        assertThat(written(command)).as("after a long one").startsWith("*7\r\n$7\r\nEVALSHA\r\n$40\r\n");
    }

    /** A tracer reads them. An attempt notes the server of its claim whenever it is written. */
    @Test
    void argumentsThatTheDriverHasReadAreNotMadeAgain() {
        int[] bodies = {0};
        ScriptCommand<?, Long> asked = command(CommandType.EVALSHA, (to, server) -> to.number(++bodies[0]));

        assertThat(asked.getArgs().count()).isEqualTo(2);

        assertThat(written(asked)).endsWith("$1\r\n1\r\n");
        assertThat(bodies[0]).isEqualTo(1);
    }

    @Test
    void aCommandThatIsWrittenWhileAnotherOneIsDoesNotMixWithIt() {
        List<String> inner = new ArrayList<>();
        ScriptCommand<?, Long> outer = command(CommandType.EVALSHA, (to, server) -> {
            to.text("before");
            inner.add(written(command));
            to.text("after");
        });

        String wire = written(outer);

        assertThat(wire)
                .isEqualTo("*4\r\n$7\r\nEVALSHA\r\n$40\r\n" + SCRIPT.sha() + "\r\n$6\r\nbefore\r\n$5\r\nafter\r\n");
        assertThat(inner).containsExactly(written(command));
    }

    /**
     * The driver would close the connection, and the commands of all other claims would fail with an unknown outcome.
     */
    @Test
    void aCommandThatCannotBeWrittenFailsAlone() {
        ArithmeticException overflow = new ArithmeticException("of the test");
        ScriptCommand<?, Long> broken = command(CommandType.EVALSHA, (to, server) -> {
            throw overflow;
        });

        assertThat(written(broken))
                .as("another command that the server answers")
                .isEqualTo("*1\r\n$4\r\nPING\r\n");

        assertThat(told).containsExactly(overflow);
        broken.complete(); // PONG
        assertThat(told).hasSize(1);
        assertThat(written(command)).as("the next one").contains("$4\r\nZoë").startsWith("*7\r\n");
    }

    @Test
    void anAnswerIsReportedOnce() {
        answer(command, 7);
        command.cancel();
        command.complete();

        assertThat(told).containsExactly(7L);
        assertThat(command.isDone()).isTrue();
    }

    @Test
    void anErrorOfTheServerIsReportedAsTheDriversException() {
        refuse(command, "NOSCRIPT No matching script. Please use EVAL.");
        refuse(command(CommandType.EVALSHA, (to, server) -> {}), "OOM command not allowed");

        assertThat(told).hasSize(2);
        assertThat(told.get(0)).isInstanceOf(RedisNoScriptException.class);
        assertThat(told.get(1))
                .isInstanceOfSatisfying(
                        RedisCommandExecutionException.class, e -> assertThat(e).hasMessageContaining("OOM"));
    }

    @Test
    void theFirstErrorOfTheDriverCounts() {
        RedisException lost = new RedisException("lost");

        assertThat(command.completeExceptionally(lost)).isTrue();
        assertThat(command.completeExceptionally(new RedisException("closed"))).isFalse();
        command.cancel();

        assertThat(told).containsExactly(lost);
    }

    @Test
    void aClosedConnectionIsReported() {
        command.cancel();

        assertThat(told).hasSize(1).hasOnlyElementsOfType(CancellationException.class);
    }

    /** The driver does not write a command that is done, so that is enough to withdraw a command. */
    @Test
    void aWithdrawnCommandIsDoneAndReportsNothing() {
        command.withdraw();

        assertThat(command.isDone()).isTrue();
        answer(command, 7);
        command.cancel();
        assertThat(told).isEmpty();
    }

    /** The driver cancels the timer of its time limit, which holds the command with its answer. */
    @Test
    void theDriverLearnsOfEachEnd() {
        List<String> ends = new ArrayList<>();
        ScriptCommand<?, Long> failed = command(CommandType.EVALSHA, (to, server) -> {});
        ScriptCommand<?, Long> withdrawn = command(CommandType.EVALSHA, (to, server) -> {});
        command.onComplete((reply, error) -> ends.add("answered"));
        command.onComplete(reply -> ends.add("answered, second listener"));
        failed.onComplete((reply, error) -> ends.add("failed: " + error.getMessage()));
        withdrawn.onComplete((reply, error) -> ends.add("withdrawn"));

        answer(command, 7);
        assertThat(failed.completeExceptionally(new RedisException("lost"))).isTrue();
        withdrawn.withdraw();
        withdrawn.onComplete((reply, error) -> ends.add("too late"));

        assertThat(ends)
                .containsExactly("answered", "answered, second listener", "failed: lost", "withdrawn", "too late");
    }
}
