package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.lettuce.core.RedisURI;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

/** All commands of one client that waits, as the server sees them. */
class WaitingCostIT {

    private static final String WAITING = "waiting";
    private static final Pattern CONNECTION =
            Pattern.compile(" addr=(\\S+) .* name=" + WAITING + " age=\\d+ idle=(\\d+) flags=\\S+ db=0 sub=(\\d+) ");

    /** A connection in the server's list. */
    private record Connection(String address, long idleSeconds, int subscriptions) {}

    /** The holder renews it seldom. */
    private static final LockOptions LONG =
            LockOptions.builder().leaseDuration(Duration.ofMinutes(5)).build();

    private Store store;
    private LockClient others;
    private LockClient waiting;

    @BeforeEach
    void start() {
        store = Store.start();
        others = LockClient.create(store.backend());
        RedisURI named = store.uri();
        named.setClientName(WAITING);
        waiting = LockClient.create(RedisLockBackend.create(named));
    }

    @AfterEach
    void stop() {
        await(waiting.close());
        await(others.close());
        store.close();
    }

    @Test
    void aClientThatIsFirstOrSecondInLineSendsOneCommandASecondAtMost() {
        LockLease held = await(others.lock("orders").with(LONG).acquire());
        CompletableFuture<LockLease> first = others.lock("orders").acquire().toFuture();
        eventuallyQueued("orders", 1);
        CompletableFuture<LockLease> second = waiting.lock("orders").acquire().toFuture();
        listens();
        isSilentFor(1);

        assertThat(commands(Duration.ofSeconds(10))).hasSizeBetween(2, 10);

        await(held.release());
        await(first.join().release());
        await(second.join().release());
    }

    @Test
    void aClientBehindThemSendsOneCommandInAClaimTime() {
        LockLease held = await(others.lock("orders").with(LONG).acquire());
        List<CompletableFuture<LockLease>> ahead = new ArrayList<>();
        for (int i = 1; i <= 2; i++) {
            ahead.add(others.lock("orders").acquire().toFuture());
            eventuallyQueued("orders", i);
        }
        CompletableFuture<LockLease> third = waiting.lock("orders").acquire().toFuture();
        listens();
        isSilentFor(1);

        assertThat(commands(Duration.ofSeconds(11))).hasSizeBetween(4, 8);

        await(held.release());
        ahead.forEach(one -> await(one.join().release()));
        await(third.join().release());
    }

    @Test
    void afterTheLastWaiterHasLeftTheClientSendsNothing() {
        LockLease held = await(others.lock("orders").with(LONG).acquire());
        Disposable first = waiting.lock("orders").acquire().subscribe();
        listens();

        first.dispose();
        eventuallyQueued("orders", 0);
        isSilentFor(2);

        assertThat(commands(Duration.ofSeconds(5))).isEmpty();
        await(held.release());
    }

    private void eventuallyQueued(String name, long waiters) {
        eventually(() -> Store.waiting(store.redis(), Store.holderKey(name)) == waiters);
    }

    /** Waits until the waiting client has its connection, and the server has confirmed the subscription. */
    private void listens() {
        eventually(() -> {
            List<Connection> open = connections();
            return open.size() == 1 && open.get(0).subscriptions() == 1;
        });
    }

    /** Measures by the clock of the server: a delay of this JVM on a slow machine does not count. */
    private void isSilentFor(int seconds) {
        eventually(() -> connections().stream().allMatch(it -> it.idleSeconds() >= seconds));
    }

    /** Returns the connections of the waiting client. */
    private List<Connection> connections() {
        return CONNECTION
                .matcher(store.redis().clientList())
                .results()
                .map(it -> new Connection(it.group(1), Long.parseLong(it.group(2)), Integer.parseInt(it.group(3))))
                .toList();
    }

    /** Returns all commands that the waiting client sends in this time. */
    private List<String> commands(Duration time) {
        Set<String> of = connections().stream().map(Connection::address).collect(Collectors.toSet());
        List<String> seen = new ArrayList<>();
        Pattern line = Pattern.compile("\\+\\S+ \\[\\d+ (\\S+)] (.*)");
        long end = System.nanoTime() + time.toNanos();
        try (Socket monitor = new Socket(store.server.host(), store.server.port())) {
            monitor.setSoTimeout(100);
            monitor.getOutputStream().write("MONITOR\r\n".getBytes(StandardCharsets.UTF_8));
            BufferedReader lines =
                    new BufferedReader(new InputStreamReader(monitor.getInputStream(), StandardCharsets.UTF_8));
            while (System.nanoTime() - end < 0) {
                Matcher command = line.matcher(String.valueOf(nextOf(lines)));
                if (command.matches() && of.contains(command.group(1))) {
                    seen.add(command.group(2));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return seen;
    }

    private static String nextOf(BufferedReader lines) throws IOException {
        try {
            return lines.readLine();
        } catch (SocketTimeoutException nothing) {
            return "";
        }
    }
}
