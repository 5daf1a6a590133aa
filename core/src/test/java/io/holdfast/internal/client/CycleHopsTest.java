package io.holdfast.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * The hops of one uncontended {@code withLock}: how often it passes from one class of the library to another. A back end
 * that answers at once leaves the whole way on one stack, so the stack has each hop, in order.
 */
class CycleHopsTest {

    private final List<String> toBackend = new ArrayList<>();
    private final List<String> toWork = new ArrayList<>();
    private final List<String> toRelease = new ArrayList<>();
    private final List<String> toEnd = new ArrayList<>();

    private final LockClient client = LockClient.create(new InstantBackend() {

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return super.tryAcquire(claim).doOnSubscribe(subscription -> toBackend.addAll(hops()));
        }

        @Override
        public Mono<Ownership> release(LockClaim claim) {
            return super.release(claim).doOnSubscribe(subscription -> toRelease.addAll(hops()));
        }
    });

    @BeforeEach
    void cycle() {
        Disposable unused = client.lock("orders")
                .withLock(Mono.fromRunnable(() -> toWork.addAll(hops())))
                .doOnTerminate(() -> toEnd.addAll(hops()))
                .subscribe();
    }

    @AfterEach
    void close() {
        Object unused = client.close().block(Duration.ofSeconds(5));
    }

    @Test
    void anAcquisitionStaysWithinItsHops() {
        assertThat(toBackend).isNotEmpty();
        assertThat(after(toBackend, toWork, "work")).isNotEmpty();
        assertThat(toWork).hasSizeLessThanOrEqualTo(18);
    }

    @Test
    void aReleaseStaysWithinItsHops() {
        assertThat(after(toWork, toRelease, "release")).hasSizeBetween(1, 4);
        assertThat(after(toWork, toEnd, "end")).hasSizeBetween(1, 7);
    }

    private static List<String> after(List<String> before, List<String> hops, String where) {
        assertThat(hops).startsWith(before.toArray(String[]::new));
        List<String> more = hops.subList(before.size(), hops.size());
        System.out.printf(
                "[holdfast] %d hops, and %d to the %s: %s, %s%n", before.size(), more.size(), where, before, more);
        return more;
    }

    /** Returns the classes of the library on the stack, the outermost first. A class and its superclass are one object. */
    private static List<String> hops() {
        List<Class<?>> hops = new ArrayList<>();
        StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE)
                .walk(frames -> frames.<Class<?>>map(
                                frame -> frame.getDeclaringClass().getNestHost())
                        .filter(it -> it.getName().startsWith("io.holdfast."))
                        .filter(it -> it != CycleHopsTest.class && it != InstantBackend.class)
                        .toList())
                .forEach(it -> {
                    if (hops.isEmpty() || !isSame(it, hops.get(0))) {
                        hops.add(0, it);
                    }
                });
        return hops.stream().map(Class::getSimpleName).toList();
    }

    private static boolean isSame(Class<?> one, Class<?> other) {
        return one.isAssignableFrom(other) || other.isAssignableFrom(one);
    }
}
