package io.holdfast.r2dbc.internal.lane;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.LIST;
import static org.assertj.core.api.InstanceOfAssertFactories.THROWABLE;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockKind;
import io.holdfast.r2dbc.internal.dialect.Dialect;
import io.holdfast.r2dbc.internal.dialect.KnownError;
import io.holdfast.r2dbc.internal.dialect.Session;
import io.holdfast.r2dbc.internal.dialect.SessionSettings;
import io.holdfast.r2dbc.internal.error.SqlFailures;
import io.holdfast.r2dbc.internal.protocol.Answer;
import io.holdfast.r2dbc.internal.protocol.Operation;
import io.holdfast.r2dbc.internal.protocol.Operation.Verb;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.R2dbcTransientException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Which calls share a batch. The database of this test answers when the test says so. */
class LaneTest {

    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private boolean isOpen = true;
    private final Connection connection = fake(Connection.class, Map.of("validate", args -> Mono.just(isOpen)));
    private Mono<Connection> making = Mono.just(connection);
    private int made;
    private int dropped;
    private String sessionName = "";
    private int sweeps;
    private boolean isSweepFatal;
    private Mono<Boolean> sweep = Mono.just(false);
    private final List<List<Operation>> batches = new ArrayList<>();
    private final List<Sinks.Many<Answer>> answers = new ArrayList<>();
    private final Dialect dialect = fake(
            Dialect.class,
            Map.of(
                    "database", args -> "a test",
                    "prepare", args -> Mono.just(new Session((Connection) args[0], sessionName)),
                    "interrupt", args -> Mono.never(),
                    "drop", args -> Mono.fromRunnable(() -> dropped++),
                    "explain", args -> Optional.of(new KnownError(true, true, "no room")),
                    "sweep",
                            args -> {
                                sweeps++;
                                throwIf(isSweepFatal);
                                return sweep;
                            },
                    "call", args -> sent(args[4]),
                    "renew", args -> sent(args[2])));
    private final Lanes lanes = new Lanes(
            new Connections(
                    fake(
                            ConnectionFactory.class,
                            Map.of(
                                    "create",
                                    args -> Mono.defer(() -> {
                                        made++;
                                        return making;
                                    }))),
                    dialect,
                    new SessionSettings(null, Duration.ofSeconds(2)),
                    time),
            new SqlFailures(dialect, null, Duration.ofSeconds(2)),
            () -> "channel",
            2_000,
            messages -> {});

    @Test
    void renewalsAndReleasesGoBeforeClaims() {
        send(Verb.ACQUIRE, 0);
        IntStream.rangeClosed(1, 2_000).forEach(i -> send(Verb.ACQUIRE, i));
        send(Verb.RENEW, 2_001);
        send(Verb.RELEASE, 2_002);
        answer(0);
        assertThat(batches.get(1)).hasSize(BatchLimit.MOST);
        assertThat(batches.get(1)).extracting(Operation::verb).contains(Verb.RENEW, Verb.RELEASE);
    }

    /** Otherwise two clients that add rows could wait for each other. */
    @Test
    void callsAreSentInTheOrderOfTheirLocksAndThoseOfOneLockInTheirOwn() {
        List<String> answered = new ArrayList<>();
        send(Verb.PING, 0);
        for (int number : List.of(3, 1, 2)) {
            send(Verb.ACQUIRE, number, () -> answered.add("attempt " + number));
        }
        Disposable release = operation(Verb.RELEASE, 2).subscribe(it -> answered.add("release 2"));
        answer(0);
        assertThat(batches.get(1))
                .extracting(it -> it.verb() + " " + it.lockName())
                .containsExactly("ACQUIRE lock 1", "RELEASE lock 2", "ACQUIRE lock 2", "ACQUIRE lock 3");
        answers.get(1).tryEmitNext(Answer.of(2, "held")).orThrow();
        answers.get(1).tryEmitComplete().orThrow();
        assertThat(answered).startsWith("release 2");
        assertThat(release.isDisposed()).isTrue();
    }

    @Test
    void batchAfterASlowOneIsSmaller() {
        IntStream.rangeClosed(0, 2_000).forEach(i -> send(Verb.ACQUIRE, i));
        answer(0);
        time.advanceTimeBy(Duration.ofSeconds(1));
        answer(1);
        assertThat(batches.get(2)).hasSize(BatchLimit.MOST / 2);
    }

    @Test
    void operationWithoutARowInTheAnswerFails() {
        List<Throwable> errors = new ArrayList<>();
        Disposable sent = operation(Verb.RENEW, 0).subscribe(it -> {}, errors::add);
        answers.get(0).tryEmitComplete().orThrow();
        assertThat(errors)
                .singleElement(as(THROWABLE))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("lock 0")
                .hasMessageContaining("the answer has no row for this operation");
        send(Verb.RENEW, 1);
        assertThat(batches).as("batches, with a free connection").hasSize(2);
        assertThat(sent.isDisposed()).isTrue();
    }

    /** On a full disk, an attempt adds a row, and a renewal changes one. */
    @Test
    void callsThatNeedLessThanARefusedCallAreSentAgainWithoutIt() {
        send(Verb.ACQUIRE, 0);
        send(Verb.ACQUIRE, 1);
        send(Verb.RENEW, 2);
        send(Verb.RELEASE, 3);
        answer(0);
        send(Verb.ACQUIRE, 4);
        refuse(1);
        assertThat(batches.get(2)).extracting(Operation::verb).containsExactly(Verb.RENEW, Verb.RELEASE);
        refuse(2);
        assertThat(batches.get(3)).extracting(Operation::verb).containsExactly(Verb.RENEW);
        refuse(3);
        assertThat(batches.get(4)).extracting(Operation::verb).containsExactly(Verb.ACQUIRE);
        refuse(4);
        assertThat(batches).hasSize(5);
    }

    /** The server may refuse something after the commit, such as a notification. */
    @Test
    void releaseThatFindsNothingAfterARefusalIsUnknown() {
        List<Throwable> errors = new ArrayList<>();
        send(Verb.PING, 0);
        Disposable release = operation(Verb.RELEASE, 1).subscribe(it -> {}, errors::add);
        send(Verb.ACQUIRE, 2);
        answer(0);
        refuse(1);
        answers.get(2).tryEmitNext(Answer.of(1, "not_held")).orThrow();
        answers.get(2).tryEmitComplete().orThrow();
        assertThat(errors)
                .singleElement(as(THROWABLE))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("no room");
        assertThat(release.isDisposed()).isTrue();
    }

    /** The state is that of a deadlock, in PostgreSQL 40P01, and in MariaDB and MySQL 40001. */
    @ParameterizedTest
    @ValueSource(strings = {"40P01", "40001"})
    void callThatDeadlocksUndoIsSentAgainEightTimesAndThenFails(String state) {
        List<Integer> failed = new ArrayList<>();
        send(Verb.ACQUIRE, 0, () -> failed.add(batches.size()));
        for (int i = 0; i < 9; i++) {
            assertThat(failed).isEmpty();
            answers.get(i)
                    .tryEmitError(new R2dbcTransientException("deadlock", state) {})
                    .orThrow();
        }
        assertThat(failed).containsExactly(9);
    }

    @Test
    void claimsGoOnWhenTheSubscriberOfTheRenewalBeforeThemHasCancelled() {
        send(Verb.ACQUIRE, 0);
        Disposable renewal = send(Verb.RENEW, 1);
        send(Verb.ACQUIRE, 2, renewal::dispose);
        answer(0);
        send(Verb.ACQUIRE, 3);
        refuse(1);
        assertThat(batches.get(2)).extracting(Operation::verb).containsExactly(Verb.ACQUIRE);
    }

    /** The driver was not loaded yet, on a busy machine. */
    @Test
    void firstConnectionMayTakeLongerThanAReply() {
        making = Mono.delay(Duration.ofSeconds(9), time).thenReturn(connection);
        send(Verb.PING, 0);
        time.advanceTimeBy(Duration.ofSeconds(9));
        assertThat(batches).hasSize(1);
        assertThat(made).isEqualTo(1);
    }

    /** Otherwise each call would open a new connection, and close it when it is ready. */
    @Test
    void serverThatOpensConnectionsSlowlyIsReached() {
        send(Verb.PING, 0);
        answer(0);
        isOpen = false;
        making = Mono.delay(Duration.ofSeconds(3), time).thenReturn(connection);
        List<Throwable> errors = new ArrayList<>();
        Disposable second = operation(Verb.PING, 1).subscribe(it -> {}, errors::add);
        time.advanceTimeBy(Duration.ofMillis(2_500));
        assertThat(errors).singleElement(as(THROWABLE)).hasMessageContaining("failed after 2000 ms");
        assertThat(second.isDisposed()).isTrue();

        send(Verb.PING, 2);
        time.advanceTimeBy(Duration.ofSeconds(3));
        assertThat(batches)
                .as("batches, as the third connection has twice as much time")
                .hasSize(2);
        assertThat(made).isEqualTo(3);
        assertThat(dropped).as("dropped connections that came late").isEqualTo(1);
    }

    /** No driver ends a handshake, so each one keeps a socket. */
    @Test
    void handshakesThatTheServerNeverAnswersAreFewAndAServerThatAnswersAgainIsFound() {
        making = Mono.never();
        for (int i = 0; i < 360; i++) {
            send(Verb.PING, i);
            time.advanceTimeBy(Duration.ofSeconds(10));
        }
        assertThat(made)
                .as("sockets after an hour")
                .isBetween(OpeningLimit.MOST_HANGING + 50, OpeningLimit.MOST_HANGING + 60);
        making = Mono.just(connection);
        while (batches.isEmpty()) {
            send(Verb.PING, 0);
            time.advanceTimeBy(Duration.ofSeconds(10));
        }
        assertThat(Duration.ofMillis(time.now(TimeUnit.MILLISECONDS))).isLessThanOrEqualTo(Duration.ofMinutes(62));
    }

    @Test
    void connectionsMayBeginAgainWhenHangingOnesEnd() {
        Sinks.One<Connection> late = Sinks.one();
        making = late.asMono();
        for (int i = 0; i < OpeningLimit.MOST_HANGING + 6; i++) {
            send(Verb.PING, i);
            time.advanceTimeBy(Duration.ofSeconds(10));
        }
        late.tryEmitError(new IllegalStateException("reset")).orThrow();
        int before = made;
        making = Mono.just(connection);
        send(Verb.PING, 0);
        assertThat(made).isEqualTo(before + 1);
        assertThat(batches).hasSize(1);
    }

    /** An opening that did not begin has no end. */
    @Test
    void openingThatMayNotBeginDoesNotCountAsHanging() {
        Sinks.One<Connection> hanging = hang();
        send(Verb.PING, 0);
        assertThat(made).as("sockets").isEqualTo(OpeningLimit.MOST_HANGING);
        hanging.tryEmitError(new IllegalStateException("reset")).orThrow();
        time.advanceTimeBy(Duration.ofSeconds(10));
        Sinks.One<Connection> next = hang();
        assertThat(made).as("sockets").isEqualTo(2 * OpeningLimit.MOST_HANGING);
        send(Verb.PING, 0);
        assertThat(made).as("sockets").isEqualTo(2 * OpeningLimit.MOST_HANGING);
        next.tryEmitError(new IllegalStateException("reset")).orThrow();
    }

    @Test
    void handshakesFromBeforeAnOpenConnectionDoNotMakeRoomForOthersWhenTheyEnd() {
        Sinks.One<Connection> old = hang();
        making = Mono.just(connection);
        while (batches.isEmpty()) {
            time.advanceTimeBy(Duration.ofSeconds(10));
            send(Verb.PING, 0);
        }
        answer(0);
        isOpen = false;
        Sinks.One<Connection> fresh = hang();
        int before = made;
        assertThat(before).as("sockets").isEqualTo(2 * OpeningLimit.MOST_HANGING + 1);

        old.tryEmitError(new IllegalStateException("reset")).orThrow();
        send(Verb.PING, 0);
        assertThat(made).as("sockets after the end of the old ones").isEqualTo(before);
        time.advanceTimeBy(Duration.ofSeconds(10));
        fresh.tryEmitError(new IllegalStateException("reset")).orThrow();
        send(Verb.PING, 0);
        assertThat(made).as("sockets after the end of the others").isEqualTo(before + 1);
    }

    /** Begins as many handshakes as may hang, one after the other. The server answers them when the test says so. */
    private Sinks.One<Connection> hang() {
        Sinks.One<Connection> late = Sinks.one();
        making = late.asMono();
        for (int i = 0; i < OpeningLimit.MOST_HANGING; i++) {
            send(Verb.PING, i);
            time.advanceTimeBy(Duration.ofSeconds(10));
        }
        return late;
    }

    /** A server that is silent on one connection may be so on the next one, which would end the session of the first. */
    @Test
    void connectionThatIsToEndASilentSessionIsDroppedTooWhenTheServerStaysSilent() {
        sessionName = "session 1";
        send(Verb.RENEW, 0);
        time.advanceTimeBy(Duration.ofSeconds(10));
        assertThat(made).isEqualTo(2);
        assertThat(dropped).isEqualTo(2);
    }

    @Test
    void callsCancelledWhileTheConnectionOpensAreNotSent() {
        making = Mono.delay(Duration.ofSeconds(3), time).thenReturn(connection);
        Disposable left = send(Verb.ACQUIRE, 0);
        send(Verb.ACQUIRE, 1);
        left.dispose();
        time.advanceTimeBy(Duration.ofSeconds(3));
        assertThat(batches)
                .singleElement(as(LIST))
                .extracting(sent -> ((Operation) sent).lockName())
                .containsExactly("lock 1");
    }

    /** A client asks for a sweep after 64 batches, but not within 20 s. */
    @Test
    void sweepThatFailsIsLoggedOnceUntilASweepSucceeds() {
        int warnings = warningsOf(() -> {
            for (boolean fails : List.of(true, true, false, true)) {
                sweep = fails ? Mono.error(new R2dbcTransientException("no", "55000") {}) : Mono.just(false);
                sendBatches();
                time.advanceTimeBy(Duration.ofSeconds(20));
            }
        });
        assertThat(warnings).isEqualTo(2);
        assertThat(sweeps).isEqualTo(4);
        assertThat(made).as("connections: one for calls, one for sweeps").isEqualTo(2);
    }

    @Test
    void notificationThatFailsIsLoggedOnceUntilOneSucceeds() {
        int warnings = warningsOf(() -> {
            for (String outcome : List.of("unnotified", "unnotified", "notified", "unnotified")) {
                send(Verb.RELEASE, 1);
                Sinks.Many<Answer> sink = answers.get(batches.size() - 1);
                sink.tryEmitNext(Answer.of(0, outcome)).orThrow();
                sink.tryEmitNext(Answer.of(1, "held")).orThrow();
                sink.tryEmitComplete().orThrow();
            }
        });
        assertThat(warnings).isEqualTo(2);
        assertThat(batches).hasSize(4);
    }

    private static int warningsOf(Runnable work) {
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        Logger logger = (Logger) LoggerFactory.getLogger("io.holdfast.r2dbc.R2dbcLockBackend");
        logger.addAppender(log);
        work.run();
        logger.detachAppender(log);
        return log.list.size();
    }

    @Test
    void sweepThatDeletedSomethingIsFollowedByAnotherOne() {
        sweep = Mono.defer(() -> Mono.just(sweeps < 30));
        sendBatches();
        time.advanceTimeBy(Duration.ofSeconds(5));
        assertThat(sweeps).isEqualTo(30);
    }

    @Test
    void callIsNotGivenUpWithAnOlderOne() {
        List<String> failed = new ArrayList<>();
        Disposable old = operation(Verb.RENEW, 0).subscribe(it -> {}, e -> failed.add("old"));
        busy(0);
        time.advanceTimeBy(Duration.ofMillis(900));
        Disposable fresh = operation(Verb.ACQUIRE, 0).subscribe(it -> {}, e -> failed.add("fresh"));
        busy(2);
        time.advanceTimeBy(Duration.ofMillis(100));
        answers.get(1)
                .tryEmitError(new R2dbcTransientException("lock timeout", "HY000", 1205) {})
                .orThrow();
        assertThat(batches.get(3)).hasSize(2);
        time.advanceTimeBy(Duration.ofMillis(500));
        assertThat(failed).containsExactly("old");
        assertThat(old.isDisposed()).isTrue();
        assertThat(fresh.isDisposed()).isFalse();
    }

    @Test
    void callIsGivenUpInTimeBehindAFresherOne() {
        List<String> failed = new ArrayList<>();
        Disposable old = operation(Verb.ACQUIRE, 0).subscribe(it -> {}, e -> failed.add("old"));
        busy(0);
        time.advanceTimeBy(Duration.ofMillis(900));
        Disposable fresh = operation(Verb.RENEW, 0).subscribe(it -> {}, e -> failed.add("fresh"));
        busy(2);
        time.advanceTimeBy(Duration.ofMillis(100));
        answers.get(1)
                .tryEmitError(new R2dbcTransientException("lock timeout", "HY000", 1205) {})
                .orThrow();
        assertThat(batches.get(3)).hasSize(2);
        time.advanceTimeBy(Duration.ofMillis(990));
        assertThat(failed).containsExactly("old");
        assertThat(old.isDisposed()).isTrue();
        assertThat(fresh.isDisposed()).isFalse();
    }

    @Test
    void callsOfSeveralLocksOutliveALockTimeout() {
        List<String> failed = new ArrayList<>();
        send(Verb.RENEW, 9);
        Disposable first = operation(Verb.RENEW, 0).subscribe(it -> {}, e -> failed.add("a"));
        Disposable second = operation(Verb.RENEW, 1).subscribe(it -> {}, e -> failed.add("b"));
        answer(0);
        busy(1);
        time.advanceTimeBy(Duration.ofMillis(100));
        answers.get(2)
                .tryEmitError(new R2dbcTransientException("lock timeout", "55P03", 0) {})
                .orThrow();
        assertThat(failed).isEmpty();
        assertThat(batches.get(3)).as("the next batch, of one lock").hasSize(1);
        answer(3);
        assertThat(batches.get(4)).as("the batch behind it").hasSize(1);
        answer(4);
        assertThat(failed).isEmpty();
        assertThat(first.isDisposed() && second.isDisposed()).isTrue();
    }

    private void busy(int batch) {
        Sinks.Many<Answer> sink = answers.get(batch);
        for (int i = 1; i <= batches.get(batch).size(); i++) {
            sink.tryEmitNext(Answer.of(i, "busy")).orThrow();
        }
        sink.tryEmitComplete().orThrow();
    }

    private void sendBatches() {
        for (int i = 0; i < SweepPace.LEAST_BATCHES; i++) {
            send(Verb.RENEW, i);
            answer(batches.size() - 1);
        }
    }

    @CanIgnoreReturnValue
    private Disposable send(Verb verb, int number) {
        return send(verb, number, () -> {});
    }

    @CanIgnoreReturnValue
    private Disposable send(Verb verb, int number, Runnable whenRefused) {
        return operation(verb, number).subscribe(answer -> {}, error -> whenRefused.run());
    }

    private Mono<Answer> operation(Verb verb, int number) {
        LockClaim claim = LockClaim.first(
                LockKey.of(LockKind.MUTEX, "lock " + number), "claim " + number, Duration.ofSeconds(30), Waiting.NONE);
        return lanes.send(new Operation(verb, claim, false));
    }

    private boolean isFatal;

    @Test
    void errorOfTheJvmInTheDriverDoesNotStopTheLane() {
        isFatal = true;
        try {
            send(Verb.RENEW, 0);
        } catch (LinkageError passedOn) {
            // to the caller
        }
        isFatal = false;
        send(Verb.RENEW, 1);
        time.advanceTimeBy(Duration.ofSeconds(60));
        assertThat(batches).hasSize(1);
    }

    @Test
    void errorOfTheJvmInASweepDoesNotStopTheLaneOfSweeps() {
        isSweepFatal = true;
        try {
            sendBatches();
        } catch (LinkageError passedOn) {
            // to the caller
        }
        isSweepFatal = false;
        time.advanceTimeBy(Duration.ofSeconds(20));
        sendBatches();
        assertThat(sweeps).isEqualTo(2);
    }

    private static void throwIf(boolean isFatal) {
        if (isFatal) {
            throw new NoClassDefFoundError("once");
        }
    }

    private Flux<Answer> sent(Object batch) {
        throwIf(isFatal);
        batches.add(((List<?>) batch).stream().map(Operation.class::cast).toList());
        Sinks.Many<Answer> sink = Sinks.many().unicast().onBackpressureBuffer();
        answers.add(sink);
        return sink.asFlux();
    }

    private void answer(int batch) {
        Sinks.Many<Answer> sink = answers.get(batch);
        for (int i = 1; i <= batches.get(batch).size(); i++) {
            sink.tryEmitNext(Answer.of(i, batches.get(batch).get(i - 1).verb() == Verb.ACQUIRE ? "contended" : "held"))
                    .orThrow();
        }
        sink.tryEmitComplete().orThrow();
    }

    private void refuse(int batch) {
        answers.get(batch)
                .tryEmitError(new R2dbcTransientException("no room") {})
                .orThrow();
    }

    private interface Method {
        Object call(Object[] arguments);
    }

    /** Returns a stand-in whose other methods are never called. */
    private static <T> T fake(Class<T> type, Map<String, Method> methods) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> methods.get(method.getName()).call(arguments)));
    }
}
