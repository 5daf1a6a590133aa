package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.RedisCommand;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OutboxTest {

    private static final RedisURI SERVER = RedisURI.create("redis://localhost");

    private final ManualDriver driver = new ManualDriver();
    private final CommandLink link = new CommandLink(driver, SERVER);
    private final StatefulRedisConnection<String, String> first =
            driver.connect(SERVER).join();
    private final StatefulRedisConnection<String, String> second =
            driver.connect(SERVER).join();
    private final List<Throwable> failures = new ArrayList<>();
    private final Outbox outbox = new Outbox();

    private ScriptCommand<?, Long> command(StatefulRedisConnection<String, String> connection) {
        ScriptCall.Request<Long> request = new ScriptCall.Request<>(
                LockScripts.MUTEX.release(),
                "orders",
                (to, server) -> {},
                1,
                reply -> reply[0],
                () -> new RedisFailures.Subject("orders", "test"),
                () -> {});
        return command(connection, request, request.reading());
    }

    private <R> ScriptCommand<R, Long> command(
            StatefulRedisConnection<String, String> connection,
            ScriptCall.Request<Long> request,
            ScriptCall.Reading<R, Long> reading) {
        return new ScriptCommand<>(
                new ScriptCommand.Sender<Long>() {
                    @Override
                    public <A> void answered(ScriptCommand<A, Long> command, A reply) {}

                    @Override
                    public void failed(ScriptCommand<?, Long> command, Throwable error) {
                        failures.add(error);
                    }
                },
                link,
                connection,
                CommandType.EVALSHA,
                request,
                reading);
    }

    @CanIgnoreReturnValue
    private List<ScriptCommand<?, Long>> add(int count) {
        List<ScriptCommand<?, Long>> added = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            added.add(command(first));
        }
        added.forEach(outbox::add);
        return added;
    }

    @Test
    void commandsLeaveTogetherInTheirOrder() {
        List<ScriptCommand<?, Long>> added = add(3);
        assertThat(driver.sent).isEmpty();

        outbox.sendAll();

        assertThat(driver.sent).isEqualTo(added);
        assertThat(driver.dispatches).isEqualTo(1);
        outbox.sendAll();
        assertThat(driver.dispatches).isEqualTo(1);
    }

    @Test
    void manyLeaveInParts() {
        List<ScriptCommand<?, Long>> added = add(2 * Outbox.MOST + 1);
        assertThat(driver.dispatches)
                .as("the server begins before the last is there")
                .isEqualTo(2);

        outbox.sendAll();

        assertThat(driver.sent).isEqualTo(added);
        assertThat(driver.dispatches).isEqualTo(3);
    }

    @Test
    void whatIsForAnotherConnectionLeavesAfterwards() {
        RedisCommand<?, ?, ?> before = command(first);
        RedisCommand<?, ?, ?> after = command(second);
        outbox.add((ScriptCommand<?, ?>) before);
        outbox.add((ScriptCommand<?, ?>) after);
        assertThat(driver.sent).isEqualTo(List.of(before));

        outbox.sendAll();

        assertThat(driver.sent).isEqualTo(List.of(before, after));
    }

    @Test
    void allFailWhenTheDriverThrows() {
        IllegalStateException thrown = new IllegalStateException("of the test");
        driver.refusal = thrown;
        add(2);
        outbox.sendAll();
        add(1);
        outbox.sendAll();

        assertThat(failures).containsExactly(thrown, thrown, thrown);
    }
}
