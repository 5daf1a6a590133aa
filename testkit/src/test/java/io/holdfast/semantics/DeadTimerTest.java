package io.holdfast.semantics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.holdfast.LockClient;
import io.holdfast.LockClosedException;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.LossReason;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockAttempt;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** A client whose timer dies ends and signals the reason, even if no other event happens in it. */
class DeadTimerTest {

    private static final Duration SOON = Duration.ofSeconds(5);

    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final Scheduler timer = Schedulers.newSingle("timer", true);
    private final InMemoryLockBackend store = InMemoryLockBackend.create();
    private final LockClient client =
            LockClient.builder(store).timer(timer).closeBackend(false).build();
    private final LockClient rival =
            LockClient.builder(store).closeBackend(false).build();

    @BeforeEach
    void listen() {
        log.start();
        ((Logger) LoggerFactory.getLogger("io.holdfast")).addAppender(log);
    }

    @AfterEach
    void close() {
        ((Logger) LoggerFactory.getLogger("io.holdfast")).detachAppender(log);
        client.close().block(SOON);
        rival.close().block(SOON);
        timer.dispose();
    }

    @Test
    void anIdleHolderGetsTheLossAndTheLockIsFree() {
        LockLease lease = client.lock("a").acquire().block(SOON);
        Mono<LossReason> loss = lease.onLoss().cache();
        loss.subscribe();

        timer.dispose();

        assertThat(loss.block(SOON)).isEqualTo(LossReason.CLIENT_CLOSED);
        assertThat(lease.isValid()).isFalse();
        assertThat(rival.lock("a").acquire().block(SOON).isValid()).isTrue();
        assertThat(errors()).singleElement().asString().contains("timer was disposed");
    }

    @Test
    void workUnderALockEnds() {
        Mono<Object> work = client.lock("a").withLock(Mono.never()).cache();
        work.subscribe(done -> {}, lost -> {});

        timer.dispose();

        assertThatThrownBy(() -> work.block(SOON)).isInstanceOf(LockLostException.class);
    }

    @Test
    void aWaitEndsWithAnErrorThatSaysWhy() {
        LockLease holder = rival.lock("a").acquire().block(SOON);
        Mono<LockLease> waiting = client.lock("a").acquire().cache();
        waiting.subscribe(lease -> {}, ended -> {});

        timer.dispose();

        assertThatThrownBy(() -> waiting.block(SOON))
                .isInstanceOf(LockClosedException.class)
                .hasMessageContaining("timer was disposed");
        holder.release().block(SOON);
        assertThat(store.contents()).isEmpty();
    }

    @Test
    void aRequestThatIsNeverAnsweredEnds() {
        ScriptedStore silent = new ScriptedStore();
        silent.onAttempt = claim -> Mono.never();
        LockClient waits = LockClient.builder(silent).timer(timer).build();
        Mono<LockLease> asked = waits.lock("a").tryAcquire().cache();
        asked.subscribe(lease -> {}, ended -> {});

        timer.dispose();

        assertThatThrownBy(() -> asked.block(SOON)).isInstanceOf(LockClosedException.class);
        waits.close().block(SOON);
    }

    @Test
    void laterAcquisitionsFailAndSayWhy() {
        timer.dispose();

        assertThatThrownBy(() -> client.lock("a").acquire().block(SOON))
                .isInstanceOf(LockClosedException.class)
                .hasMessageContaining("timer was disposed");
        assertThatThrownBy(() -> client.lock("a").tryAcquire().block(SOON)).isInstanceOf(LockClosedException.class);
        assertThat(errors()).singleElement().asString().contains("timer was disposed");
        assertThat(store.contents()).isEmpty();
    }

    @Test
    void aTimerThatTakesTasksAndNeverRunsThemIsReplaced() {
        ScriptedStore busy = new ScriptedStore();
        busy.onAttempt = claim -> Mono.just(new LockAttempt.Queued(Duration.ofMinutes(1)));
        LockClient waits = LockClient.builder(busy).timer(new Swallowing()).build();
        LockOptions brief =
                LockOptions.builder().waitTimeout(Duration.ofMillis(100)).build();

        assertThatThrownBy(() -> waits.lock("a").with(brief).acquire().block(SOON.multipliedBy(2)))
                .isInstanceOf(LockTimeoutException.class);
        assertThat(busy.released).containsExactly("a");
        waits.close().block(SOON);
    }

    private List<String> errors() {
        return List.copyOf(log.list).stream()
                .filter(event -> event.getLevel() == Level.ERROR)
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    /** Drops its tasks, without an error. */
    private static final class Swallowing implements Scheduler {

        @Override
        public Disposable schedule(Runnable task) {
            return Disposables.single();
        }

        @Override
        public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
            return Disposables.single();
        }

        @Override
        public Worker createWorker() {
            throw new UnsupportedOperationException("this test uses no worker");
        }
    }
}
