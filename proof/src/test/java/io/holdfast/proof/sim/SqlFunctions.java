package io.holdfast.proof.sim;

import io.holdfast.proof.sim.SqlRows.Waits;
import io.holdfast.r2dbc.internal.protocol.Answer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The functions of {@code postgresql/holdfast-1.sql}, function by function. The quick ways of a mutex in {@code holdfast_call_v1} are left out, since
 * their outcome must be that of the functions.
 */
final class SqlFunctions {

    private static final String EXCLUSIVE = "mutex write";

    /** One operation of a call. */
    record Deed(
            int n,
            String verb,
            String name,
            String kind,
            String mode,
            int permits,
            int taken,
            String id,
            long leaseMs,
            int attempt,
            String channel,
            long token) {

        /** Reads the operations of a call, eleven words for each. */
        static List<Deed> read(String[] words, String channel) {
            List<Deed> deeds = new ArrayList<>();
            for (int o = 0; o < words.length; o += 11) {
                deeds.add(new Deed(
                        o / 11 + 1,
                        words[o],
                        words[o + 1],
                        words[o + 2],
                        words[o + 3],
                        Integer.parseInt(words[o + 4]),
                        Integer.parseInt(words[o + 5]),
                        words[o + 6],
                        Long.parseLong(words[o + 7]),
                        Integer.parseInt(words[o + 8]),
                        words[o + 9].equals("true") ? channel : "",
                        Long.parseLong(words[o + 10])));
            }
            return deeds;
        }

        Deed withNumber(int other) {
            return new Deed(other, verb, name, kind, mode, permits, taken, id, leaseMs, attempt, channel, token);
        }

        /** Returns a third of the lease, in whole milliseconds. */
        double third() {
            return Math.floor(leaseMs / 3.0);
        }

        String lock() {
            return name + ' ' + kind + ' ';
        }
    }

    /** A row of {@code holdfast_lock}; slot 0 is the lock itself. */
    static final class Hold implements SqlRows.Row<Hold> {
        final String lock;
        final long slot;
        long token;

        @Nullable
        String holder;

        int attempt;
        long expires = Long.MIN_VALUE;
        int taken = 1;
        long lastTicket;
        boolean wrote;

        @Nullable
        String unconfirmed;

        long oldest = 1;

        Hold(String lock, long slot) {
            this.lock = lock;
            this.slot = slot;
        }

        @Override
        public String key() {
            return lock + "%019d".formatted(slot);
        }

        @Override
        public Hold copy() {
            Hold copy = new Hold(lock, slot);
            copy.set(token, holder, attempt, expires, unconfirmed);
            copy.taken = taken;
            copy.lastTicket = lastTicket;
            copy.wrote = wrote;
            copy.oldest = oldest;
            return copy;
        }

        void set(long newToken, @Nullable String by, int itsAttempt, long ends, @Nullable String channel) {
            token = newToken;
            holder = by;
            attempt = itsAttempt;
            expires = ends;
            unconfirmed = channel;
        }

        boolean isHeldBy(String id) {
            return id.equals(holder);
        }
    }

    /** A row of {@code holdfast_waiter}. */
    record Waiter(Deed deed, String place, long ticket, long lookedAt) implements SqlRows.Row<Waiter> {
        @Override
        public String key() {
            return deed.lock() + deed.id();
        }

        @Override
        public Waiter copy() {
            return this;
        }

        boolean isQueued() {
            return place.equals("queue");
        }

        boolean isSilentAt(long now) {
            return lookedAt + deed.leaseMs() * 500 <= now;
        }
    }

    /** A row of {@code holdfast_tombstone}. */
    record Tombstone(String key, long until) implements SqlRows.Row<Tombstone> {
        @Override
        public Tombstone copy() {
            return this;
        }
    }

    private enum Standing {
        GRANTABLE,
        FENCED,
        BUSY,
        NONE
    }

    final SqlRows<Hold> holds = new SqlRows<>();
    final SqlRows<Waiter> waiters = new SqlRows<>();
    final SqlRows<Tombstone> tombstones = new SqlRows<>();
    private final LongSupplier micros;
    private final Predicate<String> isAlive;
    private final WrongSql wrong;
    private long tickets;

    /**
     * Makes empty tables.
     *
     * @param micros the clock of the server
     * @param isAlive whether a client listens on that channel
     */
    SqlFunctions(LongSupplier micros, Predicate<String> isAlive, WrongSql wrong) {
        this.micros = micros;
        this.isAlive = isAlive;
        this.wrong = wrong;
    }

    /** A crash empties tables that are not logged. */
    void crash() {
        waiters.clear();
        tombstones.clear();
        tickets = 0;
    }

    /** Runs operations for a client. */
    final class Call {

        private final SqlTransaction by;
        private final String own;
        private final long claimMs;
        private final boolean isPatient;
        private List<Answer> answers = new ArrayList<>();

        Call(SqlTransaction by, String own, long claimMs, boolean isPatient) {
            this.by = by;
            this.own = own;
            this.claimMs = claimMs;
            this.isPatient = isPatient;
        }

        /** Runs one operation. Returns the answer, and messages for clients. */
        List<Answer> run(Deed it) {
            answers = new ArrayList<>();
            switch (it.verb()) {
                case "renew" -> say(it.n(), renew(it));
                case "release" -> release(it);
                default -> acquire(it);
            }
            return answers;
        }

        private void say(int n, String word, long token, long ms) {
            answers.add(new Answer(n, word, token, ms, 0, null, null));
        }

        private void say(int n, String word) {
            say(n, word, 0, 0);
        }

        private void message(String word, long token, long ms, Deed to) {
            answers.add(new Answer(0, word, token, ms, to.attempt(), to.channel(), to.id()));
        }

        private Standing enter(Deed it, boolean isCreated) {
            Hold head = new Hold(it.lock(), 0);
            SqlTransaction other = holds.other(by, head.key());
            if (holds.get(by, head.key()) == null) {
                if (!isCreated) {
                    return Standing.NONE;
                } else if (other != null) {
                    throw new Waits(other); // its row is not committed yet
                }
                holds.put(by, head);
            } else if (other != null) {
                if (isPatient) {
                    throw new Waits(other);
                }
                return Standing.BUSY;
            }
            boolean isFenced = holds.isFenced(by, head.key()) && wrong != WrongSql.GRANT_BESIDE_A_FENCE;
            holds.lock(by, head.key(), !isFenced);
            return isFenced ? Standing.FENCED : Standing.GRANTABLE;
        }

        private Hold head(Deed it) {
            return holds.edit(by, holds.of(by, it.lock()).get(0));
        }

        private List<Hold> shares(String lock, long oldest) {
            return holds.of(by, lock).stream()
                    .filter(it -> it.slot > 0 && it.slot >= oldest)
                    .toList();
        }

        private @Nullable Hold share(Deed it) {
            return shares(it.lock(), 0).stream()
                    .filter(row -> row.isHeldBy(it.id()))
                    .findFirst()
                    .orElse(null);
        }

        /** Returns whether another call has locked that row. Otherwise locks it. */
        private boolean isBusy(@Nullable Hold row) {
            SqlTransaction other = row == null ? null : holds.other(by, row.key());
            if (other != null && isPatient) {
                throw new Waits(other);
            } else if (other == null && row != null) {
                holds.lock(by, row.key(), false);
            }
            return other != null;
        }

        private List<Waiter> queue(String lock, long after) {
            return waiters.of(by, lock).stream()
                    .filter(it -> it.isQueued() && it.ticket() > after)
                    .sorted(Comparator.comparingLong(Waiter::ticket))
                    .toList();
        }

        private void place(Waiter it, String place) {
            waiters.put(by, new Waiter(it.deed(), place, it.ticket(), it.lookedAt()));
        }

        private int distrust(Hold head, String channel, long granted) {
            List<Waiter> its = queue(head.lock, head.lastTicket).stream()
                    .filter(it -> it.deed().channel().equals(channel))
                    .toList();
            if (its.stream().anyMatch(it -> it.lookedAt() > granted)) {
                return 0;
            }
            its.forEach(it -> place(it, "aside " + channel));
            return its.size();
        }

        private void promote(Hold head, boolean isFenced, @Nullable Deed caller, @Nullable Waiter known) {
            long now = micros.getAsLong();
            boolean isTaken = isFenced || isHeld(head, now);
            boolean isMutex = head.lock.endsWith(" mutex ");
            int left = 0;
            long count = 0;
            long oldest = 0;
            long served = head.lastTicket;
            if (!isMutex) {
                Map<String, Long> silent = new LinkedHashMap<>();
                for (Hold it : shares(head.lock, head.oldest)) {
                    if (it.expires <= now && holds.other(by, it.key()) == null && !holds.isFenced(by, it.key())) {
                        holds.remove(by, it);
                        if (it.unconfirmed != null && !it.unconfirmed.equals(own)) {
                            silent.merge(it.unconfirmed, it.expires, Math::max);
                        }
                    } else {
                        count += it.taken;
                        oldest = oldest == 0 ? it.slot : oldest;
                    }
                }
                for (Map.Entry<String, Long> it : silent.entrySet()) {
                    left += distrust(head, it.getKey(), it.getValue() - claimMs * 1000);
                }
            }
            if (!isTaken && head.holder != null && head.unconfirmed != null && !head.unconfirmed.equals(own)) {
                left += distrust(head, head.unconfirmed, head.expires - claimMs * 1000);
            }
            long last = head.token;
            long after = head.lastTicket;
            Deed asks = caller;
            while (!isTaken) {
                List<Waiter> rest = queue(head.lock, after);
                Waiter next = rest.isEmpty() ? null : rest.get(0);
                boolean isCaller =
                        asks != null && (next == null || next.deed().id().equals(asks.id()));
                if (next == null && !isCaller) {
                    break;
                }
                after = next == null ? after : next.ticket();
                if (next != null && !isCaller && next.isSilentAt(now)) {
                    waiters.remove(by, next);
                    left++;
                    continue;
                } else if (next != null
                        && !isCaller
                        && !next.deed().channel().equals(own)
                        && !isAlive.test(next.deed().channel())) {
                    String gone = next.deed().channel();
                    rest.stream()
                            .filter(it -> it.deed().channel().equals(gone)
                                    && (caller == null || !it.deed().id().equals(caller.id())))
                            .forEach(it -> place(it, "aside " + gone));
                    left += 2;
                    continue;
                }
                Deed to = isCaller ? asks : next.deed();
                boolean isBlocked = switch (to.mode()) {
                    case "read" -> false;
                    case "semaphore" -> count + to.taken() > to.permits();
                    default -> count > 0;
                };
                if (isBlocked) {
                    break;
                }
                last = Math.max(last + 1, now);
                last += Math.floorMod((isMutex ? 4 : head.lock.endsWith(" rw ") ? 5 : 6) - last, 4L);
                oldest = oldest == 0 ? last : oldest;
                long ends;
                String channel = isCaller ? null : to.channel();
                if (isCaller) {
                    asks = null;
                    ends = now + to.leaseMs() * 1000;
                    say(to.n(), "acquired", last, to.leaseMs());
                } else {
                    ends = now + Math.min(claimMs, to.leaseMs()) * 1000;
                    message("granted", last, (ends - next.lookedAt()) / 1000, to);
                }
                head.lastTicket = after;
                head.oldest = oldest;
                if (EXCLUSIVE.contains(to.mode())) {
                    isTaken = true;
                    head.set(last, to.id(), to.attempt(), ends, channel);
                } else {
                    count += to.taken();
                    head.token = last;
                    head.holder = null;
                    Hold share = new Hold(head.lock, last);
                    share.set(last, to.id(), to.attempt(), ends, channel);
                    share.taken = to.taken();
                    holds.put(by, share);
                }
                if (!isCaller || known != null) {
                    Waiter gone = isCaller ? known : next;
                    waiters.remove(by, gone);
                    left++;
                }
            }
            if (left > 0) {
                heads(head.lock, served, left, 0);
            }
        }

        private void heads(String lock, long served, int left, long ticket) {
            List<Waiter> rest = queue(lock, served);
            for (int i = 0; i < Math.min(2, rest.size()); i++) {
                if (i + 1 + left > 2 && rest.get(i).ticket() > ticket) {
                    message("head", 0, 0, rest.get(i).deed());
                }
            }
            if (rest.size() > 2 && ticket > rest.get(rest.size() - 1).ticket()) {
                message("head", 0, 0, rest.get(rest.size() - 1).deed());
            }
        }

        private void lower(Hold head, long ticket) {
            if (wrong != WrongSql.TICKET_THAT_IS_NOT_LOWERED) {
                head.lastTicket = Math.min(head.lastTicket, ticket - 1);
            }
        }

        private long queuedMs(Hold head, Waiter it, long leftMicros) {
            List<Waiter> queue = queue(head.lock, head.lastTicket);
            long place = Math.min(
                    3, queue.stream().filter(one -> one.ticket() <= it.ticket()).count());
            double ms = (leftMicros > 0
                            ? leftMicros / 1000.0
                            : place == 1 ? 90 : (double) it.deed().leaseMs())
                    + 10 * place;
            if (place <= 2 || queue.get(queue.size() - 1).ticket() <= it.ticket()) {
                ms = Math.min(ms, (double) claimMs);
            } else {
                ms += 10 * Math.min(it.ticket() - queue.get(0).ticket() + 1 - place, 100);
            }
            return (long) Math.floor(Math.max(1, Math.min(ms, it.deed().third())));
        }

        private void changed(String lock) {
            for (Waiter it : waiters.of(by, lock)) {
                if (it.place().equals("hint")) {
                    waiters.remove(by, it);
                    message("changed", 0, 0, it.deed());
                }
            }
        }

        private void acquire(Deed it) {
            Standing standing = enter(it, true);
            if (standing == Standing.BUSY) {
                say(it.n(), "busy");
                return;
            }
            Tombstone trace = tombstones.get(by, it.id());
            if (trace != null && trace.until() > micros.getAsLong() && wrong != WrongSql.NO_TOMBSTONE) {
                say(it.n(), "contended", 0, Math.max(1, (long) it.third()));
                return;
            }
            Hold held = holds.of(by, it.lock()).get(0);
            held = held.isHeldBy(it.id()) ? held : share(it);
            if (isBusy(held)) {
                say(it.n(), "busy");
                return;
            }
            long now = micros.getAsLong();
            Hold head = head(it);
            boolean isFenced = standing == Standing.FENCED;
            if (held != null && held.expires > now) {
                kept(it, head, holds.edit(by, held), isFenced, now);
                return;
            }
            Waiter known = waiters.get(by, it.lock() + it.id());
            boolean isLate = known != null && it.attempt() < known.deed().attempt();
            boolean isQueued = it.verb().equals("queue");
            if (known != null && !isLate) {
                if (isQueued && !known.place().equals("hint")) {
                    known = new Waiter(it, "queue", known.ticket(), now);
                    waiters.put(by, known);
                    lower(head, known.ticket());
                } else {
                    waiters.remove(by, known);
                    known = null;
                }
            }
            if (isQueued && !it.channel().isEmpty() && !isLate) {
                for (Waiter back : waiters.of(by, it.lock())) {
                    if (back.place().equals("aside " + it.channel())) {
                        place(back, "queue");
                        lower(head, back.ticket());
                    }
                }
            }
            int said = answers.size();
            promote(head, isFenced, isLate ? null : it, known);
            for (Answer answer : List.copyOf(answers.subList(said, answers.size()))) {
                if (answer.word().equals("acquired")) {
                    return;
                } else if (answer.word().equals("granted") && it.id().equals(answer.id())) {
                    say(it.n(), "acquired", answer.token(), Math.min(claimMs, it.leaseMs()));
                    return;
                }
            }
            long ends = holds.of(by, it.lock()).stream()
                    .filter(row -> row.holder != null)
                    .mapToLong(row -> row.expires)
                    .min()
                    .orElse(0);
            if (isQueued && !isLate && known == null) {
                known = new Waiter(it, "queue", ++tickets, now);
                waiters.put(by, known);
                lower(head, known.ticket());
            } else if (it.verb().equals("notify") && !isLate && !it.channel().isEmpty()) {
                waiters.put(by, new Waiter(it, "hint", ++tickets, now));
            }
            if (known == null || known.place().equals("hint")) {
                double ms = ends > now ? (ends - now) / 1000.0 + 10 : 100;
                say(it.n(), "contended", 0, (long) Math.rint(Math.max(1, Math.min(ms, it.third()))));
            } else {
                say(it.n(), "queued", 0, queuedMs(head, known, ends - now));
            }
        }

        private static boolean isHeld(Hold head, long now) {
            return head.holder != null && head.expires > now;
        }

        /** The claim holds the lock already. */
        private void kept(Deed it, Hold head, Hold held, boolean isFenced, long now) {
            boolean isWriter = held.slot == 0;
            if (it.kind().equals("rw") && isWriter != it.mode().equals("write")) {
                if (!isWriter || it.attempt() < held.attempt) {
                    say(it.n(), "contended", 0, Math.max(1, (long) it.third()));
                    return;
                }
                Hold reader = new Hold(head.lock, head.token);
                reader.set(head.token, it.id(), it.attempt(), now + it.leaseMs() * 1000, null);
                reader.wrote = true;
                holds.put(by, reader);
                head.holder = null;
                head.expires = now;
                say(it.n(), "acquired", head.token, it.leaseMs());
                promote(head, isFenced, null, null);
                changed(head.lock);
                return;
            }
            long lease = it.leaseMs();
            if (it.attempt() < held.attempt) {
                lease = Math.min(lease, (held.expires - now) / 1000);
            } else {
                held.set(held.token, held.holder, it.attempt(), now + lease * 1000, null);
            }
            say(it.n(), "acquired", held.token, lease);
        }

        private void release(Deed it) {
            boolean isUnsure = it.attempt() == Integer.MAX_VALUE;
            Standing standing = enter(it, isUnsure && isPatient);
            boolean isNone = standing == Standing.NONE;
            Hold held = standing == Standing.GRANTABLE || standing == Standing.FENCED
                    ? holds.of(by, it.lock()).get(0)
                    : null;
            boolean isHead = held != null && (held.isHeldBy(it.id()) || wrong == WrongSql.RELEASE_BY_ANYBODY);
            if (!isHead) {
                held = share(it);
            }
            if (standing == Standing.BUSY || (isNone && isUnsure) || isBusy(held)) {
                say(it.n(), "busy");
                return;
            }
            SqlTransaction other = tombstones.other(by, it.id());
            if (other != null) {
                throw new Waits(other); // the original waits later, when it writes the trace
            }
            long now = micros.getAsLong();
            int seen = -1;
            boolean wasHeld = false;
            if (held != null) {
                held = holds.edit(by, held);
                seen = held.attempt;
                wasHeld = held.expires > now;
                held.holder = null;
                held.expires = isHead ? now : Long.MIN_VALUE;
                held.unconfirmed = isHead ? held.unconfirmed : null;
            }
            Waiter waiter = waiters.get(by, it.lock() + it.id());
            if (waiter != null) {
                waiters.remove(by, waiter);
                seen = Math.max(seen, waiter.deed().attempt());
            }
            if (seen < it.attempt()) {
                tombstones.put(by, new Tombstone(it.id(), now + 30_000_000));
            }
            say(it.n(), wasHeld ? "held" : "not_held");
            if (isNone) {
                return;
            }
            Hold head = head(it);
            long served = head.lastTicket;
            int said = answers.size();
            promote(head, standing == Standing.FENCED, null, null);
            boolean isServed = answers.subList(said, answers.size()).stream()
                    .anyMatch(answer -> answer.word().equals("granted"));
            if (waiter != null && waiter.isQueued()) {
                heads(it.lock(), served, 1, waiter.ticket());
            }
            if (seen >= 0 && !isServed && (head.holder == null || head.expires <= now)) {
                changed(it.lock());
            }
        }

        /** Extends a lease. Locks no row but that of the lease. */
        String renew(Deed it) {
            Hold held = holds.of(by, it.lock()).stream()
                    .filter(row -> row.isHeldBy(it.id()) && (it.token() == 0 || it.token() == row.token))
                    .reduce((head, share) -> share)
                    .orElse(null);
            if (isBusy(held)) {
                return held.expires > micros.getAsLong() ? "busy" : "not_held";
            }
            long now = micros.getAsLong();
            if (held == null || held.expires <= now) {
                return "not_held";
            }
            Hold row = holds.edit(by, held);
            row.expires = now + it.leaseMs() * 1000;
            row.unconfirmed = null;
            return "held";
        }
    }

    /** Returns whether the lease is valid; then no other claim gets the lock before the transaction ends. */
    boolean fence(SqlTransaction by, String name, long token) {
        String lock = name + ' ' + List.of("mutex", "rw", "semaphore").get((int) (token % 4)) + ' ';
        for (Hold row : holds.of(by, lock)) {
            if (row.token == token && row.holder != null && !row.wrote && row.expires > micros.getAsLong()) {
                holds.share(by, row.key());
                return true;
            }
        }
        return false;
    }
}
