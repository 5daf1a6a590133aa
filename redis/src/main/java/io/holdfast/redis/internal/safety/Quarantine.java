package io.holdfast.redis.internal.safety;

import io.holdfast.LockBackendException;
import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.connection.ServerInfo;
import io.holdfast.redis.internal.connection.ServerQuery;
import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.holdfast.redis.internal.error.KnownError;
import io.holdfast.redis.internal.topology.Topology;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.Printable;
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
 * Keeps a server that started lately from granting anything: it may have forgotten locks that are still held. That is the delayed
 * restart of the Redlock paper, done by the client.
 *
 * <p>The server's uptime is asked for once per connection, and an attempt counts only if it was answered on that connection: a restarted
 * server is another connection.
 */
public final class Quarantine {

    private static final Logger LOG = EvictionCheck.LOG;

    /** The server subtracts whole seconds from whole seconds: it may say up to one more than it is old. */
    private static final long RESOLUTION_SECONDS = 1;

    private final Topology topology;
    private final ExceptionTranslator failures;
    private final long lengthNanos;
    private final LongSupplier nanoTime;
    private final AtomicBoolean hasWarned = new AtomicBoolean();

    /** Null before the first attempt, and after a reading that failed. */
    private final AtomicReference<@Nullable Reading> last = new AtomicReference<>();

    /** What was read on one connection of the link, or is being read. */
    private record Reading(CommandLink link, int epoch, CompletableFuture<Age> age) {}

    /**
     * How old the server was at least when that was read; empty when it does not tell.
     *
     * @param epoch the connection it was read on
     */
    private record Age(CommandLink link, int epoch, OptionalLong nanos, long readAt) {

        long restOf(long lengthNanos, long now) {
            return nanos.isEmpty() ? 0 : lengthNanos - nanos.getAsLong() - (now - readAt);
        }

        /** How long the server has been up at least. */
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

    /** A lease that outlives the quarantine is one that a restarted server may grant again. */
    public void checkLease(Duration lease) {
        if (!isOff() && lease.compareTo(Duration.ofNanos(lengthNanos)) > 0) {
            throw new IllegalArgumentException(
                    "leaseDuration %s is longer than the quarantine %s of Redis at %s: after a restart the server would grant a lock that is still held; set quarantine to at least the longest leaseDuration of all clients, or shorten leaseDuration"
                            .formatted(lease, Duration.ofNanos(lengthNanos), failures.server()));
        }
    }

    /**
     * The answer to an attempt, or the failure that says for how long the server may not grant. It is no contention, and the server is not asked.
     *
     * @param key by which the server is found
     * @param subject for messages
     * @param look asks the server
     */
    public Mono<LockAttempt> guard(
            String key, Supplier<ExceptionTranslator.Subject> subject, Supplier<Mono<LockAttempt>> look) {
        if (isOff()) {
            return look.get();
        }
        return age(key, subject).flatMap(age -> {
            long now = nanoTime.getAsLong();
            long rest = age.restOf(lengthNanos, now);
            return rest > 0
                    ? Mono.error(failures.inQuarantine(
                            subject.get(), age.upFor(now), Duration.ofNanos(lengthNanos), roundedUp(rest)))
                    : look.get().map(attempt -> checked(age, attempt, subject));
        });
    }

    private Mono<Age> age(String key, Supplier<ExceptionTranslator.Subject> subject) {
        return result(() -> topology.linkFor(key), subject)
                .flatMap(link -> result(() -> ageOf(link), subject)
                        // Nothing else is sent before the age is known that could find out a silent connection.
                        .doOnCancel(() -> link.doubt(link.ready(), () -> topology.silent(link))));
    }

    /** A failure is made a value on the way: of a future that fails after the cancellation, each would be logged as an error. */
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

    /** A yes on another connection may be that of a server that has started since. Its outcome is unknown: it is to be released. */
    private LockAttempt checked(Age age, LockAttempt attempt, Supplier<ExceptionTranslator.Subject> subject) {
        if (attempt instanceof LockAttempt.Acquired && age.link().epoch() != age.epoch()) {
            throw failed(subject);
        }
        return attempt;
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
        if (seconds.isEmpty()) {
            warn();
        }
        OptionalLong nanos = seconds.isEmpty()
                ? seconds
                : OptionalLong.of(TimeUnit.SECONDS.toNanos(Math.max(0, seconds.getAsLong() - RESOLUTION_SECONDS)));
        mine.age().complete(new Age(mine.link(), mine.epoch(), nanos, nanoTime.getAsLong()));
    }

    private void warn() {
        if (hasWarned.compareAndSet(false, true)) {
            LOG.warn(
                    "Redis at {} does not tell its uptime, so there is no quarantine: after a restart it may grant a lock that is "
                            + "still held. Allow the user +info.",
                    Printable.text(failures.server()));
        }
    }
}
