package io.holdfast.redis.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.lettuce.core.RedisURI;
import io.lettuce.core.event.DefaultEventBus;
import io.lettuce.core.event.Event;
import io.lettuce.core.event.EventBus;
import io.lettuce.core.event.connection.ReconnectFailedEvent;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

class ReconnectFailuresTest {

    private static final InetSocketAddress HERE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private final ReconnectFailures failures = new ReconnectFailures(new DefaultEventBus(Schedulers.immediate()));

    @Test
    void lastFailureOfAServerIsKnownAlsoIfManyServersHaveFailed() {
        RedisURI first = RedisURI.create("127.0.0.1", 1);
        for (int port = 1; port <= 1_000; port++) {
            failed(port, new IllegalStateException("refused"));
        }
        Throwable wrongPassword = new IllegalStateException("wrong password");

        failed(1, wrongPassword);

        assertThat(failures.of(first)).isSameAs(wrongPassword);
    }

    @Test
    void aBusOfTheCallerThatThrowsDoesNotKeepTheDriverFromItsNextAttempt() {
        ReconnectFailures guarded = new ReconnectFailures(new EventBus() {
            @Override
            public Flux<Event> get() {
                return Flux.empty();
            }

            @Override
            public void publish(Event event) {
                throw new LinkageError("on purpose");
            }
        });
        assertThatCode(() -> guarded.publish(new ReconnectFailedEvent(
                        "redis://127.0.0.1", "id", HERE, HERE, new IllegalStateException(), 1)))
                .doesNotThrowAnyException();
    }

    private void failed(int port, Throwable cause) {
        InetSocketAddress server = InetSocketAddress.createUnresolved("127.0.0.1", port);
        failures.publish(new ReconnectFailedEvent("redis://127.0.0.1", "id", HERE, server, cause, 1));
    }
}
