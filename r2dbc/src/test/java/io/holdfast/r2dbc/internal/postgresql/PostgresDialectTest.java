package io.holdfast.r2dbc.internal.postgresql;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.r2dbc.internal.dialect.Session;
import io.holdfast.r2dbc.internal.dialect.SessionSettings;
import io.holdfast.r2dbc.internal.protocol.Operation;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.Result;
import io.r2dbc.spi.Statement;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;

class PostgresDialectTest {

    private final PostgresDialect dialect = new PostgresDialect();

    /** For each statement: how much was requested when the driver sent it. */
    private final List<Long> requested = new ArrayList<>();

    private final Connection connection = fake(Connection.class);

    /** Otherwise r2dbc-postgresql up to 1.1.1 may mix up the messages of an answer. */
    @Test
    void answersAreRequestedBeforeTheDriverSends() {
        Operation operation = new Operation(
                Operation.Verb.RENEW,
                LockClaim.first(LockKey.of(LockKind.MUTEX, "orders"), "claim", Duration.ofSeconds(30), Waiting.NONE),
                false);
        for (Publisher<?> exchange : List.of(
                dialect.call(connection, "channel", 2_000, false, List.of(operation)),
                dialect.renew(connection, false, List.of(operation)),
                dialect.sweep(connection),
                dialect.ping(connection),
                dialect.interrupt(new Session(connection, "session"), connection),
                dialect.prepare(connection, new SessionSettings(null, Duration.ofSeconds(2))))) {
            Flux.from(exchange).onErrorComplete().collectList().block();
        }
        assertThat(requested).hasSize(6).allMatch(it -> it > 0);
    }

    /** Returns a driver whose answers have no rows. */
    private <T> T fake(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> switch (method.getName()) {
                    case "createStatement" -> fake(Statement.class);
                    case "bind" -> proxy;
                    case "execute" -> Flux.defer(() -> Flux.just(fake(Result.class)));
                    case "map", "getRowsUpdated" ->
                        Flux.create(driver -> {
                            requested.add(driver.requestedFromDownstream());
                            driver.complete();
                        });
                    default -> throw new UnsupportedOperationException(method.toString());
                }));
    }
}
