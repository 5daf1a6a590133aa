package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.support.ForwardingLockBackend;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

class RedlockBuilderTest {

    private static List<LockBackend> memory(int masters) {
        return Stream.<LockBackend>generate(InMemoryLockBackend::create)
                .limit(masters)
                .toList();
    }

    private static LockBackend offering(LockFeature... features) {
        LockBackend store = InMemoryLockBackend.create();
        return new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return store;
            }

            @Override
            public Set<LockFeature> features() {
                return Set.of(features);
            }
        };
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void fewerThanThreeMastersAreRefusedWithWhatToUseInstead(int number) {
        assertThatThrownBy(() -> RedlockBackend.over(memory(number)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at least three, was " + number)
                .hasMessageContaining("use one master without RedlockBackend");
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 6})
    void evenNumberOfMastersIsRefusedWithWhatToUseInstead(int number) {
        assertThatThrownBy(() -> RedlockBackend.over(memory(number)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("odd number, was " + number)
                .hasMessageContaining("use %d or %d", number - 1, number + 1);
    }

    @Test
    void sameMasterTwiceIsRefused() {
        LockBackend one = InMemoryLockBackend.create();
        assertThatThrownBy(() -> RedlockBackend.over(List.of(one, InMemoryLockBackend.create(), one)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("number 3 is there twice");
    }

    @Test
    void masterWhoseTokensCannotBeRaisedIsRefused() {
        List<LockBackend> masters =
                List.of(InMemoryLockBackend.create(), offering(LockFeature.FIFO), InMemoryLockBackend.create());
        assertThatThrownBy(() -> RedlockBackend.over(masters))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("number 2, 'memory'")
                .hasMessageContaining("TOKEN_FLOOR");
    }

    @Test
    void readWriteLocksAreOfferedWhenAllMastersOfferThem() {
        assertThat(RedlockBackend.over(memory(3)).features())
                .containsExactlyInAnyOrder(
                        LockFeature.READ_WRITE,
                        LockFeature.TOKEN_FLOOR,
                        LockFeature.HOLDERS,
                        LockFeature.MIN_HOLD,
                        LockFeature.DOWNGRADE);
        List<LockBackend> mixed =
                List.of(InMemoryLockBackend.create(), InMemoryLockBackend.create(), offering(LockFeature.TOKEN_FLOOR));
        assertThat(RedlockBackend.over(mixed).features()).containsExactly(LockFeature.TOKEN_FLOOR);
        LockClient client = LockClient.create(RedlockBackend.over(mixed));
        assertThatThrownBy(() -> client.readWriteLock("x")).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void whatOneMasterAloneCanPromiseIsNotOffered() {
        List<LockBackend> masters =
                Stream.generate(() -> offering(LockFeature.values())).limit(3).toList();
        assertThat(RedlockBackend.over(masters).features())
                .as("queues, runs and permits of several masters would not agree")
                .doesNotContain(
                        LockFeature.RUNS,
                        LockFeature.FIFO,
                        LockFeature.HAND_ON,
                        LockFeature.SEMAPHORE,
                        LockFeature.MANY_PERMITS);
    }

    @Test
    void semaphoreIsRefusedWhenTheLockIsMadeAndWhenItIsAcquired() {
        RedlockBackend backend = RedlockBackend.over(memory(3));
        LockClient client = LockClient.create(backend);
        assertThatThrownBy(() -> client.semaphore("x", 2))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("redlock")
                .hasMessageContaining("semaphores");
        LockClaim permit =
                LockClaim.first(new LockKey(LockKind.SEMAPHORE, "x", 2), "id", Duration.ofSeconds(1), Waiting.NONE);
        StepVerifier.create(backend.tryAcquire(permit))
                .verifyErrorSatisfies(error -> assertThat(error)
                        .isInstanceOf(UnsupportedOperationException.class)
                        .hasMessageContaining("each two can admit a different pair"));
    }

    @Test
    void badOptionsAreRefused() {
        RedlockBackend.Builder builder = RedlockBackend.builder(memory(3));
        assertThatThrownBy(() -> builder.masterTimeLimit(Duration.ofNanos(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at least 1 ms");
        assertThatThrownBy(() -> builder.names(List.of("a", "b")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("each of the 3 masters, were [a, b]");
        assertThatThrownBy(() -> builder.names(List.of("a", "b", "a")))
                .as("answers are counted by the names of their masters")
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a different one for each of the 3 masters, were [a, b, a]");
    }

    @Test
    void mastersAreNamedByKindAndPositionUnlessNamedOtherwise() {
        assertThat(RedlockBackend.over(memory(3))).hasToString("RedlockBackend[memory 1, memory 2, memory 3]");
        assertThat(RedlockBackend.builder(memory(3))
                        .names(List.of("a", "b", "c"))
                        .build())
                .hasToString("RedlockBackend[a, b, c]");
    }

    @Test
    void aClosedBackEndReportsNoHoldersAlsoWhenItsMastersAreOpen() {
        RedlockBackend backend =
                RedlockBackend.builder(memory(3)).closeMasters(false).build();
        backend.close().block();
        StepVerifier.create(backend.holders(LockKey.of(LockKind.MUTEX, "x")))
                .verifyErrorSatisfies(it -> assertThat(it).hasMessageContaining("is closed"));
    }

    @Test
    void closingBeginsWithTheCallAndNotWithTheSubscription() {
        List<LockBackend> owned = memory(3);

        Mono<Void> ignored = RedlockBackend.over(owned).close();

        owned.forEach(it -> StepVerifier.create(it.ping()).verifyError());
        StepVerifier.create(ignored).verifyComplete();
    }

    @Test
    void closingClosesTheMastersUnlessTheyAreBorrowed() {
        List<LockBackend> owned = memory(3);
        StepVerifier.create(RedlockBackend.over(owned).close()).verifyComplete();
        owned.forEach(it -> StepVerifier.create(it.ping()).verifyError());

        List<LockBackend> borrowed = memory(3);
        RedlockBackend backend =
                RedlockBackend.builder(borrowed).closeMasters(false).build();
        StepVerifier.create(backend.close()).verifyComplete();
        StepVerifier.create(backend.close()).verifyComplete();
        borrowed.forEach(it -> StepVerifier.create(it.ping()).verifyComplete());
        StepVerifier.create(backend.ping())
                .verifyErrorMessage("cannot ping: the Redlock back end is closed; create a new one");
        LockClaim claim = LockClaim.first(LockKey.of(LockKind.MUTEX, "x"), "id", Duration.ofSeconds(1), Waiting.NONE);
        StepVerifier.create(backend.tryAcquire(claim)).verifyError();
        StepVerifier.create(backend.renewAll(Collections.nCopies(2, claim))).verifyError();
        StepVerifier.create(backend.release(claim)).verifyError();
        StepVerifier.create(backend.watch(claim)).verifyError();
    }

    private static List<String> warningsOf(List<RedisLockBackend> masters) {
        Logger logger = (Logger) LoggerFactory.getLogger("io.holdfast.redlock.RedlockBackend");
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        logger.addAppender(lines);
        try {
            RedlockBackend.over(masters).close().toFuture().join();
        } finally {
            logger.detachAppender(lines);
        }
        return lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    private static List<RedisLockBackend> redis(UnaryOperator<RedisLockBackend.Builder> options) {
        return Stream.generate(() -> options.apply(RedisLockBackend.builder(RedisURI.create("redis://localhost:1")))
                        .build())
                .limit(3)
                .toList();
    }

    @Test
    void mastersWithoutAQuarantineAreNamedInOneWarning() {
        assertThat(warningsOf(redis(it -> it)))
                .singleElement()
                .asString()
                .startsWith("masters without quarantine: [redis 1, redis 2, redis 3]; ")
                .contains("quarantine of RedisLockBackend.Builder", "docs/operate/redlock.md");
        List<RedisLockBackend> mixed = new ArrayList<>(
                redis(it -> it.quarantine(Duration.ofMinutes(1))).subList(0, 2));
        mixed.add(redis(it -> it).get(0));
        assertThat(warningsOf(mixed)).singleElement().asString().contains(": [redis 3]; ");
    }

    @Test
    void aQuarantineOrTheStatementThatNoneIsNeededIsEnough() {
        assertThat(warningsOf(redis(it -> it.quarantine(Duration.ofMinutes(1)))))
                .isEmpty();
        assertThat(warningsOf(redis(it -> it.quarantine(Duration.ZERO)))).isEmpty();
    }
}
