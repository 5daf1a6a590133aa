package io.holdfast.micrometer;

import static java.util.Objects.requireNonNull;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Exceptions;

/**
 * Maps many lock names to few families, because each value of a tag costs memory in the application and in the database of its metrics. It
 * keeps the first families up to a limit. All others are {@value #OTHER}. It never forgets a family, so a name stays in its family.
 *
 * <pre>{@code
 * LockFamilies families = LockFamilies.of(name -> name.startsWith("stock/") ? "stock" : "orders");
 * }</pre>
 *
 * <p>Thread-safe. Give the same instance to {@link LockMetrics} and {@link ObservedLocks}, so that both use the same families.
 */
public final class LockFamilies {

    /** The family of a name without a family, or beyond the limit: {@value}. */
    public static final String OTHER = "other";

    /** The highest number of families by default, besides {@link #OTHER}: {@value}. */
    public static final int DEFAULT_LIMIT = 20;

    /** The longest family in characters; longer ones become {@link #OTHER}: {@value}. */
    public static final int LONGEST = 64;

    private static final Logger LOG = LoggerFactory.getLogger("io.holdfast.micrometer");

    private final Function<? super String, @Nullable String> naming;
    private final int limit;

    /** Whether families that are whole names have places of their own, half of all, so that they cannot use those of the others. */
    private final boolean dividesPlaces;

    /** Families that are a part of names, or all families if the places are not divided. Written under the monitor; only grows. */
    private final Set<String> parts = ConcurrentHashMap.newKeySet();

    /** Families that are whole names, if the places are divided. Written under the monitor; only grows. */
    private final Set<String> wholeNames = ConcurrentHashMap.newKeySet();

    private final AtomicBoolean complained = new AtomicBoolean();

    private LockFamilies(Function<? super String, @Nullable String> naming, int limit, boolean dividesPlaces) {
        this.naming = naming;
        this.limit = limit;
        this.dividesPlaces = dividesPlaces;
    }

    /**
     * Returns families that are the part of the name before its first slash: {@code stock} for {@code stock/42}. A name without a slash is
     * a family itself: {@code nightly-job}. Such names use at most half of the places. Choose another function if that part, or a name
     * without a slash, contains the number or the name of a customer.
     *
     * @return at most {@value #DEFAULT_LIMIT} families
     */
    public static LockFamilies beforeSlash() {
        return new LockFamilies(
                name -> name.indexOf('/') < 0 ? name : name.substring(0, name.indexOf('/')), DEFAULT_LIMIT, true);
    }

    /**
     * Returns families by a function of your own.
     *
     * @param naming maps a lock's name to its family; null or blank means {@value #OTHER}. It must be pure and quick, and must not throw:
     *     an exception is logged once, and means {@value #OTHER}.
     * @return at most {@value #DEFAULT_LIMIT} families
     */
    public static LockFamilies of(Function<? super String, @Nullable String> naming) {
        return new LockFamilies(requireNonNull(naming, "naming"), DEFAULT_LIMIT, false);
    }

    /**
     * Returns a copy with another limit and without known families.
     *
     * @param families the highest number of families, besides {@value #OTHER}; at least 0
     * @return a copy
     * @throws IllegalArgumentException if the number is negative
     */
    public LockFamilies atMost(int families) {
        if (families < 0) {
            throw new IllegalArgumentException("there cannot be fewer than 0 families, was " + families);
        }
        return new LockFamilies(naming, families, dividesPlaces);
    }

    /** Returns the family of a name. The result for a name never changes, because a gauge must count up and down in one family. */
    String of(String lockName) {
        String family = named(lockName);
        if (family == null) {
            return OTHER;
        }
        Set<String> known = dividesPlaces && family.equals(lockName) ? wholeNames : parts;
        return known.contains(family) || admitted(family, known) ? family : OTHER;
    }

    /** A refusal never changes either: full places stay full, and no thread waits for the answer. */
    private boolean admitted(String family, Set<String> known) {
        return hasPlace(known) ? addedInTime(family, known) : known.contains(family);
    }

    private boolean hasPlace(Set<String> known) {
        return parts.size() + wholeNames.size() < limit && (known == parts || wholeNames.size() < limit - limit / 2);
    }

    private @Nullable String named(String lockName) {
        try {
            String family = naming.apply(lockName);
            return family == null || family.isBlank() || family.length() > LONGEST ? null : family;
        } catch (Throwable broken) {
            Exceptions.throwIfJvmFatal(broken);
            if (complained.compareAndSet(false, true)) {
                LOG.error(
                        "the function that names the family of a lock threw for '{}'; such locks are of the family '{}'",
                        lockName,
                        OTHER,
                        broken);
            }
            return null;
        }
    }

    private synchronized boolean addedInTime(String family, Set<String> known) {
        return known.contains(family) || (hasPlace(known) && known.add(family));
    }
}
