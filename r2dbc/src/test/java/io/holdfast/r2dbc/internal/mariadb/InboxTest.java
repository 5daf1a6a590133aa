package io.holdfast.r2dbc.internal.mariadb;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.r2dbc.internal.dialect.InboxSettings;
import io.holdfast.r2dbc.internal.dialect.Listening;
import io.holdfast.r2dbc.internal.protocol.Push;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.Result;
import io.r2dbc.spi.Statement;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;
import reactor.test.subscriber.TestSubscriber;

/** A driver that does what no server does. */
class InboxTest {

    private static final Duration TIME = Duration.ofSeconds(2);

    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private boolean isFatal;
    private final Result result = fake(Result.class, method -> Mono.just(1L));
    private final Statement statement = fake(Statement.class, method -> Mono.just(result));
    private final Connection connection = fake(Connection.class, method -> {
        if (isFatal) {
            throw new NoClassDefFoundError("once");
        }
        return statement;
    });

    /** The channel then opens another connection. Otherwise no message would be read any more. */
    @Test
    void errorOfTheJvmInTheDriverEndsTheListening() {
        TestSubscriber<Push> heard = TestSubscriber.create();
        Mono<Listening> opening = Inbox.open(connection, "channel", new InboxSettings(TIME, TIME, time, () -> true));
        Disposable unused = opening.subscribe(inbox -> {
            isFatal = true;
            inbox.heard().subscribe(heard);
        });
        assertThat(heard.expectTerminalError()).hasRootCauseInstanceOf(NoClassDefFoundError.class);
    }

    private static <T> T fake(Class<T> type, Function<String, Object> methods) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> methods.apply(method.getName())));
    }
}
