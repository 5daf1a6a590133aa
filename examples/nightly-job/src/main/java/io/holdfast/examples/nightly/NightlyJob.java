package io.holdfast.examples.nightly;

import io.holdfast.vertx.VertxLocks;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import java.time.Clock;
import java.time.Duration;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs once per night, not once per instance. Each instance starts by its own clock, so it may come seconds or hours after another instance has
 * finished and released the lock. The book then says that the night is done. If the instance at work dies, a waiting instance takes over at once.
 */
final class NightlyJob extends VerticleBase {

    private static final Logger LOG = LoggerFactory.getLogger(NightlyJob.class);
    private static final Duration AGAIN_AFTER_A_FAILURE = Duration.ofMinutes(1);

    private final VertxLocks locks;
    private final NightBook book;
    private final Supplier<Future<List<Statement>>> work;
    private final Nights nights;
    private final Clock clock;

    NightlyJob(VertxLocks locks, NightBook book, Supplier<Future<List<Statement>>> work, Nights nights, Clock clock) {
        this.locks = locks;
        this.book = book;
        this.work = work;
        this.nights = nights;
        this.clock = clock;
    }

    @Override
    public Future<?> start() {
        runAndPlanTheNext();
        return Future.succeededFuture(); // does not wait for the work of the night
    }

    private void runAndPlanTheNext() {
        LocalDate night = nights.lastDue(LocalDateTime.now(clock));
        run(night)
                .onComplete(
                        isDone -> {
                            LOG.info("night {}: {}", night, isDone ? "done" : "nothing to do");
                            planIn(nights.untilNext(LocalDateTime.now(clock)));
                        },
                        failure -> {
                            LOG.warn("night {} failed", night, failure);
                            planIn(AGAIN_AFTER_A_FAILURE);
                        });
    }

    private void planIn(Duration pause) {
        vertx.setTimer(Math.max(1, pause.toMillis()), timer -> runAndPlanTheNext());
    }

    // README: begin
    private Future<Boolean> run(LocalDate night) {
        return locks.lock("nightly-job").withLock(lease -> {
            long token = lease.fencingToken();
            return book.begin(night, token) // false: the night is done, or a later owner was here
                    .compose(isOurs -> isOurs
                            ? work.get().compose(result -> book.finish(night, token, result))
                            : Future.succeededFuture(false));
        });
    }
    // README: end

    @Override
    public Future<?> stop() {
        return locks.drain();
    }
}
