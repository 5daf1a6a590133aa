package io.holdfast.test;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockClient;
import io.holdfast.LockListener;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
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
 * <p>After each test that passed, it fails the test if a lock is still held or waited for, and names the lock. Rivals need not be released. Then it begins anew:
 * each test finds an empty store that answers. In an instance field, its clients are closed after each test; in a static field, they live
 * on for the other tests.
 *
 * <p>All kinds of locks are there. The lock of an election is the mutex of its name. Thread-safe.
 */
public final class TestLocks
        implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, InvocationInterceptor {

    private static final Duration STUCK_AFTER = Duration.ofSeconds(10);

    private final Time time;
    private final TestStore store;
    private final ConcurrentLinkedQueue<LockClient> clients = new ConcurrentLinkedQueue<>();
    private final LockClient client;

    /** Whether several tests share this; written by JUnit's thread. */
    private boolean isShared;

    TestLocks(Time time) {
        this.time = time;
        store = new TestStore(time.scheduler());
        client = client(builder -> builder);
    }

    /**
     * Time stands still until the test {@linkplain #advance advances} it or {@linkplain #await awaits} a result, and then passes at once: an hour takes no
     * longer than a second. While a test runs, Reactor's schedulers are on the same time, so {@code Mono.delay} and {@code timeout} of the code under test
     * need no scheduler. What was made of them before, in a field of the test class, say, is not: make it in the test or in {@code @BeforeEach}. Tests in virtual time
     * cannot run at one time in one JVM; the second one is refused.
     *
     * <p>Threads of the code's own, such as those of an executor, do not know this time: an hour may pass between two of their steps. Use {@link #realTime} for
     * such code.
     *
     * <p>Do not {@code block()}: nothing would advance the time. A test that does, or a method around it, fails after 10 s, and is told so.
     *
     * @return a new extension
     */
    public static TestLocks virtualTime() {
        return new TestLocks(new VirtualTime(STUCK_AFTER));
    }

    /**
     * Time is that of the JVM: for code that blocks, or that has threads of its own.
     *
     * @return a new extension
     */
    public static TestLocks realTime() {
        return new TestLocks(new RealTime());
    }

    /**
     * The client for the code under test, with default options.
     *
     * @return always the same; closed by an extension in an instance field
     */
    public LockClient client() {
        return client;
    }

    /**
     * Another client for the code under test, such as one with options of your own, or that of a second instance.
     *
     * @param settings changes a builder that has the back end and the timer
     * @return a new client; closed by an extension in an instance field
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
     * The back end of the code under test, for a client that is made elsewhere, such as in Spring. Give that client {@link #scheduler} as its timer.
     *
     * @return always the same; its {@code close()} does nothing
     */
    public LockBackend backend() {
        return store;
    }

    /**
     * The clock, for code that wants a scheduler.
     *
     * @return virtual, or Reactor's own
     */
    public Scheduler scheduler() {
        return time.scheduler();
    }

    /**
     * Lets virtual time pass, on this thread: what is due meanwhile is done, in its order, when this returns. Called inside a task of the clock, that is done when the
     * task has ended.
     *
     * @param duration not negative
     * @throws IllegalStateException in real time
     */
    public void advance(Duration duration) {
        time.advance(duration);
    }

    /**
     * Subscribes, and lets virtual time pass until there is a result, one hour at most. In real time it blocks for 10 s at most.
     *
     * @param mono subscribed to on this thread
     * @param <T> of the result
     * @return the result; null if it is empty
     * @throws RuntimeException what the {@code Mono} failed with; a checked exception is wrapped, as {@code block()} does
     * @throws AssertionError if there is no result in that time; it was cancelled then. The message tells which locks the code under test waits for
     */
    @CanIgnoreReturnValue
    public <T> @Nullable T await(Mono<T> mono) {
        return time.await(mono, store::waits);
    }

    /**
     * Another process holds a lock.
     *
     * @param lockName of a mutex, or of an election, where the rival leads then
     * @return the rival
     * @throws IllegalStateException if the lock is held or waited for
     */
    @CanIgnoreReturnValue
    public Rival holdElsewhere(String lockName) {
        return store.rival(LockKey.of(LockKind.MUTEX, lockName), 1);
    }

    /**
     * Another process reads.
     *
     * @param lockName of a read/write lock
     * @return the rival
     * @throws IllegalStateException if a writer holds it or waits for it
     */
    @CanIgnoreReturnValue
    public Rival readElsewhere(String lockName) {
        return store.rival(LockKey.of(LockKind.READ, lockName), 1);
    }

    /**
     * Another process writes.
     *
     * @param lockName of a read/write lock
     * @return the rival
     * @throws IllegalStateException if the lock is held or waited for
     */
    @CanIgnoreReturnValue
    public Rival writeElsewhere(String lockName) {
        return store.rival(LockKey.of(LockKind.WRITE, lockName), 1);
    }

    /**
     * Another process holds permits of a semaphore.
     *
     * @param lockName of a semaphore
     * @param permits how many the semaphore has, as the code under test says it
     * @param taken how many of them the rival takes
     * @return the rival
     * @throws IllegalStateException if so many are not free
     */
    @CanIgnoreReturnValue
    public Rival permitsElsewhere(String lockName, int permits, int taken) {
        return store.rival(new LockKey(LockKind.SEMAPHORE, lockName, permits), taken);
    }

    /**
     * The hold of the code under test.
     *
     * @param lockName of any kind of lock
     * @return what may happen to it
     * @throws IllegalStateException if the code under test does not hold it, or holds it several times
     */
    public Hold held(String lockName) {
        return store.held(lockName);
    }

    /**
     * Does something each time that the code under test gets a lock in this test, <em>before</em> its work begins. A failure of it fails the test at its end.
     *
     * @param lockName of any kind of lock
     * @param told gets the hold, on the thread that acquires; it must not block
     */
    public void onAcquired(String lockName, Consumer<? super Hold> told) {
        store.onAcquired(lockName, told);
    }

    /**
     * From now on no request of the code under test is answered: each fails at once with a transient {@link io.holdfast.LockBackendException}, and no signal
     * comes. Leases go on until they run out.
     */
    public void unavailable() {
        store.away(true);
    }

    /** The end of {@link #unavailable}. */
    public void available() {
        store.away(false);
        time.settle();
    }

    /**
     * From now on each request is carried out at once and answered after some time.
     *
     * @param duration not negative; zero is the beginning. More than the operation timeout of the client, a quarter of the lease and 2 s at most, makes the
     *     outcome unknown
     */
    public void answersAfter(Duration duration) {
        store.answerTime(duration);
    }

    /**
     * The resource that a lock guards has accepted a write; for {@link LockAssert#tokensRise}. To be called by the resource of the test, such as a stub of a
     * database, where it accepts the write, with the token that came with it.
     *
     * @param lockName the lock
     * @param token of the writer
     */
    public void wrote(String lockName, long token) {
        store.wrote(lockName, token);
    }

    /**
     * Says something of a lock.
     *
     * @param lockName of any kind of lock
     * @return assertions, each of which looks when it is called
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

    /** It goes on for other tests and test classes: its owner is an application context. */
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
