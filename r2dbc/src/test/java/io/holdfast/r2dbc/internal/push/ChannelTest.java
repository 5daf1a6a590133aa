package io.holdfast.r2dbc.internal.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.r2dbc.internal.dialect.Dialect;
import io.holdfast.r2dbc.internal.dialect.Listening;
import io.holdfast.r2dbc.internal.dialect.Session;
import io.holdfast.r2dbc.internal.dialect.SessionSettings;
import io.holdfast.r2dbc.internal.error.SqlFailures;
import io.holdfast.r2dbc.internal.lane.Connections;
import io.holdfast.r2dbc.internal.protocol.Push;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.support.Deadlines;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/** The heartbeat of the listening connection. */
class ChannelTest {

    private static final Duration REPLY = Duration.ofSeconds(2);
    private static final Listening SILENT = new Listening() {
        @Override
        public Flux<Push> heard() {
            return Flux.never();
        }

        @Override
        public void claimWaits() {}
    };

    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private int made;
    private int pings;
    private final Connection connection = fake(Connection.class, method -> Mono.empty());
    private final Dialect dialect = fake(Dialect.class, method -> switch (method) {
        case "prepare" -> Mono.just(new Session(connection, ""));
        case "listen" -> Mono.just(SILENT);
        case "ping" -> ping();
        default -> throw new UnsupportedOperationException(method);
    });
    private final Connections connections = new Connections(
            fake(
                    ConnectionFactory.class,
                    method -> Mono.fromSupplier(() -> {
                        made++;
                        return connection;
                    })),
            dialect,
            new SessionSettings(null, REPLY),
            time);
    private final Watches watches = new Watches(new Deadlines(time), time, REPLY, claim -> {});
    private final Channel channel = new Channel(connections, new SqlFailures(dialect, null, REPLY), watches, REPLY);

    private Mono<Void> ping() {
        pings++;
        if (pings == 1) {
            throw new NoClassDefFoundError("once");
        }
        return Mono.empty();
    }

    @Test
    void pingThatCannotBeSentIsOneThatFailed() {
        LockClaim waits =
                LockClaim.first(LockKey.of(LockKind.MUTEX, "lock"), "waits", Duration.ofSeconds(30), Waiting.QUEUE);
        Disposable watch = watches.watch(waits).subscribe();
        channel.open();
        time.advanceTimeBy(Duration.ofSeconds(5));
        time.advanceTimeBy(Duration.ofSeconds(1));
        assertThat(made).as("connections").isEqualTo(2);
        time.advanceTimeBy(Duration.ofSeconds(10));
        assertThat(pings).isEqualTo(3);
        watch.dispose();
    }

    private static <T> T fake(Class<T> type, Function<String, Object> methods) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> methods.apply(method.getName())));
    }
}
