package io.holdfast.spring;

import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.aot.hint.annotation.Reflective;

/**
 * Runs a method under a lock, as {@link ReactiveLock#withLock} does: what the method returns is subscribed to when the lock is held, and the lock is
 * released when that has ended.
 *
 * <pre>{@code
 * @Locked("stock/{#item}")
 * public Mono<Integer> sell(String item) {
 *     return LockedLease.fencingToken().flatMap(token -> stock.sell(item, token));
 * }
 * }</pre>
 *
 * <p><b>Methods</b> that return a {@code Mono} or a {@code Flux}, or are suspending functions of Kotlin. The method is called again for each subscription,
 * under the lock. If a suspending function gives a {@code Flow}, the lock is held while the flow is collected. An application does not start with the
 * annotation on another method, or on one that is final, private or static, since a proxy cannot intercept these. A call from a method of the same object
 * does not go through the proxy, so it takes no lock.
 *
 * <p><b>Transactions.</b> The lock is around {@code @Transactional}: it is taken before the transaction begins, and released after the commit.
 * This is so for a transaction that begins with the method: one of its caller ends after the release.
 *
 * <p><b>Errors</b> are those of {@link ReactiveLock#withLock}, in what the method returns.
 *
 * <p>In each text, {@code ${...}} is replaced by a property.
 */
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface Locked {

    /** What kind of lock it is. */
    enum Kind {
        /** {@link LockClient#lock}. */
        MUTEX,
        /** The shared side of {@link LockClient#readWriteLock}. */
        READ,
        /** The exclusive side of {@link LockClient#readWriteLock}. */
        WRITE,
        /** One permit of {@link LockClient#semaphore}; {@link Locked#permits} says of how many. */
        SEMAPHORE
    }

    /**
     * The name of the lock: a text, with expressions of the Spring Expression Language in braces. The arguments are variables, by their names if the
     * class was compiled with {@code -parameters}, and as {@code #p0}, {@code #p1} and so on. An expression reads properties and calls methods of the
     * arguments; it cannot name types or beans. The call fails with {@link IllegalArgumentException} if one gives null or cannot be read, such
     * as a property that the argument does not have. A variable outside braces is refused at start.
     *
     * @return such as {@code stock/{#item}} or {@code order/{#order.id}}
     */
    String value();

    /**
     * What kind of lock it is.
     *
     * @return default a mutex
     */
    Kind kind() default Kind.MUTEX;

    /**
     * How many permits the semaphore has.
     *
     * @return a number, such as {@code "3"}; required for a semaphore, refused for other kinds
     */
    String permits() default "";

    /**
     * {@link LockOptions#leaseDuration()}.
     *
     * @return a duration such as {@code 10s}, {@code 500ms} or {@code PT10S}; a number without a unit is in seconds. Without any option here, the lock has
     *     the options that the client gives it; with one of them, the rest is as the properties {@code holdfast.*} say, or as {@link #options}
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
     * What to do when the lock is taken, as for a job that another instance is doing already.
     *
     * @return true: makes one attempt, does not call the method when the lock is taken, and completes empty; not together with {@link #waitTimeout},
     *     and of suspending functions only for those that return {@code Unit}. False, the default: waits
     */
    boolean skipWhenTaken() default false;
}
