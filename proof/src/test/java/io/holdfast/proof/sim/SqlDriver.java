package io.holdfast.proof.sim;

import io.r2dbc.postgresql.api.Notification;
import io.r2dbc.postgresql.api.PostgresqlConnection;
import io.r2dbc.postgresql.api.PostgresqlStatement;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import io.r2dbc.spi.R2dbcNonTransientResourceException;
import io.r2dbc.spi.Readable;
import io.r2dbc.spi.Result;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Sinks;

/** A driver in virtual time between the shipped back end and a simulated PostgreSQL. It fails the statements under way when their connection is lost. */
record SqlDriver(Host host, Network network, SqlServer server, WrongSql wrong) implements ConnectionFactory {

    @Override
    public Mono<Connection> create() {
        return Mono.create(sink -> {
            if (server.isUp()) {
                new Line().open(sink);
            } else {
                Disposable unused =
                        host.schedule(() -> sink.error(new ConnectException("refused")), 1, TimeUnit.MILLISECONDS);
            }
        });
    }

    @Override
    public ConnectionFactoryMetadata getMetadata() {
        return () -> "PostgreSQL";
    }

    /** One connection. */
    private final class Line {

        private final Wire wire = new Wire(network, host, server);
        private final Sinks.Many<Notification> notifications =
                Sinks.many().multicast().directBestEffort();
        private final Set<FluxSink<Result>> underWay = new LinkedHashSet<>();
        private @Nullable MonoSink<Connection> opening;
        private SqlServer.@Nullable Session session;
        private boolean isOver;

        void open(MonoSink<Connection> sink) {
            opening = sink;
            wire.atCut(this::lost);
            wire.toServer(() -> {
                session = server.open(wire, this::notified);
                wire.toClient(() -> {
                    opening = null;
                    sink.success(proxy(PostgresqlConnection.class, (it, method, args) -> switch (method.getName()) {
                        case "createStatement" -> statement((String) args[0]);
                        case "validate" -> Mono.fromSupplier(() -> !isOver);
                        case "close" -> Mono.fromRunnable(this::close);
                        case "getNotifications" -> notifications.asFlux();
                        case "hashCode" -> System.identityHashCode(it);
                        case "equals" -> it == args[0];
                        case "toString" -> "connection of " + host;
                        default -> throw new UnsupportedOperationException(method.getName());
                    }));
                });
            });
        }

        private void notified(String[] it) {
            Sinks.EmitResult unused = notifications.tryEmitNext(proxy(
                    Notification.class,
                    (self, method, args) -> it[method.getName().equals("getName") ? 0 : 1]));
        }

        private PostgresqlStatement statement(String sql) {
            Map<String, Object> binds = new HashMap<>();
            return proxy(PostgresqlStatement.class, (it, method, args) -> {
                if (method.getName().equals("execute")) {
                    return Flux.<Result>create(sink -> execute(sql, binds, sink));
                }
                binds.put((String) args[0], args[1]);
                return it;
            });
        }

        private void execute(String sql, Map<String, Object> binds, FluxSink<Result> sink) {
            if (isOver) {
                sink.error(closed());
                return;
            }
            underWay.add(sink);
            Map<String, Object> sent = wrongly(binds);
            wire.toServer(() -> server.execute(session, sql, sent, reply -> {
                underWay.remove(sink);
                if (reply.error() != null) {
                    sink.error(reply.error());
                } else {
                    sink.next(result(wrongly(reply.rows())));
                    sink.complete();
                }
            }));
        }

        private Map<String, Object> wrongly(Map<String, Object> binds) {
            Map<String, Object> sent = new HashMap<>(binds);
            if (wrong == WrongSql.RELEASE_THAT_IS_SURE && binds.get("$4") instanceof String[] calls) {
                String unsure = Integer.toString(Integer.MAX_VALUE);
                sent.put(
                        "$4",
                        Arrays.stream(calls)
                                .map(it -> it.equals(unsure) ? "1" : it)
                                .toArray(String[]::new));
            }
            return sent;
        }

        private List<Object[]> wrongly(List<Object[]> rows) {
            if (wrong == WrongSql.ANSWERS_IN_ANOTHER_ORDER
                    && rows.size() == 1
                    && rows.get(0)[0] instanceof String text) {
                List<String> lines = new ArrayList<>(text.lines().toList());
                long count = lines.stream().filter(it -> !it.startsWith("0 ")).count();
                lines.replaceAll(it -> it.matches("[1-9].*")
                        ? (count + 1 - Long.parseLong(it.split(" ", 2)[0])) + it.substring(it.indexOf(' '))
                        : it);
                rows.get(0)[0] = String.join("\n", lines);
            }
            return rows;
        }

        private void close() {
            wire.close();
            lost();
        }

        private void lost() {
            if (isOver) {
                return;
            }
            isOver = true;
            if (opening != null) {
                opening.error(closed());
            }
            List.copyOf(underWay).forEach(it -> it.error(closed()));
            Sinks.EmitResult unused = notifications.tryEmitError(closed());
        }
    }

    private static R2dbcNonTransientResourceException closed() {
        return new R2dbcNonTransientResourceException("connection unexpectedly closed", "08006");
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    /** The rows of an answer, each read by the numbers of its columns. */
    @SuppressWarnings("unchecked")
    private static Result result(List<Object[]> rows) {
        return proxy(Result.class, (it, method, args) -> {
            if (method.getName().equals("getRowsUpdated")) {
                return Mono.just((long) rows.size());
            }
            Function<Readable, ?> mapping = (Function<Readable, ?>) args[0];
            return Flux.fromIterable(rows)
                    .map(cells ->
                            mapping.apply(proxy(Readable.class, (row, get, column) -> cells[(Integer) column[0]])));
        });
    }
}
