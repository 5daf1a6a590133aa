package io.holdfast.internal.memory;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockHolder;
import io.holdfast.LockKind;
import io.holdfast.LockReport;
import io.holdfast.LossReason;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockRun;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One lock: its holders, its waiters, and the decisions about requests.
 *
 * <ul>
 * <li>Each attempt and release first ends the holders whose lease has ended and drops the stale waiters. Then it grants
 *     the lock to the first waiters that the lock admits. So an expiry needs no timer: waiters send their next attempt
 *     in time.
 * <li>Each claim stands in the queue during its attempt, even a claim that must not wait. So no claim overtakes a live
 *     waiter.
 * <li>A claim that takes several permits of a semaphore holds back the waiters behind it until all its permits are
 *     free, even waiters that would fit.
 * <li>A waiter that is granted by the request of another claim gets a push. Until it confirms the grant, it holds the
 *     lock for the {@link #CLAIM_NANOS claim time} only: a dead waiter must not cost the next one a whole lease.
 * <li>If it does not confirm the grant, its client is doubted: the other waiters of that client are set aside, and keep
 *     their places, until the client sends a request for this lock. So a client that is gone costs a claim time once.
 *     The owner's label in the id of a claim tells its client.
 * <li>Waiters of a mutex, and writers, that follow each other and are of one client get the lock together as a run. Its
 *     first member is the holder, and the others stay where they are in the line.
 * </ul>
 *
 * <p>Times are nanoseconds on the server's clock; only their differences count. Not thread-safe.
 */
final class LockQueue {

    /** How long a pushed grant lasts without a confirmation, and how soon the first waiters look for a dead holder. */
    static final long CLAIM_NANOS = Duration.ofSeconds(2).toNanos();

    /** Waiters further behind send their attempt a little later, so that the first waiter finds an expiry first. */
    private static final long NANOS_PER_PLACE = Duration.ofMillis(10).toNanos();

    static final Outcome<Renewal> NOT_RENEWED = new Outcome<>(new Renewal.NotHeld(), List.of());

    static final int MOST_MEMBERS = 64;

    private static final int FIRST_PLACES = 2;
    private static final int MOST_BROKEN_OFF = 64;
    private static final int MOST_EXAMINED = 16;
    private static final int MOST_INTERESTED = 256;

    /** No claim has this id: ids are not empty. */
    private static final String NO_CLAIM = "";

    private final Map<String, Holder> holders = new LinkedHashMap<>();
    private final Map<String, Waiter> waiters = new LinkedHashMap<>();

    /** The waiters that are not set aside, by their places. */
    private final TreeMap<Long, Waiter> line = new TreeMap<>();

    /** The ids of the waiters that are set aside, of each client that is doubted. */
    private Map<String, List<String>> doubted = Collections.emptyMap();

    private @Nullable HeldRun run;

    /** The last runs that ended without their clients, which may still say which members were served. */
    private List<HeldRun> brokenOff = List.of();

    private Map<String, Waiter> interested = Collections.emptyMap();
    private final Tokens tokens;
    private final Predicate<String> isWatched;

    /** How many claims the requests of all locks have examined, in one element. */
    private final long[] examined;

    /** Nothing ends before this time, which may be too early. Written by {@link #endsAt} and {@link #settle}. */
    private long nothingEndsBefore;

    /** Whether there is anything that ends. Written together with {@link #nothingEndsBefore}. */
    private boolean mayEnd;

    /** Whether something has ended, and no waiter was served since. Written by {@link #settle} and {@link #promote}. */
    private boolean isUnserved;

    /** How many permits the holders have taken together. Written together with {@link #holders}. */
    private long taken;

    /** The place of the last waiter. Written by {@link #join}. */
    private long lastPlace;

    LockQueue(Tokens tokens, Predicate<String> isWatched, long[] examined) {
        this.tokens = tokens;
        this.isWatched = isWatched;
        this.examined = examined;
    }

    Outcome<LockAttempt> tryAcquire(LockClaim claim, long now) {
        examined[0]++;
        settle(now);
        trust(claim);
        // A later attempt of the same claim was processed before: its effect must stand, so this attempt only gets an
        // answer.
        boolean overtaken = claim.attempt() < lastAttempt(claim.id());
        HeldRun held = run;
        if (held != null && held.members.contains(claim.id()) && !goesOnAsReader(held, claim, overtaken, now)) {
            return new Outcome<>(attemptOf(held, claim, overtaken, now), List.of());
        }
        Holder standing = holders.get(claim.id());
        if (standing != null) {
            return attemptOf(standing, claim, overtaken, now);
        }
        boolean isLast = false;
        if (!overtaken) {
            interested.remove(claim.id());
            isLast = join(claim, now);
        }
        List<Push> pushes = promote(overtaken ? NO_CLAIM : claim.id(), now);
        Holder holder = holders.get(claim.id());
        if (holder != null) {
            LockAttempt answer = overtaken ? holder.standing(now) : confirm(holder, claim, now);
            return new Outcome<>(run == null ? answer : granted(run, now), pushes);
        }
        if (run != null && run.members.contains(claim.id()) && run.isOf(claim.client())) {
            return new Outcome<>(granted(run, now), pushes);
        }
        Duration nextAttemptWithin = nextAttemptWithin(claim, isLast ? waiters.size() : place(claim.id()), now);
        if (!overtaken && claim.waiting() != Waiting.QUEUE) {
            pushes.addAll(leaveQueue(claim, now));
        }
        return new Outcome<>(
                waiters.containsKey(claim.id())
                        ? new LockAttempt.Queued(nextAttemptWithin)
                        : new LockAttempt.Contended(nextAttemptWithin),
                pushes);
    }

    /** A writer may become a reader. Any other attempt for the other side is not available. */
    private Outcome<LockAttempt> attemptOf(Holder holder, LockClaim claim, boolean overtaken, long now) {
        boolean otherSide = holder.claim().key().kind() != claim.key().kind();
        if (otherSide && (overtaken || claim.key().kind() != LockKind.READ)) {
            Duration nextAttemptWithin = nextAttemptWithin(claim, waiters.size() + 1, now);
            return new Outcome<>(new LockAttempt.Contended(nextAttemptWithin), promote(NO_CLAIM, now));
        }
        LockAttempt answer = overtaken ? holder.standing(now) : confirm(holder, claim, now);
        List<Push> pushes = promote(NO_CLAIM, now);
        if (otherSide) {
            signalInterested(pushes);
        }
        return new Outcome<>(answer, pushes);
    }

    private boolean goesOnAsReader(HeldRun held, LockClaim claim, boolean overtaken, long now) {
        boolean isGranted = claim.key().kind() == LockKind.READ
                && !overtaken
                && held.isOf(claim.client())
                && !held.gone.contains(claim.id());
        if (isGranted) {
            keepAlone(held, held.run.members().indexOf(claim.id()), now);
        }
        return isGranted;
    }

    /** Only the first member confirms the grant: it is the holder. A run needs the client of its members. */
    private LockAttempt attemptOf(HeldRun held, LockClaim claim, boolean overtaken, long now) {
        if (held.gone.contains(claim.id()) || claim.key().kind() == LockKind.READ) {
            return new LockAttempt.Contended(claim.lease());
        }
        boolean isFirst = held.holder().equals(claim.id());
        boolean isOfItsClient = held.isOf(claim.client());
        if (!overtaken && !isFirst) {
            boolean unused = join(claim, now);
        } else if (!overtaken) {
            held.first = new Waiter(claim, now, now, held.first.place());
        }
        if (!isOfItsClient) {
            return new LockAttempt.Queued(nextAttemptWithin(claim, waiters.size(), now));
        }
        if (!overtaken && isFirst) {
            LockAttempt unused = confirm(requireNonNull(holders.get(held.holder())), claim, now);
        }
        return granted(held, now);
    }

    private LockAttempt.AcquiredRun granted(HeldRun held, long now) {
        Holder holder = requireNonNull(holders.get(held.holder()));
        return new LockAttempt.AcquiredRun(held.run, Duration.ofNanos(holder.expiryNanos() - now));
    }

    /** Returns whether the claim is new in the queue. */
    private boolean join(LockClaim claim, long now) {
        Waiter before = waiters.get(claim.id());
        Waiter waiter = new Waiter(claim, now, now, before == null ? ++lastPlace : before.place());
        endsAt(waiter.staleAtNanos());
        waiters.put(claim.id(), waiter);
        line.put(waiter.place(), waiter);
        return before == null;
    }

    @CanIgnoreReturnValue
    private @Nullable Waiter leave(String id) {
        Waiter waiter = waiters.remove(id);
        if (waiter != null) {
            line.remove(waiter.place());
        }
        return waiter;
    }

    /** A watch of this claim has opened: a push would reach it from now on. */
    void watched(String id) {
        Waiter waiter = waiters.get(id);
        if (waiter == null) {
            return;
        }
        List<String> aside = doubted.get(waiter.claim().owner());
        if (aside == null) {
            line.put(waiter.place(), waiter);
        } else {
            aside.add(id);
        }
    }

    /** The client of this claim lives: its waiters get their places back. Returns whether it was doubted. */
    @CanIgnoreReturnValue
    private boolean trust(LockClaim claim) {
        List<String> aside = doubted.isEmpty() ? null : doubted.remove(claim.owner());
        if (aside == null) {
            return false;
        }
        for (String id : aside) {
            examined[0]++;
            Waiter waiter = waiters.get(id);
            if (waiter != null) {
                line.put(waiter.place(), waiter);
            }
        }
        return true;
    }

    Outcome<Renewal> renew(LockClaim claim, long now) {
        examined[0]++;
        List<Push> pushes = trust(claim) ? promote(NO_CLAIM, now) : List.of();
        Holder holder = holders.get(claim.id());
        if (holder == null || holder.isOver(now)) {
            return new Outcome<>(new Renewal.NotHeld(), pushes);
        }
        hold(claim.id(), holder.until(now + claim.lease().toNanos()));
        return new Outcome<>(new Renewal.Held(claim.lease()), pushes);
    }

    Outcome<Renewal> adopt(LockClaim claim, long token, long now) {
        HeldRun held = run;
        int index = held == null ? -1 : held.run.members().indexOf(claim.id());
        if (held != null && held.gone.contains(claim.id())) {
            return NOT_RENEWED;
        }
        if (held != null && index >= 0 && held.run.token(index) == token) {
            keepAlone(held, index, now);
        }
        Holder holder = holders.get(claim.id());
        return holder == null || holder.token() != token ? NOT_RENEWED : renew(claim, now);
    }

    Outcome<Ownership> release(LockClaim claim, long now) {
        settle(now);
        trust(claim);
        return run != null && run.members.contains(claim.id()) ? withdraw(run, claim.id(), now) : end(claim, now);
    }

    /** The run ends with this member, which holds the lock alone from now on. */
    private void keepAlone(HeldRun held, int index, long now) {
        String id = held.run.members().get(index);
        Holder holder = remove(held.holder());
        putBack(held, true, now);
        // As of its last attempt: an adopter has a later number, so that its release leaves a tombstone.
        LockClaim asSeen = requireNonNull(waiters.get(id)).claim();
        dropFirst(held, index + 1);
        hold(id, new Holder(asSeen, held.run.token(index), holder.sinceNanos(), holder.expiryNanos(), true));
        run = null;
    }

    private Outcome<Ownership> withdraw(HeldRun held, String id, long now) {
        examined[0]++;
        held.gone.add(id);
        leave(id);
        if (held.isWanted()) {
            return new Outcome<>(Ownership.NOT_HELD, signalToRest(held));
        }
        run = null;
        remove(held.holder());
        return new Outcome<>(Ownership.HELD, serveAll(now));
    }

    private List<Push> serveAll(long now) {
        List<Push> pushes = promote(NO_CLAIM, now);
        signalInterested(pushes);
        return pushes;
    }

    /** The member that left may have got the grant for all, or the answer may be lost: so the next one gets it too. */
    private List<Push> signalToRest(HeldRun held) {
        Holder holder = requireNonNull(holders.get(held.holder()));
        if (!held.isFirstGone()) {
            return List.of();
        }
        return held.run.members().stream()
                .skip(1)
                .map(waiters::get)
                .filter(it -> it != null && isWatched.test(it.claim().id()))
                .limit(1)
                .map(next -> new Push(next.claim().id(), holder.granted(held, next)))
                .toList();
    }

    /** Ends a run if it has the lock. If it ended without its client before, takes the served members out of the queue. */
    Outcome<LockRun.End> endRun(LockClaim claim, long number, int served, boolean wasEnded, long now) {
        examined[0]++;
        settle(now);
        trust(claim);
        Ownership ownership = wasEnded ? Ownership.HELD : Ownership.NOT_HELD;
        HeldRun held = run;
        if (held != null && held.run.number() == number) {
            ownership = Ownership.HELD;
            run = null;
            remove(held.holder());
            putBack(held, true, now);
            dropFirst(held, served);
            if (served <= 0) {
                leaveAlone(held);
            }
        } else {
            brokenOff.stream().filter(it -> it.run.number() == number).forEach(it -> dropFirst(it, served));
        }
        List<Push> pushes = serveAll(now);
        return new Outcome<>(new LockRun.End(ownership, nextOf(claim, pushes, now)), pushes);
    }

    /** The caller learns of its next run by the answer, which also confirms it. */
    private Optional<LockAttempt.AcquiredRun> nextOf(LockClaim claim, List<Push> pushes, long now) {
        HeldRun next = run;
        if (next == null || !next.isOf(claim.client())) {
            return Optional.empty();
        }
        pushes.removeIf(push -> push.signal() instanceof WatchSignal.GrantedRun);
        Holder holder = requireNonNull(holders.get(next.holder()));
        hold(next.holder(), holder.until(now + holder.claim().lease().toNanos()));
        return Optional.of(granted(next, now));
    }

    /** The members get their places back, and may become stale; if the client has ended the run, they begin anew. */
    private void putBack(HeldRun held, boolean isAlive, long now) {
        if (!held.isFirstGone()) {
            waiters.put(held.holder(), held.first);
            line.put(held.first.place(), held.first);
        }
        for (String id : held.run.members()) {
            Waiter member = waiters.get(id);
            if (member != null) {
                Waiter back = isAlive ? member.alive(now) : member;
                waiters.put(id, back);
                line.replace(back.place(), back);
                endsAt(back.staleAtNanos());
            }
        }
    }

    /** The client could not serve this run. So the first member gets the lock alone: the same run might never end. */
    private void leaveAlone(HeldRun held) {
        for (String id : held.run.members()) {
            Waiter member = waiters.get(id);
            if (member != null) {
                Waiter alone = member.alone();
                waiters.put(id, alone);
                line.replace(alone.place(), alone);
                return;
            }
        }
    }

    private void breakOff(HeldRun held) {
        Stream<HeldRun> needed = brokenOff.stream()
                .filter(it -> it.members.stream().anyMatch(id -> waiters.containsKey(id) || id.equals(held.holder())));
        brokenOff =
                Stream.concat(Stream.of(held), needed).limit(MOST_BROKEN_OFF).toList();
    }

    /** If they are members of a later run, they are withdrawn from it. */
    private void dropFirst(HeldRun held, int members) {
        for (String id : held.run
                .members()
                .subList(0, Math.min(members, held.run.members().size()))) {
            leave(id);
            if (run != null && run.members.contains(id)) {
                run.gone.add(id);
            }
        }
    }

    @CanIgnoreReturnValue
    private Holder remove(String id) {
        Holder holder = requireNonNull(holders.remove(id));
        count(holder, -1);
        return holder;
    }

    private Outcome<Ownership> end(LockClaim claim, long now) {
        examined[0]++;
        Holder held = holders.remove(claim.id());
        if (held != null) {
            count(held, -1);
        }
        boolean queued = leave(claim.id()) != null;
        interested.remove(claim.id());
        List<Push> pushes = promote(NO_CLAIM, now);
        if (held != null || queued) {
            signalInterested(pushes);
        }
        return new Outcome<>(held != null ? Ownership.HELD : Ownership.NOT_HELD, pushes);
    }

    private void signalInterested(List<Push> pushes) {
        examined[0] += interested.size();
        interested.keySet().forEach(id -> pushes.add(new Push(id, new WatchSignal.Changed())));
        interested.clear();
    }

    /** The number of its last processed attempt, 0 for none. Later ones of a released claim may still be under way. */
    int lastAttempt(String id) {
        Holder holder = holders.get(id);
        if (holder != null) {
            return holder.claim().attempt();
        }
        Waiter waiter = waiters.getOrDefault(id, interested.get(id));
        return waiter == null ? 0 : waiter.claim().attempt();
    }

    List<Push> serveAfterExpiry(long now) {
        settle(now);
        return isUnserved ? promote(NO_CLAIM, now) : List.of();
    }

    /** Ends expired leases and drops stale waiters. Grants nothing. */
    void settle(long now) {
        if (!mayEnd || nothingEndsBefore - now > 0) {
            return;
        }
        mayEnd = false;
        isUnserved = true;
        examined[0] += holders.size() + 2L * waiters.size() + interested.size();
        taken = 0;
        holders.values().removeIf(holder -> hasEnded(holder, now));
        waiters.values().removeIf(waiter -> hasEnded(waiter, now));
        line.values().removeIf(waiter -> isStale(waiter, now));
        interested.values().removeIf(waiter -> hasEnded(waiter, now));
        if (!doubted.isEmpty()) {
            Set<String> clients = new HashSet<>();
            waiters.values().forEach(waiter -> clients.add(waiter.claim().owner()));
            doubted.keySet().retainAll(clients);
        }
    }

    private boolean hasEnded(Holder holder, long now) {
        if (!holder.isOver(now)) {
            count(holder, 1);
            endsAt(holder.expiryNanos());
            return false;
        }
        HeldRun held = run;
        if (held != null && held.holder().equals(holder.claim().id())) {
            run = null;
            breakOff(held);
            putBack(held, false, now);
        }
        String client = holder.claim().owner();
        if (!holder.isConfirmed() && !client.isEmpty()) {
            doubted = doubted.isEmpty() ? new HashMap<>() : doubted;
            doubted.putIfAbsent(client, new ArrayList<>());
        }
        return true;
    }

    private boolean hasEnded(Waiter waiter, long now) {
        if (!waiter.isStale(now)) {
            endsAt(waiter.staleAtNanos());
        }
        return isStale(waiter, now);
    }

    /** A member of the run that has the lock need not send attempts: it may be the owner. */
    private boolean isStale(Waiter waiter, long now) {
        return waiter.isStale(now)
                && (run == null || !run.members.contains(waiter.claim().id()));
    }

    private void count(Holder holder, int times) {
        taken += (long) times * holder.permits();
    }

    private void endsAt(long nanos) {
        if (!mayEnd || nanos - nothingEndsBefore < 0) {
            nothingEndsBefore = nanos;
            mayEnd = true;
        }
    }

    private void hold(String id, Holder holder) {
        endsAt(holder.expiryNanos());
        Holder before = holders.put(id, holder);
        count(holder, 1);
        if (before != null) {
            count(before, -1);
        }
    }

    boolean isEmpty() {
        return holders.isEmpty() && waiters.isEmpty() && interested.isEmpty();
    }

    List<LockHolder> holders(long now) {
        return holders.values().stream()
                .filter(holder -> !holder.isOver(now))
                .sorted(Comparator.comparingLong(Holder::token))
                .map(holder -> holder.shown(now))
                .toList();
    }

    boolean isIdle(long now) {
        return holders.values().stream().allMatch(it -> it.isOver(now))
                && waiters.values().stream().allMatch(it -> isStale(it, now))
                && interested.values().stream().allMatch(it -> it.isStale(now));
    }

    LockReport report(String name, LockReport.Type type, long now) {
        List<LockHolder> held = holders(now);
        List<Waiter> queued = waiters.values().stream()
                .filter(it -> !isStale(it, now))
                .sorted(Comparator.comparingLong(Waiter::place))
                .toList();
        long wanted =
                interested.values().stream().filter(it -> !it.isStale(now)).count();
        return new LockReport(
                name,
                type,
                held.size(),
                held.stream().limit(LockReport.MOST_HOLDERS).toList(),
                queued.size(),
                queued.stream()
                        .limit(LockReport.MOST_WAITERS)
                        .map(it -> it.shown(now))
                        .toList(),
                held.isEmpty()
                        ? OptionalLong.empty()
                        : OptionalLong.of(held.get(held.size() - 1).fencingToken()),
                wanted == 0 ? Map.of() : Map.of("want a hint", Long.toString(wanted)),
                List.of());
    }

    Outcome<Ownership> breakHold(String id, long now) {
        HeldRun held = run;
        boolean isHolder = held != null && held.holder().equals(id);
        if (held != null && held.members.contains(id) && (isHolder || !held.gone.contains(id))) {
            return breakRun(held, id, now);
        }
        Holder holder = holders.get(id);
        if (holder == null || holder.isOver(now)) {
            return new Outcome<>(Ownership.NOT_HELD, List.of());
        }
        settle(now);
        Outcome<Ownership> released = end(holder.claim(), now);
        List<Push> pushes = new ArrayList<>(released.pushes());
        pushes.add(new Push(id, new WatchSignal.Lost(LossReason.NOT_HELD)));
        return new Outcome<>(released.answer(), pushes);
    }

    /** Only the client knows which members are over, and will say so: all but the broken one keep their places. */
    private Outcome<Ownership> breakRun(HeldRun held, String id, long now) {
        settle(now);
        if (run != held) {
            return new Outcome<>(Ownership.NOT_HELD, List.of());
        }
        run = null;
        breakOff(held);
        remove(held.holder());
        putBack(held, true, now);
        leave(id);
        WatchSignal lost = new WatchSignal.LostRun(held.run.number(), LossReason.NOT_HELD);
        List<Push> pushes = new ArrayList<>();
        held.run.members().stream().filter(isWatched).forEach(it -> pushes.add(new Push(it, lost)));
        pushes.addAll(serveAll(now));
        return new Outcome<>(Ownership.HELD, pushes);
    }

    List<String> contents() {
        List<String> lines = new ArrayList<>();
        holders.values().forEach(it -> lines.add("%s with token %d".formatted(line("held", it.claim()), it.token())));
        waiters.values().forEach(it -> lines.add(line("queued", it.claim())));
        interested.values().forEach(it -> lines.add(line("interested", it.claim())));
        return lines;
    }

    private static String line(String standing, LockClaim claim) {
        return "%s '%s' %s by claim %s"
                .formatted(claim.key().kind(), claim.key().name(), standing, claim.id());
    }

    /** Grants the lock to the first waiters that it admits, and pushes the grant to each of them except the caller. */
    private List<Push> promote(String caller, long now) {
        isUnserved = false;
        List<Push> pushes = new ArrayList<>();
        for (Iterator<Waiter> inOrder = line.values().iterator(); inOrder.hasNext(); ) {
            Waiter next = inOrder.next();
            examined[0]++;
            String id = next.claim().id();
            boolean isCaller = id.equals(caller);
            if (!isCaller && isOutOfReach(next)) {
                inOrder.remove(); // set aside, but it keeps its place until it is stale
                continue;
            }
            if (!admits(next.claim())) {
                // The waiters behind it wait too: this keeps a writer, or a claim of many permits, from starving.
                break;
            }
            inOrder.remove();
            waiters.remove(id);
            Holder holder = grant(next, now);
            HeldRun held = next.mayLead() ? lead(next, holder, inOrder, caller) : null;
            run = held;
            if (!isCaller) {
                pushes.add(new Push(id, held == null ? holder.granted(next) : holder.granted(held, held.first)));
            }
            if (held != null) {
                break;
            }
        }
        return pushes;
    }

    private @Nullable HeldRun lead(Waiter first, Holder holder, Iterator<Waiter> behind, String caller) {
        List<String> members = new ArrayList<>();
        members.add(first.claim().id());
        while (behind.hasNext() && members.size() < MOST_MEMBERS) {
            Waiter next = behind.next();
            examined[0]++;
            if (!next.claim().id().equals(caller) && isOutOfReach(next)) {
                behind.remove();
            } else if (next.mayFollow(first)) {
                members.add(next.claim().id());
            } else {
                break;
            }
        }
        tokens.reserve(members.size() - 1);
        return members.size() == 1 ? null : new HeldRun(new LockRun(holder.token(), members), first);
    }

    private boolean isOutOfReach(Waiter waiter) {
        LockClaim claim = waiter.claim();
        List<String> aside = doubted.isEmpty() ? null : doubted.get(claim.owner());
        if (aside != null) {
            aside.add(claim.id());
        }
        return aside != null || !isWatched.test(claim.id());
    }

    private boolean admits(LockClaim claim) {
        return switch (claim.key().kind()) {
            case MUTEX, WRITE -> holders.isEmpty();
            case READ ->
                holders.isEmpty() || !holders.values().iterator().next().isWriter(); // a writer is alone
            case SEMAPHORE -> taken + claim.permits() <= claim.key().permits();
        };
    }

    private Holder grant(Waiter waiter, long now) {
        LockClaim claim = waiter.claim();
        long expiry = now + Math.min(CLAIM_NANOS, claim.lease().toNanos());
        Holder holder = new Holder(claim, tokens.next(claim.tokenFloor()), now, expiry, false);
        hold(claim.id(), holder);
        return holder;
    }

    private LockAttempt confirm(Holder holder, LockClaim claim, long now) {
        long token = tokens.raised(holder.token(), claim.tokenFloor());
        hold(
                claim.id(),
                new Holder(
                        claim, token, holder.sinceNanos(), now + claim.lease().toNanos(), true));
        return new LockAttempt.Acquired(token, claim.lease());
    }

    /** A claim with a place that gives it up may have held back the waiters behind it. */
    private List<Push> leaveQueue(LockClaim claim, long now) {
        Waiter waiter = requireNonNull(leave(claim.id()));
        if (claim.waiting() == Waiting.NOTIFY) {
            interested = interested.isEmpty() ? new LinkedHashMap<>() : interested;
            interested.put(claim.id(), waiter);
            if (interested.size() > MOST_INTERESTED) {
                interested.remove(interested.keySet().iterator().next());
            }
        }
        return promote(NO_CLAIM, now);
    }

    private Duration nextAttemptWithin(LockClaim claim, int place, long now) {
        long firstExpiry = firstExpiryIn(now);
        long within =
                Math.min(firstExpiry + NANOS_PER_PLACE * place, claim.lease().toNanos() / 3);
        long bounded = place <= FIRST_PLACES ? Math.min(within, CLAIM_NANOS) : within;
        return Duration.ofNanos(Math.max(1, bounded));
    }

    /** Examines a few holders only: a lock may have many, and none of them has to end before the waiters try again. */
    private long firstExpiryIn(long now) {
        long first = Long.MAX_VALUE;
        int few = 0;
        for (Iterator<Holder> some = holders.values().iterator(); some.hasNext() && few < MOST_EXAMINED; ) {
            first = Math.min(first, some.next().expiryNanos() - now);
            few++;
            examined[0]++;
        }
        return holders.isEmpty() ? 0 : first;
    }

    /** Returns 1 for the first waiter. Behind the first places, the number of waiters is exact enough. */
    private int place(String id) {
        int place = 1;
        for (Iterator<Waiter> first = line.values().iterator(); first.hasNext() && place <= FIRST_PLACES; ) {
            if (first.next().claim().id().equals(id)) {
                return place;
            }
            place++;
            examined[0]++;
        }
        return Math.max(place, waiters.size());
    }
}
