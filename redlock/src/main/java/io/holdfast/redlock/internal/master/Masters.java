package io.holdfast.redlock.internal.master;

import io.holdfast.redlock.Vote;
import io.holdfast.redlock.internal.quorum.VoteRecord;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.support.Deadlines;
import io.holdfast.spi.support.Fallible;
import io.holdfast.spi.support.Printable;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.scheduler.Scheduler;

/** The masters, and what all requests to them share. */
public final class Masters {

    /** The logger of all messages of this module. */
    public static final Logger LOG = LoggerFactory.getLogger("io.holdfast.redlock.RedlockBackend");

    private static final Duration LEAST_LIMIT = Duration.ofMillis(50);

    /** Two rounds leave half of {@link #LONGEST_OPERATION} to the first contact. */
    private static final Duration MOST_LIMIT = Duration.ofMillis(500);

    /** The default operation timeout of a long lease. */
    private static final Duration LONGEST_OPERATION = Duration.ofSeconds(2);

    private final MasterSettings settings;
    private final List<Integer> all;
    private final SilentMasters silent;
    private final Deadlines deadlines;
    private final BackgroundReleases releases;
    private final TokenProposals tokens;

    public Masters(MasterSettings settings) {
        this.settings = settings;
        int size = settings.backends().size();
        all = IntStream.range(0, size).boxed().toList();
        silent = new SilentMasters(size);
        deadlines = new Deadlines(settings.timer());
        tokens = new TokenProposals(settings.wallClock());
        releases = new BackgroundReleases(this);
    }

    public int size() {
        return all.size();
    }

    /** Returns the numbers of the masters. */
    public List<Integer> all() {
        return all;
    }

    public List<LockBackend> backends() {
        return settings.backends();
    }

    public LockBackend backend(int master) {
        return settings.backends().get(master);
    }

    public List<String> names() {
        return settings.names();
    }

    public String name(int master) {
        return settings.names().get(master);
    }

    public Scheduler timer() {
        return settings.timer();
    }

    public long now() {
        return settings.timer().now(TimeUnit.NANOSECONDS);
    }

    /** Returns a random number in [0, 1). */
    public double random() {
        return settings.random().getAsDouble();
    }

    Deadlines deadlines() {
        return deadlines;
    }

    SilentMasters silent() {
        return silent;
    }

    public BackgroundReleases releases() {
        return releases;
    }

    public TokenProposals tokens() {
        return tokens;
    }

    /** Returns the record for a request that is sent at that time. */
    public VoteRecord record(long askedAtNanos) {
        return new VoteRecord(settings.names(), askedAtNanos);
    }

    /**
     * Returns how long one master may take. Two rounds of it fit into the default operation timeout, a quarter of the
     * lease. So the error that names the masters comes before the one without details.
     *
     * <p>In a new process, the first answers take longer: the client makes connections, and loads its classes. So until
     * a majority has answered, each master may take as long as the default operation timeout, less two rounds.
     */
    public Duration limit(Duration lease) {
        Duration set = settings.limit();
        long nanos = lease.toNanos();
        long share = Math.min(Math.max(nanos / 100, LEAST_LIMIT.toNanos()), MOST_LIMIT.toNanos());
        long usual = set != null ? set.toNanos() : Math.min(share, nanos / 10);
        long operation = Math.min(nanos / 4, LONGEST_OPERATION.toNanos());
        return Duration.ofNanos(silent.isMajorityKnown() ? usual : Math.max(usual, operation - 2 * usual));
    }

    /** Checks the lease at each master: each has settings of its own. */
    public void checkLease(Duration lease) {
        for (int master : all) {
            try {
                backend(master).checkLease(lease);
            } catch (IllegalArgumentException refused) {
                throw new IllegalArgumentException("%s: %s".formatted(name(master), refused.getMessage()), refused);
            }
        }
    }

    /** Whether there is a listener for votes. */
    public boolean isListening() {
        return settings.listener() != null;
    }

    /** Gives the vote to the listener; does nothing without either. */
    public void report(@Nullable Vote vote) {
        var listener = settings.listener();
        if (listener == null || vote == null) {
            return;
        }
        try {
            listener.accept(vote);
        } catch (Throwable broken) {
            Fallible.tell(() ->
                    LOG.warn("the listener of votes threw, which it must not: {}", Printable.text(broken.toString())));
        }
    }
}
