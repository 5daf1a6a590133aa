package io.holdfast.spring;

import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.blocking.BlockingLock;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.aot.hint.annotation.Reflective;

/**
 * Runs a method under a lock, in the same way as {@link ReactiveLock#withLock}: the result of the method is subscribed to when the lock is
 * held, and the lock is released when the result has ended.
 *
 * <pre>{@code
 * @Locked("stock/{#item}")
 * public Mono<Integer> sell(String item) {
 *     return LockedLease.fencingToken().flatMap(token -> stock.sell(item, token));
 * }
 * }</pre>
 *
 * <p><b>Reactive methods</b> return a {@code Mono} or a {@code Flux}, or are suspending functions of Kotlin. The method is called again for
 * each subscription, under the lock. If a suspending function returns a {@code Flow}, the lock is held while the flow is collected.
 *
 * <p><b>Methods that block</b> run on the thread of the caller, as {@link BlockingLock#withLock} does: the thread waits for the lock, is
 * interrupted if the lease is lost, and must be one that may block. An interrupt of the wait is an {@link InterruptedException} if the
 * method declares it, or else an {@link IllegalStateException} with the interrupt pending. {@link LockedLease#ofThread()} is the lease.
 *
 * <p>The application does not start if the work of a method goes on after its return, as that of a {@code CompletableFuture}, a {@code
 * DeferredResult} or a {@code ResponseEntity<Flux<Row>>}. If only the returned object shows that, the call fails with {@link
 * IllegalStateException}. What else is read or written later is not protected, such as an {@code InputStream} or a {@code ServerResponse}.
 * The application does not start either with final, private and static methods, since a proxy cannot intercept them. A call from a method
 * of the same object does not go through the proxy, so it takes no lock.
 *
 * <p><b>Transactions.</b> The lock is around {@code @Transactional}: it is taken before the transaction begins, and released after the
 * commit. This is true for a transaction that begins with the method. A transaction of its caller ends after the release.
 *
 * <p><b>Errors</b> are those of {@link ReactiveLock#withLock}. The result of the method emits them, or the method throws them.
 *
 * <p>In each attribute, {@code ${...}} is replaced by a property.
 */
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface Locked {

    /** The kind of lock. */
    enum Kind {
        /** {@link LockClient#lock}. */
        MUTEX,
        /** The shared side of {@link LockClient#readWriteLock}. */
        READ,
        /** The exclusive side of {@link LockClient#readWriteLock}. */
        WRITE,
        /** One permit of {@link LockClient#semaphore}; {@link Locked#permits} is the number of permits. */
        SEMAPHORE
    }

    /**
     * The name of the lock: a text, with expressions of the Spring Expression Language in braces. The arguments are variables, by their
     * names if the class was compiled with {@code -parameters}, and as {@code #p0}, {@code #p1} and so on. An expression reads properties
     * and calls methods of the arguments. It cannot name types or beans. The call fails with {@link IllegalArgumentException} if an
     * expression is null or cannot be evaluated, for example because the argument has no such property, or if its value has only the text
     * of {@link Object#toString}, as an array has: each object would have its own lock. A variable outside braces is refused at start.
     *
     * @return such as {@code stock/{#item}} or {@code order/{#order.id}}
     */
    String value();

    /**
     * The kind of lock.
     *
     * @return the kind; default a mutex
     */
    Kind kind() default Kind.MUTEX;

    /**
     * The number of permits of the semaphore.
     *
     * @return a number, such as {@code "3"}; required for a semaphore, refused for other kinds
     */
    String permits() default "";

    /**
     * {@link LockOptions#leaseDuration()}.
     *
     * @return a duration such as {@code 10s}, {@code 500ms} or {@code PT10S}; a number without a unit is in seconds. Without any option in
     *     this annotation, the lock has the options of the client. With one of them, all other options come from the properties {@code
     *     holdfast.*}, or from {@link #options}
     */
    String leaseDuration() default "";

    /**
     * {@link LockOptions#waitTimeout()}.
     *
     * @return a duration as above; zero for one attempt
     */
    String waitTimeout() default "";

    /**
     * {@link LockOptions#maxHoldTime()}.
     *
     * @return a duration as above
     */
    String maxHoldTime() default "";

    /**
     * {@link LockOptions#minHoldTime()}.
     *
     * @return a duration as above
     */
    String minHoldTime() default "";

    /**
     * All other options.
     *
     * @return the name of a bean of the type {@link LockOptions}; the options above change a copy of it
     */
    String options() default "";

    /**
     * Whether to skip the method if the lock is taken, as for a job that another instance is doing already.
     *
     * @return true to make one attempt, and to return without a call of the method if the lock is taken: a {@code Mono} or a {@code Flux}
     *     completes empty. Not together with {@link #waitTimeout}. A suspending function must return {@code Unit}, and a method that blocks
     *     {@code void}. False, the default, to wait
     */
    boolean skipWhenTaken() default false;
}
