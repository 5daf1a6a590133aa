package io.holdfast.redis.internal.safety;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.Store;
import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.connection.ManualDriver;
import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.holdfast.redis.internal.protocol.LockRequests;
import io.holdfast.redis.internal.protocol.QueueLimit;
import io.holdfast.redis.internal.topology.Topology;
import io.holdfast.spi.LockAttempt;
import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.RedisCommand;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class ConfirmationBatchTest {

    private static final RedisURI SERVER = RedisURI.create("redis://localhost");

    private static final Pattern NAME = Pattern.compile("lock-(\\d+)");

    private final ManualDriver driver = new ManualDriver();

    /** Each lock has a slot of its own. */
    private final Topology topology = (Topology) Proxy.newProxyInstance(
            Topology.class.getClassLoader(), new Class<?>[] {Topology.class}, (proxy, method, arguments) -> {
                assertThat(method.getName()).isEqualTo("groupOf");
                return slotOf((String) arguments[0]);
            });

    private final GrantConfirmations owner = new GrantConfirmations(
            topology,
            new LockRequests(
                    "holdfast:",
                    Duration.ofSeconds(2),
                    Duration.ofHours(2),
                    new QueueLimit(0, "here"),
                    server -> "mine",
                    grant -> {},
                    true),
            ExceptionTranslator.at(List.of(SERVER)),
            new ReplicaConfirmation(1, Duration.ofMillis(100)));

    private static Integer slotOf(String text) {
        Matcher name = NAME.matcher(text);
        assertThat(name.find()).as("the name of a lock in %s", text).isTrue();
        return Integer.valueOf(name.group(1));
    }

    private List<UnconfirmedGrant> grants(List<Integer> slots) {
        List<UnconfirmedGrant> grants = new ArrayList<>();
        slots.forEach(slot -> Mono.<LockAttempt>create(sink -> grants.add(new UnconfirmedGrant(
                        Store.claim("lock-" + slot), new LockAttempt.Acquired(1, Duration.ofSeconds(1)), sink)))
                .subscribe());
        return grants;
    }

    private static String written(RedisCommand<?, ?, ?> command) {
        ByteBuf bytes = Unpooled.buffer();
        command.encode(bytes);
        return bytes.toString(StandardCharsets.UTF_8);
    }

    /** A run of the simulated world can be repeated only if it always sends the same commands. */
    @Test
    void grantsOfSeveralSlotsAreRenewedInTheirOrderAndThenConfirmed() {
        List<Integer> slots = List.of(12_000, 3, 700, 16_000, 41, 9_000, 8, 5_500, 2, 14_000);

        new ConfirmationBatch(owner, new CommandLink(driver, SERVER), grants(slots)).send();

        int renewals = slots.size();
        assertThat(driver.sent).hasSize(renewals + 1);
        assertThat(driver.sent.subList(0, renewals))
                .extracting(renewal -> slotOf(written(renewal)))
                .containsExactlyElementsOf(slots);
        assertThat(driver.sent.get(renewals).getType()).isEqualTo(CommandType.WAIT);
    }
}
