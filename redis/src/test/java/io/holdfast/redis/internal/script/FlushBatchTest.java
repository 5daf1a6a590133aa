package io.holdfast.redis.internal.script;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.connection.ManualDriver;
import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.RedisCommand;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FlushBatchTest {

    private static final RedisURI SERVER = RedisURI.create("redis://localhost");

    private final ManualDriver driver = new ManualDriver();
    private final ScriptPipeline pipeline = new CommandLink(driver, SERVER).scripts();
    private final StatefulRedisConnection<String, String> first =
            driver.connect(SERVER).join();
    private final StatefulRedisConnection<String, String> second =
            driver.connect(SERVER).join();
    private final List<Throwable> failures = new ArrayList<>();
    private final FlushBatch batch = new FlushBatch();

    private ScriptCommand<?, Long> command(StatefulRedisConnection<String, String> connection) {
        ScriptRequest<Long> request = new ScriptRequest<>(
                LuaScript.load("lock"),
                "orders",
                (to, server) -> {},
                ReplyDecoder.ofNumbers(1, reply -> reply[0]),
                () -> new ExceptionTranslator.Subject("orders", "test"),
                () -> {});
        return command(connection, request, request.decoder());
    }

    private <R> ScriptCommand<R, Long> command(
            StatefulRedisConnection<String, String> connection,
            ScriptRequest<Long> request,
            ReplyDecoder<R, Long> decoder) {
        return new ScriptCommand<>(
                new ScriptCommand.Sender<Long>() {
                    @Override
                    public <A> void answered(ScriptCommand<A, Long> command, A reply) {}

                    @Override
                    public void failed(ScriptCommand<?, Long> command, Throwable error) {
                        failures.add(error);
                    }
                },
                pipeline,
                connection,
                CommandType.EVALSHA,
                request,
                decoder);
    }

    @CanIgnoreReturnValue
    private List<ScriptCommand<?, Long>> add(int count) {
        List<ScriptCommand<?, Long>> added = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            added.add(command(first));
        }
        added.forEach(batch::add);
        return added;
    }

    @Test
    void commandsLeaveTogetherInTheirOrder() {
        List<ScriptCommand<?, Long>> added = add(3);
        assertThat(driver.sent).isEmpty();

        batch.sendAll();

        assertThat(driver.sent).isEqualTo(added);
        assertThat(driver.dispatches).isEqualTo(1);
        batch.sendAll();
        assertThat(driver.dispatches).isEqualTo(1);
    }

    @Test
    void manyLeaveInParts() {
        List<ScriptCommand<?, Long>> added = add(2 * FlushBatch.MOST + 1);
        assertThat(driver.dispatches)
                .as("the server begins before the last one arrives")
                .isEqualTo(2);

        batch.sendAll();

        assertThat(driver.sent).isEqualTo(added);
        assertThat(driver.dispatches).isEqualTo(3);
    }

    @Test
    void commandsForAnotherConnectionLeaveAfterwards() {
        RedisCommand<?, ?, ?> before = command(first);
        RedisCommand<?, ?, ?> after = command(second);
        batch.add((ScriptCommand<?, ?>) before);
        batch.add((ScriptCommand<?, ?>) after);
        assertThat(driver.sent).isEqualTo(List.of(before));

        batch.sendAll();

        assertThat(driver.sent).isEqualTo(List.of(before, after));
    }

    @Test
    void allFailWhenTheDriverThrows() {
        IllegalStateException thrown = new IllegalStateException("of the test");
        driver.refusal = thrown;
        add(2);
        batch.sendAll();
        add(1);
        batch.sendAll();

        assertThat(failures).containsExactly(thrown, thrown, thrown);
    }
}
