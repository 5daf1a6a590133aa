package io.holdfast.redis.internal.safety;

import io.holdfast.LockBackendException;
import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.connection.ServerInfo;
import io.holdfast.redis.internal.connection.ServerQuery;
import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.holdfast.redis.internal.error.KnownError;
import io.holdfast.redis.internal.topology.Topology;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.support.Printable;
import io.lettuce.core.RedisException;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import reactor.core.publisher.Mono;

/**
 * Keeps a server that was started recently from granting anything: it may have forgotten locks that are still held.
 * This is the delayed restart of the Redlock paper, done by the client.
 *
 * <p>The client reads the server's uptime once per connection, and an attempt counts only if it was answered on that
 * connection: a restarted server is another connection.
 */
public final class Quarantine {

    private static final Logger LOG = EvictionCheck.LOG;

    /** The server subtracts whole seconds from whole seconds: the uptime may be up to one second too high. */
    private static final long RESOLUTION_SECONDS = 1;

    private final Topology topology;
    private final ExceptionTranslator failures;
    private final long lengthNanos;
    private final LongSupplier nanoTime;
    private final AtomicBoolean hasWarned = new AtomicBoolean();

    /** Null before the first attempt, and after a reading that failed. */
    private final AtomicReference<@Nullable Reading> last = new AtomicReference<>();

    /** The uptime that was read on one connection of the link, or is being read. */
    private record Reading(CommandLink link, int epoch, CompletableFuture<Age> age) {}

    /**
     * The server's least uptime at the time of the reading; empty if the server does not report it.
     *
     * @param epoch the connection of the reading
     */
    private record Age(CommandLink link, int epoch, OptionalLong nanos, long readAt) {

        long restOf(long lengthNanos, long now) {
            return nanos.isEmpty() ? 0 : lengthNanos - nanos.getAsLong() - (now - readAt);
        }

        /** Returns the server's least uptime now. */
        Duration upFor(long now) {
            return Duration.ofNanos(nanos.orElse(0) + (now - readAt));
        }
    }

    public Quarantine(Topology topology, ExceptionTranslator failures, Duration length, LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.topology = topology;
        this.failures = failures;
        lengthNanos = length.toNanos();
    }

    public boolean isOff() {
        return lengthNanos == 0;
    }

    /** Refuses a lease that outlives the quarantine: a restarted server could grant its lock again. */
    public void checkLease(Duration lease) {
        if (!isOff() && lease.compareTo(Duration.ofNanos(lengthNanos)) > 0) {
            throw new IllegalArgumentException(
                    "leaseDuration %s is longer than the quarantine %s of Redis at %s: after a restart the server would grant a lock that is still held; set quarantine to at least the longest leaseDuration of all clients, or shorten leaseDuration"
                            .formatted(lease, Duration.ofNanos(lengthNanos), failures.server()));
        }
    }

    /**
     * Sends an attempt, or fails with the rest of the quarantine. That failure is not contention, and the client sends
     * nothing to the server.
     *
     * @param key by which the server is found
     * @param subject for messages
     * @param attempt sends the attempt
     */
    public Mono<LockAttempt> guard(
            String key, Supplier<ExceptionTranslator.Subject> subject, Supplier<Mono<LockAttempt>> attempt) {
        if (isOff()) {
            return attempt.get();
        }
        return age(key, subject).flatMap(age -> {
            long now = nanoTime.getAsLong();
            long rest = age.restOf(lengthNanos, now);
            return rest > 0
                    ? Mono.error(failures.inQuarantine(
                            subject.get(), age.upFor(now), Duration.ofNanos(lengthNanos), roundedUp(rest)))
                    : attempt.get().map(answer -> checked(age, answer, subject));
        });
    }

    private Mono<Age> age(String key, Supplier<ExceptionTranslator.Subject> subject) {
        return result(() -> topology.linkFor(key), subject)
                .flatMap(link -> result(() -> ageOf(link), subject)
                        // Before the age is known, the client sends nothing else that could detect a silent connection.
                        .doOnCancel(() -> link.doubt(link.ready(), () -> topology.suspect(link))));
    }

    /**
     * Makes a failure a value on the way: Reactor would log each failure of a future after a cancellation as an error.
     */
    private <T> Mono<T> result(Supplier<CompletableFuture<T>> future, Supplier<ExceptionTranslator.Subject> subject) {
        return Mono.fromFuture(
                        () -> future.get()
                                .handle((value, error) -> error == null
                                        ? Mono.just(value)
                                        : Mono.<T>error(failures.of(subject.get(), error))),
                        true)
                .flatMap(known -> known);
    }

    private static Duration roundedUp(long nanos) {
        return Duration.ofMillis(TimeUnit.NANOSECONDS.toMillis(nanos) + 1);
    }

    /**
     * Checks the connection of an answer. A grant on another connection may be of a server that was started since. Its
     * outcome is unknown, so the engine releases it.
     */
    private LockAttempt checked(Age age, LockAttempt answer, Supplier<ExceptionTranslator.Subject> subject) {
        if (answer instanceof LockAttempt.Acquired && age.link().epoch() != age.epoch()) {
            throw failed(subject);
        }
        return answer;
    }

    private LockBackendException failed(Supplier<ExceptionTranslator.Subject> subject) {
        return failures.of(subject.get(), madeAnew());
    }

    private static RedisException madeAnew() {
        return new RedisException(
                "the connection was closed and made anew meanwhile; the server may have been restarted");
    }

    private CompletableFuture<Age> ageOf(CommandLink link) {
        return link.made().thenCompose(made -> ageOn(link, link.epoch()));
    }

    private CompletableFuture<Age> ageOn(CommandLink link, int epoch) {
        Reading known = last.get();
        if (known != null && known.link() == link && known.epoch() == epoch) {
            return known.age();
        }
        Reading mine = new Reading(link, epoch, new CompletableFuture<>());
        if (!last.compareAndSet(known, mine)) {
            return ageOn(link, epoch);
        }
        var unused = ServerQuery.info(link, "server").whenComplete((text, error) -> read(mine, text, error));
        return mine.age();
    }

    private void read(Reading mine, @Nullable String text, @Nullable Throwable error) {
        boolean isForbidden = error != null && KnownError.isForbidden(error);
        if (mine.link().epoch() != mine.epoch() || (error != null && !isForbidden)) {
            last.compareAndSet(mine, null);
            mine.age().completeExceptionally(error != null ? error : madeAnew());
            return;
        }
        OptionalLong seconds =
                text == null ? OptionalLong.empty() : ServerInfo.parse(text).uptimeSeconds();
        OptionalLong nanos = seconds.isEmpty()
                ? seconds
                : OptionalLong.of(TimeUnit.SECONDS.toNanos(Math.max(0, seconds.getAsLong() - RESOLUTION_SECONDS)));
        mine.age().complete(new Age(mine.link(), mine.epoch(), nanos, nanoTime.getAsLong()));
        if (seconds.isEmpty()) {
            warn();
        }
    }

    private void warn() {
        if (hasWarned.compareAndSet(false, true)) {
            LOG.warn(
                    "Redis at {} does not report its uptime, so there is no quarantine: after a restart it may grant a lock that is "
                            + "still held. Allow the user +info.",
                    Printable.text(failures.server()));
        }
    }
}
