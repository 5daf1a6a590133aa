package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockOptions;
import io.holdfast.redlock.internal.master.MasterSettings;
import io.holdfast.redlock.internal.master.Masters;
import io.holdfast.redlock.internal.master.Pings;
import io.holdfast.redlock.internal.master.WallClock;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;
import reactor.test.subscriber.TestSubscriber;

/**
 * Five masters in virtual time, and clients with wires of their own to each. After each test, no master may have
 * anything left.
 */
final class Five implements AfterEachCallback {

    static final String NAME = "stock/42";
    static final Duration LEASE = Duration.ofSeconds(30);

    /** The default time limit of a master at that lease. */
    static final Duration LIMIT = Duration.ofMillis(300);

    final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    final List<Master> masters =
            Stream.generate(() -> new Master(time)).limit(5).toList();
    final List<Vote> votes = new ArrayList<>();
    private final List<Client> clients = new ArrayList<>();

    /** One client of the five. */
    final class Client {

        final List<Wire> wires = IntStream.range(0, 5)
                .mapToObj(i -> new Wire(() -> masters.get(i), time))
                .toList();
        final MutableClock clock = new MutableClock(time);
        final RedlockBackend backend;
        final LockClient locks;

        Client(LockOptions options) {
            backend = RedlockBackend.builder(wires)
                    .names(List.of("one", "two", "three", "four", "five"))
                    .timer(time)
                    .wallClock(clock)
                    .listener(votes::add)
                    .closeMasters(false)
                    .build();
            locks = LockClient.builder(backend).timer(time).options(options).build();
        }

        void down(Integer... numbers) {
            Stream.of(numbers).forEach(i -> wires.get(i - 1).fateOfRequest = () -> Wire.Fate.IS_REFUSED);
        }

        void hung(Integer... numbers) {
            Stream.of(numbers).forEach(i -> wires.get(i - 1).fateOfRequest = () -> Wire.Fate.IS_LOST);
        }

        void up() {
            wires.forEach(it -> {
                it.fateOfRequest = () -> Wire.Fate.ARRIVES;
                it.fateOfReply = () -> Wire.Fate.ARRIVES;
                it.delayNanos = () -> 0;
            });
        }

        /** Takes half of the time for the request and half for the reply. */
        void roundTrip(int number, Duration time) {
            wires.get(number - 1).delayNanos = () -> time.toNanos() / 2;
        }

        @CanIgnoreReturnValue
        LockAttempt attempt(LockClaim claim) {
            return answer(backend.tryAcquire(claim));
        }

        @CanIgnoreReturnValue
        long mustAcquire(LockClaim claim) {
            LockAttempt answer = attempt(claim);
            assertThat(answer).isInstanceOf(LockAttempt.Acquired.class);
            return ((LockAttempt.Acquired) answer).fencingToken();
        }
    }

    /** The masters of a client, without a back end over them. */
    Masters masters(Client client) {
        Masters masters = new Masters(new MasterSettings(
                List.copyOf(client.wires),
                List.of("one", "two", "three", "four", "five"),
                time,
                null,
                null,
                () -> 0.5,
                new WallClock(client.clock)));
        Pings.toMajority(masters).subscribe(); // each has answered: later answers get the usual time
        client.wires.forEach(it -> it.requests = 0);
        return masters;
    }

    Client client() {
        return client(LockOptions.defaults());
    }

    Client client(LockOptions options) {
        Client client = newClient(options);
        subscribe(client.backend.ping()); // each master has answered: later answers get the usual time
        client.wires.forEach(it -> it.requests = 0);
        return client;
    }

    /** A client that has never got an answer of a master. */
    Client newClient(LockOptions options) {
        Client client = new Client(options);
        clients.add(client);
        return client;
    }

    static LockClaim claim() {
        return claim(NAME, Waiting.NONE);
    }

    static LockClaim claim(String name, Waiting waiting) {
        return LockClaim.first(
                LockKey.of(LockKind.MUTEX, name), UUID.randomUUID().toString(), LEASE, waiting);
    }

    void pass(Duration some) {
        time.advanceTimeBy(some);
    }

    void passMillis(long millis) {
        pass(Duration.ofMillis(millis));
    }

    long millis() {
        return time.now(TimeUnit.MILLISECONDS);
    }

    @CanIgnoreReturnValue
    <T> TestSubscriber<T> subscribe(Mono<T> mono) {
        TestSubscriber<T> subscriber = TestSubscriber.create();
        mono.subscribe(subscriber);
        pass(Duration.ZERO);
        return subscriber;
    }

    /** Returns the answer, which must come within five seconds of virtual time. */
    @CanIgnoreReturnValue
    <T> T answer(Mono<T> mono) {
        TestSubscriber<T> subscriber = subscribe(mono);
        for (int i = 0; i < 5_000 && !subscriber.isTerminatedOrCancelled(); i++) {
            passMillis(1);
        }
        if (subscriber.isTerminatedError()) {
            throw (RuntimeException) subscriber.expectTerminalError();
        }
        assertThat(subscriber.getReceivedOnNext()).as("exactly one answer").hasSize(1);
        return subscriber.getReceivedOnNext().get(0);
    }

    /** Returns the numbers of the masters at which any claim holds the lock. */
    List<Integer> holding() {
        return holding(NAME);
    }

    List<Integer> holding(String name) {
        return IntStream.range(0, 5)
                .filter(i -> masters.get(i).holds(name))
                .mapToObj(i -> i + 1)
                .toList();
    }

    /** Returns everything at the masters, such as claims that want a hint. */
    List<String> contents() {
        return masters.stream().flatMap(it -> it.contents().stream()).toList();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        clients.forEach(Client::up);
        clients.forEach(it -> subscribe(it.locks.close()));
        pass(Duration.ofSeconds(5));
        for (Client client : clients) {
            assertThat(client.backend.releaseCount()).as("releases under way").isZero();
        }
        assertThat(contents()).as("left at the masters").isEmpty();
    }
}
