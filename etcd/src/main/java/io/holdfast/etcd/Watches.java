package io.holdfast.etcd;

import static java.util.Objects.requireNonNull;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchEvent;
import io.holdfast.spi.support.Mailbox;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.ObjLongConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.util.context.Context;

/**
 * Waits for deletions. A waiter of this client watches the key before it, unless {@link Followers} find that it needs no watch. If this client
 * has more waiters of a lock, they share one watch of the whole line, or of the marks of all writers: each watch of the driver is a stream of
 * its own. All state changes in one mailbox.
 */
final class Watches {

    /** How many keys with one prefix have a watch of their own. Each is a stream that opens and closes with its waiter. */
    private static final int OWN_WATCHES = 1;

    /** How many deletions a watch of a line remembers, for waiters that have read the line before them. */
    private static final int REMEMBERED = 256;

    /** What one claim waits for. */
    static final class Wish {
        private final String claimId;
        private final ByteSequence among;
        private final @Nullable ByteSequence blocker;
        private final long created;
        private final long revision;

        /** Changed in the mailbox. */
        private long missing;

        /**
         * Describes what one claim waits for.
         *
         * @param among the prefix of the keys that it may have to wait for
         * @param blocker the key that has to go first; null for a semaphore
         * @param created the revision of its own place: only what is before it matters
         * @param missing the permits of places before it that have to go until it holds the lock, or {@link #UNKNOWN}
         * @param read the answer that says so
         */
        Wish(
                String claimId,
                ByteSequence among,
                @Nullable ByteSequence blocker,
                long created,
                long missing,
                Transactions.Answer read) {
            this.claimId = claimId;
            this.among = among;
            this.blocker = blocker;
            this.created = created;
            this.missing = missing;
            revision = read.revision();
        }

        long created() {
            return created;
        }
    }

    private enum Next {
        WAIT,
        LOOK,
        HOLD
    }

    /** Then only the store knows whether the claim holds the lock when its blocker has gone. */
    static final long UNKNOWN = Long.MAX_VALUE;

    private record Deletion(
            ByteSequence key, long revision, @Nullable Place before) {}

    private final Watch client;
    private final Layout layout;
    private final Scheduler scheduler;
    private final Predicate<String> isWaiting;
    private final Consumer<String> onChange;
    private final ObjLongConsumer<String> onHold;

    /** By their claims. Written in the mailbox. */
    private final Map<String, Wish> wishes = new ConcurrentHashMap<>();

    private final Map<ByteSequence, OfPrefix> prefixes = new HashMap<>();
    private final AtomicInteger streams = new AtomicInteger();
    private final Mailbox mailbox = new Mailbox(defect -> Operators.onErrorDropped(defect, Context.empty()));

    /** Written in the mailbox. */
    private boolean isClosed;

    /**
     * Opens no stream yet.
     *
     * @param isWaiting whether a claim still wants to hear
     * @param onChange gets a claim that has to look
     * @param onHold gets a claim that holds the lock, since all before it have gone, with the revision of its place
     */
    Watches(
            Watch client,
            Layout layout,
            Scheduler scheduler,
            Predicate<String> isWaiting,
            Consumer<String> onChange,
            ObjLongConsumer<String> onHold) {
        this.client = client;
        this.layout = layout;
        this.isWaiting = isWaiting;
        this.onHold = onHold;
        this.onChange = onChange;
        this.scheduler = scheduler;
    }

    void await(Wish wish) {
        mailbox.post(() -> {
            Wish before = wishes.get(wish.claimId);
            if (before != null && before.blocker != null && before.blocker.equals(wish.blocker)) {
                return;
            }
            drop(wish.claimId);
            wishes.put(wish.claimId, wish); // first: an end that comes now sees it, and one that has come is seen
            if (!isClosed && isWaiting.test(wish.claimId)) {
                prefixes.computeIfAbsent(wish.among, OfPrefix::new).add(wish);
            } else {
                wishes.remove(wish.claimId);
            }
        });
    }

    void forget(String claimId) {
        if (wishes.containsKey(claimId)) {
            mailbox.post(() -> drop(claimId));
        }
    }

    /** {@return how many streams are open} */
    int streams() {
        return streams.get();
    }

    void close() {
        mailbox.post(() -> {
            isClosed = true;
            prefixes.values().forEach(OfPrefix::close);
            prefixes.clear();
            wishes.clear();
        });
    }

    private void drop(String claimId) {
        Wish wish = wishes.remove(claimId);
        OfPrefix of = wish == null ? null : prefixes.get(wish.among);
        if (wish != null && of != null) {
            of.remove(wish);
        }
    }

    private void follow(Wish wish, Next next) {
        if (next == Next.WAIT) {
            return;
        }
        drop(wish.claimId);
        if (next == Next.HOLD) {
            mailbox.after(() -> onHold.accept(wish.claimId, wish.created));
        } else {
            mailbox.after(() -> onChange.accept(wish.claimId));
        }
    }

    private void look(List<Wish> all) {
        all.forEach(it -> follow(it, Next.LOOK));
    }

    /** Opens a stream that reports deletions from the revision on. */
    private Watch.Watcher open(ByteSequence key, boolean isPrefix, long revision, Stream stream) {
        WatchOption option = WatchOption.builder()
                .isPrefix(isPrefix)
                .withRevision(revision)
                .withNoPut(true)
                .withPrevKV(isPrefix)
                .withRequireLeader(true)
                .build();
        streams.incrementAndGet();
        return client.watch(
                key,
                option,
                Watch.listener(
                        response -> mailbox.post(() -> stream.deleted(response.getEvents())),
                        error -> interrupted(stream),
                        () -> interrupted(stream)));
    }

    /** The driver may hold a monitor that opening a stream needs. */
    private void interrupted(Stream stream) {
        var unused = scheduler.schedule(() -> mailbox.post(stream::broken));
    }

    private void shut(Watch.Watcher watcher) {
        streams.decrementAndGet();
        watcher.close();
    }

    private interface Stream {
        void deleted(List<WatchEvent> events);

        void broken();
    }

    /** The wishes about keys with one prefix: the line of a lock, or the marks of its writers. */
    private final class OfPrefix {

        private final ByteSequence prefix;
        private final Map<ByteSequence, OfKey> keys = new HashMap<>();
        private @Nullable OfAll whole;

        OfPrefix(ByteSequence prefix) {
            this.prefix = prefix;
        }

        void add(Wish wish) {
            ByteSequence blocker = wish.blocker;
            OfKey watched = blocker == null ? null : keys.get(blocker);
            if (watched != null) {
                watched.add(wish);
            } else if (blocker != null && keys.size() < OWN_WATCHES) {
                keys.put(blocker, new OfKey(this, blocker, wish));
            } else {
                OfAll shared = whole;
                if (shared == null) {
                    shared = new OfAll(this, wish.revision);
                    whole = shared;
                }
                shared.add(wish);
            }
        }

        void remove(Wish wish) {
            OfKey watched = wish.blocker == null ? null : keys.get(wish.blocker);
            if (watched != null && watched.wishes.remove(wish) && watched.wishes.isEmpty()) {
                keys.remove(watched.key);
                shut(watched.watcher);
            }
            OfAll shared = whole;
            if (shared != null && shared.wishes.remove(wish.claimId) != null && shared.wishes.isEmpty()) {
                whole = null;
                shut(shared.watcher);
            }
            if (keys.isEmpty() && whole == null) {
                prefixes.remove(prefix, this);
            }
        }

        void close() {
            keys.values().forEach(it -> shut(it.watcher));
            if (whole != null) {
                shut(whole.watcher);
            }
        }
    }

    /** The watch of one key, and the claims that wait for its deletion. */
    private final class OfKey implements Stream {

        private final OfPrefix of;
        private final ByteSequence key;
        private final long revision;
        private final List<Wish> wishes = new ArrayList<>();
        private final Watch.Watcher watcher;

        OfKey(OfPrefix of, ByteSequence key, Wish first) {
            this.of = of;
            this.key = key;
            revision = first.revision;
            wishes.add(first);
            watcher = open(key, false, revision + 1, this);
        }

        /** One that has read an older revision may wait for an earlier key of this name, so it looks again. */
        void add(Wish wish) {
            wishes.add(wish);
            follow(wish, wish.revision < revision ? Next.LOOK : Next.WAIT);
        }

        /**
         * If the only claim before another one has gone, that one holds the lock. A late event may be the end of a former claim with this key, which
         * means nothing to claims that have read the line since.
         */
        @Override
        public void deleted(List<WatchEvent> events) {
            if (of.keys.get(key) == this) {
                long at = events.get(events.size() - 1).getKeyValue().getModRevision();
                List.copyOf(wishes).forEach(it -> follow(it, after(at, it)));
            }
        }

        private Next after(long deletion, Wish wish) {
            if (deletion <= wish.revision) {
                return Next.WAIT;
            }
            return wish.missing == 1 ? Next.HOLD : Next.LOOK;
        }

        /** After an interruption, all of them look again. */
        @Override
        public void broken() {
            if (of.keys.get(key) == this) {
                look(List.copyOf(wishes));
            }
        }
    }

    /** The watch of all keys with a prefix. */
    private final class OfAll implements Stream {

        private final OfPrefix of;
        private final Map<String, Wish> wishes = new HashMap<>();
        private final Deque<Deletion> remembered = new ArrayDeque<>();
        private final Watch.Watcher watcher;

        /** All deletions after this revision are remembered. */
        private long knownFrom;

        OfAll(OfPrefix of, long revision) {
            this.of = of;
            knownFrom = revision;
            watcher = open(of.prefix, true, revision + 1, this);
        }

        void add(Wish wish) {
            wishes.put(wish.claimId, wish);
            Next next = wish.revision < knownFrom ? Next.LOOK : Next.WAIT;
            for (Iterator<Deletion> it = remembered.iterator(); next == Next.WAIT && it.hasNext(); ) {
                next = after(it.next(), wish);
            }
            follow(wish, next);
        }

        /** Each deletion counts once, whatever the driver does after an interruption. */
        @Override
        public void deleted(List<WatchEvent> events) {
            long seen = remembered.isEmpty() ? 0 : remembered.getLast().revision();
            for (WatchEvent event : events) {
                if (event.getKeyValue().getModRevision() > seen) {
                    deleted(event);
                }
            }
        }

        private void deleted(WatchEvent event) {
            KeyValue gone = event.getKeyValue();
            Deletion deletion = new Deletion(gone.getKey(), gone.getModRevision(), before(event));
            remembered.add(deletion);
            if (remembered.size() > REMEMBERED) {
                knownFrom = remembered.remove().revision();
            }
            for (Wish wish : List.copyOf(wishes.values())) {
                follow(wish, after(deletion, wish));
            }
        }

        private @Nullable Place before(WatchEvent event) {
            KeyValue stored = event.getPrevKV();
            try {
                return stored.getKey().isEmpty() ? null : layout.place(stored);
            } catch (RuntimeException unreadable) {
                return null; // of another version: those who wait look again
            }
        }

        private Next after(Deletion deletion, Wish wish) {
            if (deletion.revision() <= wish.revision) {
                return Next.WAIT;
            }
            Place gone = deletion.before();
            boolean isBlocker = deletion.key().equals(wish.blocker);
            if (gone != null && gone.created() > wish.created) {
                return Next.WAIT;
            }
            if (gone == null || gone.created() == wish.created) { // its own place has gone
                wish.missing = UNKNOWN;
            }
            if (wish.missing == UNKNOWN) {
                return isBlocker || wish.blocker == null ? Next.LOOK : Next.WAIT;
            }
            wish.missing -= requireNonNull(gone).permits();
            return wish.missing <= 0 ? Next.HOLD : isBlocker ? Next.LOOK : Next.WAIT;
        }

        @Override
        public void broken() {
            if (of.whole == this) {
                look(List.copyOf(wishes.values()));
            }
        }
    }
}
