package io.holdfast.test;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockListener;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockKey;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.DynamicTestInvocationContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

// Longer than other files: half of it is the contract for users, and the rest calls the store.

/**
 * Locks for the tests of your own code, without a server. A JUnit extension:
 *
 * <pre>{@code
 * @RegisterExtension
 * final TestLocks locks = TestLocks.virtualTime();
 *
 * final Orders orders = new Orders(locks.client());
 *
 * @Test
 * void givesUpWhenAnotherInstanceIsBusy() {
 *     Rival rival = locks.holdElsewhere("stock/42");
 *     assertThrows(LockTimeoutException.class, () -> locks.await(orders.place(order)));
 *     rival.release();
 * }
 * }</pre>
 *
 * <p>After each test that passed, the extension fails it if a lock is still held or waited for, and names the lock. A
 * test need not release its rivals. Then the extension starts afresh: each test begins without claims, with a back end
 * that answers. In an instance field, the extension closes its clients after each test; in a static field, they stay
 * open for the other tests.
 *
 * <p>It has all kinds of locks. The lock of an election is the mutex of its name. Thread-safe.
 */
public final class TestLocks
        implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, InvocationInterceptor {

    private static final Duration STUCK_AFTER = Duration.ofSeconds(10);

    private final Time time;
    private final TestStore store;
    private final ConcurrentLinkedQueue<LockClient> clients = new ConcurrentLinkedQueue<>();
    private final LockClient client;

    /** Whether several tests share this object; written by JUnit's thread. */
    private boolean isShared;

    TestLocks(Time time) {
        this.time = time;
        store = new TestStore(time.scheduler());
        client = client(builder -> builder);
    }

    /**
     * Returns an extension in virtual time. Time stands still until the test {@linkplain #advance advances} it or
     * {@linkplain #await awaits} a result. Then it passes at once: an hour takes no longer than a second. While a test
     * runs, Reactor's schedulers use the same time, so {@code Mono.delay} and {@code timeout} of the code under test
     * need no scheduler. A publisher that was made before, for example in a field of the test class, does not use it:
     * make it in the test or in {@code @BeforeEach}. Tests in virtual time cannot run concurrently in one JVM; the
     * second one fails.
     *
     * <p>Threads of the code's own, such as those of an executor, do not follow this time: an hour may pass between two
     * of their steps. Use {@link #realTime} for such code.
     *
     * <p>Do not call {@code block()}: no thread would advance the time. The same holds for a {@code StepVerifier} that
     * waits for such an event. A test that does so, or a method around it, fails after 10 s, and the message says why.
     *
     * @return a new extension
     */
    public static TestLocks virtualTime() {
        return new TestLocks(new VirtualTime(STUCK_AFTER));
    }

    /**
     * Returns an extension in the time of the JVM: for code that blocks, or that has threads of its own.
     *
     * @return a new extension
     */
    public static TestLocks realTime() {
        return new TestLocks(new RealTime());
    }

    /**
     * Returns the client for the code under test, with default options.
     *
     * @return always the same instance; an extension in an instance field closes it
     */
    public LockClient client() {
        return client;
    }

    /**
     * Makes another client for the code under test, for example with options of your own, or for a second instance.
     *
     * @param settings changes a builder that has the back end and the timer already
     * @return a new client; an extension in an instance field closes it
     */
    public LockClient client(UnaryOperator<LockClient.Builder> settings) {
        LockClient made = settings.apply(LockClient.builder(store)
                        .timer(time.scheduler())
                        .owner("under-test")
                        .listener(listener())
                        .closeBackend(false))
                .build();
        clients.add(made);
        return made;
    }

    /**
     * Returns the back end of the code under test, for a client that other code makes, such as Spring. Give that client
     * {@link #scheduler} as its timer.
     *
     * @return always the same instance; its {@code close()} does nothing
     */
    public LockBackend backend() {
        return store;
    }

    /**
     * Returns the clock, for code that needs a scheduler.
     *
     * @return a virtual one, or Reactor's own
     */
    public Scheduler scheduler() {
        return time.scheduler();
    }

    /**
     * Lets virtual time pass, on this thread. When this method returns, all tasks that became due have run in order. If
     * it is called inside a task of the clock, those tasks run when that task has ended.
     *
     * @param duration not negative
     * @throws IllegalStateException in real time
     */
    public void advance(Duration duration) {
        time.advance(duration);
    }

    /**
     * Subscribes, and lets virtual time pass until there is a result, for at most one hour. In real time it blocks for
     * at most 10 s.
     *
     * @param mono the publisher; subscribed to on this thread
     * @param <T> the result
     * @return the result; null if it is empty
     * @throws RuntimeException the failure of the {@code Mono}; a checked exception is wrapped, as by {@code block()}
     * @throws AssertionError if there is no result in that time; the subscription is cancelled then. The message names
     *     the locks that the code under test waits for
     */
    @CanIgnoreReturnValue
    public <T> @Nullable T await(Mono<T> mono) {
        return time.await(mono, store::waits);
    }

    /**
     * Lets another process hold a lock.
     *
     * @param lockName the name of a mutex, or of an election, where the rival then leads
     * @return the rival
     * @throws IllegalStateException if the lock is held or waited for
     */
    @CanIgnoreReturnValue
    public Rival holdElsewhere(String lockName) {
        return store.rival(LockKey.of(LockKind.MUTEX, lockName), 1);
    }

    /**
     * Lets another process hold a read lock.
     *
     * @param lockName the name of a read/write lock
     * @return the rival
     * @throws IllegalStateException if a writer holds it or waits for it
     */
    @CanIgnoreReturnValue
    public Rival readElsewhere(String lockName) {
        return store.rival(LockKey.of(LockKind.READ, lockName), 1);
    }

    /**
     * Lets another process hold a write lock.
     *
     * @param lockName the name of a read/write lock
     * @return the rival
     * @throws IllegalStateException if the lock is held or waited for
     */
    @CanIgnoreReturnValue
    public Rival writeElsewhere(String lockName) {
        return store.rival(LockKey.of(LockKind.WRITE, lockName), 1);
    }

    /**
     * Lets another process hold permits of a semaphore.
     *
     * @param lockName the name of a semaphore
     * @param permits the size of the semaphore, as the code under test states it
     * @param taken how many of them the rival takes
     * @return the rival
     * @throws IllegalStateException if too few permits are free
     */
    @CanIgnoreReturnValue
    public Rival permitsElsewhere(String lockName, int permits, int taken) {
        return store.rival(new LockKey(LockKind.SEMAPHORE, lockName, permits), taken);
    }

    /**
     * Returns the hold of the code under test.
     *
     * @param lockName the name of any kind of lock
     * @return the hold, which the test can end or freeze
     * @throws IllegalStateException if the code under test does not hold it, or holds it several times
     */
    public Hold held(String lockName) {
        return store.held(lockName);
    }

    /**
     * Runs a callback each time that the code under test gets a lock in this test, <em>before</em> its work begins. If
     * the callback fails, the test fails at its end.
     *
     * @param lockName the name of any kind of lock
     * @param callback gets the hold, on the acquiring thread; it must not block
     */
    public void onAcquired(String lockName, Consumer<? super Hold> callback) {
        store.onAcquired(lockName, callback);
    }

    /**
     * Makes the back end unreachable: from now on each request of the code under test fails at once with a transient
     * {@link io.holdfast.LockBackendException}, and no signal arrives. Leases last until they expire.
     */
    public void unavailable() {
        store.unreachable(true);
    }

    /** Ends {@link #unavailable}. */
    public void available() {
        store.unreachable(false);
        time.settle();
    }

    /**
     * Delays answers: from now on each request is carried out at once and answered after this time.
     *
     * @param duration not negative; zero at the beginning of a test. A time longer than the operation timeout of the
     *     client makes the outcome unknown. That timeout is a quarter of the lease by default, and 2 s at most
     */
    public void answersAfter(Duration duration) {
        store.answerTime(duration);
    }

    /**
     * Records that the resource under a lock has accepted a write; for {@link LockAssert#tokensRise}. The resource of
     * the test, such as a stub of a database, calls it where it accepts the write, with the token of that write.
     *
     * @param lockName the lock
     * @param token the token of the writer
     */
    public void wrote(String lockName, long token) {
        store.wrote(lockName, token);
    }

    /**
     * Returns assertions on a lock.
     *
     * @param lockName the name of any kind of lock
     * @return assertions, each of which checks the state when it is called
     */
    public LockAssert assertThat(String lockName) {
        time.settle();
        return new LockAssert(store, lockName);
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        isShared = true;
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        time.begin();
    }

    @Override
    public void interceptBeforeAllMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context)
            throws Throwable {
        time.run(invocation);
    }

    @Override
    public void interceptBeforeEachMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context)
            throws Throwable {
        time.run(invocation);
    }

    @Override
    public void interceptTestMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context)
            throws Throwable {
        time.run(invocation);
    }

    @Override
    public void interceptTestTemplateMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context)
            throws Throwable {
        time.run(invocation);
    }

    @Override
    public <T> T interceptTestFactoryMethod(
            Invocation<T> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context)
            throws Throwable {
        return time.run(invocation);
    }

    @Override
    public void interceptDynamicTest(
            Invocation<Void> invocation, DynamicTestInvocationContext test, ExtensionContext context) throws Throwable {
        time.run(invocation);
    }

    @Override
    public void interceptAfterEachMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context)
            throws Throwable {
        time.run(invocation);
    }

    @Override
    public void interceptAfterAllMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context)
            throws Throwable {
        time.run(invocation);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        List<String> problems = new ArrayList<>();
        List<Throwable> thrown;
        try {
            time.settle();
            thrown = store.thrown();
            if (context.getExecutionException().isEmpty()) {
                problems.addAll(store.leftovers(time.patience()));
            }
            store.reset();
            if (!isShared) {
                close();
            }
        } finally {
            time.end();
        }
        thrown.forEach(it -> problems.add("a callback of onAcquired failed: " + it));
        if (!problems.isEmpty()) {
            AssertionError error = new AssertionError(
                    "after %s:%n  %s".formatted(context.getDisplayName(), String.join("%n  ".formatted(), problems)));
            thrown.forEach(error::addSuppressed);
            throw error;
        }
    }

    /** Keeps this object for other tests and test classes: its owner is an application context. */
    TestLocks shared() {
        isShared = true;
        return this;
    }

    LockListener listener() {
        return store::happened;
    }

    private void close() {
        clients.forEach(each -> time.finish(each.close()));
    }
}
