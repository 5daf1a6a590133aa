package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static io.holdfast.redis.ClientOverRedis.pause;
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
    private static final Pattern ADDRESS = Pattern.compile(" addr=(\\S+) .* name=" + WAITING + " ");

    /** Its holder renews it seldom. */
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
        Set<String> mine = twoConnections();

        assertThat(commands(mine, Duration.ofSeconds(10))).hasSizeBetween(2, 10);

        await(held.release());
        await(first.join().release());
        await(second.join().release());
    }

    @Test
    void aClientBehindThemSendsOneCommandInTenSecondsAtMost() {
        LockLease held = await(others.lock("orders").with(LONG).acquire());
        List<CompletableFuture<LockLease>> ahead = new ArrayList<>();
        for (int i = 1; i <= 2; i++) {
            ahead.add(others.lock("orders").acquire().toFuture());
            eventuallyQueued("orders", i);
        }
        CompletableFuture<LockLease> third = waiting.lock("orders").acquire().toFuture();
        Set<String> mine = twoConnections();

        assertThat(commands(mine, Duration.ofSeconds(19))).hasSizeLessThanOrEqualTo(2);

        await(held.release());
        ahead.forEach(one -> await(one.join().release()));
        await(third.join().release());
    }

    @Test
    void twoSecondsAfterTheLastWaiterHasLeftTheClientSendsNothing() {
        LockLease held = await(others.lock("orders").with(LONG).acquire());
        Disposable first = waiting.lock("orders").acquire().subscribe();
        Set<String> mine = twoConnections();

        first.dispose();
        eventuallyQueued("orders", 0);
        pause(Duration.ofSeconds(2));

        assertThat(commands(mine, Duration.ofSeconds(5))).isEmpty();
        await(held.release());
    }

    private void eventuallyQueued(String name, long waiters) {
        eventually(() -> store.redis().zcard(Store.holderKey(name) + ":queue") == waiters);
    }

    /** Those of the waiting client, when it has both and all that belongs to its start is over. */
    private Set<String> twoConnections() {
        eventually(() -> connections().size() == 2);
        pause(Duration.ofSeconds(1));
        return connections();
    }

    private Set<String> connections() {
        return ADDRESS.matcher(store.redis().clientList())
                .results()
                .map(it -> it.group(1))
                .collect(Collectors.toSet());
    }

    private List<String> commands(Set<String> of, Duration time) {
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
