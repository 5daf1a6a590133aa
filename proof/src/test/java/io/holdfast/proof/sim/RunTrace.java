package io.holdfast.proof.sim;

import io.holdfast.LockKind;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockRun;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.holdfast.testkit.history.HistoryEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The steps of one mutex at the store and at its clients, for {@code models/TraceRun.tla}. Ends early where the model leaves something out. */
final class RunTrace implements LockTrace {

    /** The clients that the model knows, and the claims of each. */
    static final List<String> CLIENTS = List.of("A", "B", "C");

    private static final int CLAIMS = 8;
    private static final int CLAIMS_ALONE = 4;

    /** All claims of the model. The clients take turns; the claims that are a run of their own are the last. */
    static final int ALL_CLAIMS = CLIENTS.size() * (CLAIMS + CLAIMS_ALONE);

    static final int FIRST_ALONE = CLIENTS.size() * CLAIMS + 1;

    /** A run that the store never had: no step with it is explained. */
    private static final int NO_SUCH = 99;

    /**
     * The lock at the store.
     *
     * @param token of the holder; 0 for none, -1 in the middle of a step
     */
    record Seen(long token, String holder, Set<String> waiters) {

        static final Seen FREE = new Seen(0, "", Set.of());

        /** Not seen: another part of the same step follows. */
        static final Seen NOT_YET = new Seen(-1, "", Set.of());
    }

    private static final class Known {

        final int client;

        /** Whether it is a run of its own, by its last attempt before a grant depended on it. */
        boolean isAlone;

        boolean isDecided;

        Known(int client) {
            this.client = client;
        }
    }

    private record Belief(int client, long token, long until) {}

    /** A step, whose claims get numbers in the end. */
    private interface Step {
        String of(Map<String, Integer> ids);
    }

    private final World world;
    private final List<Step> steps = new ArrayList<>();

    /** When each step was seen. */
    private final List<Long> times = new ArrayList<>();

    private final Map<String, Known> claims = new LinkedHashMap<>();
    private final Set<String> watched = new HashSet<>();

    /** The number of each run, from 1, by its first token. */
    private final TreeMap<Long, Integer> runs = new TreeMap<>();

    private final Map<String, LockKey> asked = new HashMap<>();
    private final Map<String, Belief> beliefs = new LinkedHashMap<>();

    /** How many steps there were when a token began. */
    private final Map<Long, Integer> begun = new HashMap<>();

    /** How many steps there were when the store was asked to end the hold of a token. */
    private final Map<Long, Integer> givenBack = new HashMap<>();

    private final Set<String> granted = new HashSet<>();

    private String lock = "";
    private Seen last = Seen.FREE;

    /** Whether the client of the holder has sent a request since the grant: otherwise the store doubts it when the lease is over. */
    private boolean isConfirmed;

    private String ended = "";

    RunTrace(World world) {
        this.world = world;
    }

    @Override
    public String ended() {
        return ended;
    }

    @Override
    public List<String> steps() {
        Map<String, Integer> ids = new HashMap<>();
        int[] usual = new int[CLIENTS.size()];
        int[] alone = new int[CLIENTS.size()];
        for (Map.Entry<String, Known> it : claims.entrySet()) {
            int client = it.getValue().client;
            int number = it.getValue().isAlone ? CLAIMS + alone[client]++ : usual[client]++;
            if (usual[client] > CLAIMS || alone[client] > CLAIMS_ALONE) {
                return List.of();
            }
            ids.put(it.getKey(), 1 + client + CLIENTS.size() * number);
        }
        return steps.stream().map(it -> it.of(ids)).toList();
    }

    void end(String why) {
        if (ended.isEmpty()) {
            ended = why;
        }
    }

    /** Returns whether the trace is about this lock: the first mutex that is used. */
    boolean isOf(LockKey key) {
        if (lock.isEmpty() && key.kind() == LockKind.MUTEX && key.name().startsWith("stock")) {
            lock = key.name();
        }
        return key.kind() == LockKind.MUTEX && key.name().equals(lock) && ended.isEmpty();
    }

    String lock() {
        return lock;
    }

    private void add(Step step) {
        if (ended.isEmpty()) {
            steps.add(step);
            times.add(world.now());
        }
    }

    private static int id(Map<String, Integer> ids, String claim) {
        return ids.getOrDefault(claim, 0);
    }

    private static String all(Map<String, Integer> ids, Set<String> of) {
        return of.stream().map(it -> id(ids, it)).sorted().map(Object::toString).collect(Collectors.joining(","));
    }

    private static String name(int client) {
        return client < CLIENTS.size() ? CLIENTS.get(client) : "nobody";
    }

    /** Adds a step of the store about a claim, or about the run that was there before. */
    private void at(String what, String claim, int run, Seen seen) {
        int now = seen.token() < 0 ? -1 : numberOf(seen.token());
        add(ids -> "<<\"%s\",%d,%d,0,%d,%d,{%s}>>"
                .formatted(what, id(ids, claim), run, now, id(ids, seen.holder()), all(ids, seen.waiters())));
    }

    /** Returns which run a token of the store is of. */
    private int numberOf(long token) {
        Map.Entry<Long, Integer> run = runs.floorEntry(token);
        return token == 0 ? 0 : run == null ? NO_SUCH : run.getValue();
    }

    private int placeOf(long token) {
        Long first = runs.floorKey(token);
        return first == null ? NO_SUCH : (int) (token - first + 1);
    }

    void watched(LockClaim claim) {
        watched.add(claim.id());
    }

    void unwatched(LockClaim claim) {
        watched.remove(claim.id());
    }

    /** Notes what time alone has changed since the last step: beliefs that are over, dead waiters, and what a timer of the store did. */
    void passes(Seen now) {
        passes();
        if (now.token() != 0 && now.token() != last.token()) {
            int former = numberOf(last.token());
            grants("", now);
            at("expire", "", former, now);
            doubts();
            isConfirmed = false;
            last = now;
            return;
        }
        Set<String> dropped = new HashSet<>(last.waiters());
        dropped.removeAll(now.waiters());
        if (!dropped.isEmpty()) {
            add(ids -> "<<\"drop\",{%s}>>".formatted(all(ids, dropped)));
            last = new Seen(last.token(), last.holder(), now.waiters());
        }
    }

    /** Ends the beliefs whose validity is over. */
    private void passes() {
        for (Map.Entry<String, Belief> it : List.copyOf(beliefs.entrySet())) {
            if (it.getValue().until() <= world.now()) {
                over(it.getKey(), it.getValue());
            }
        }
    }

    private boolean hasExpired(Seen before) {
        return last.token() != 0 && before.token() == 0;
    }

    private void doubts() {
        if (!isConfirmed) {
            end("a client that the store doubts");
        }
    }

    /** If the store has a new run, its place among the runs is known from now on. */
    private void grants(String caller, Seen now) {
        if (now.token() == 0 || now.token() == last.token()) {
            return;
        }
        Set<String> wanted = new HashSet<>(now.waiters());
        wanted.add(now.holder());
        for (String id : wanted) {
            if (!watched.contains(id) && !id.equals(caller)) {
                end("a waiter that cannot be signalled");
            }
            Known known = claims.get(id);
            if (known != null) {
                known.isDecided = true;
            }
        }
        if (runs.isEmpty() || now.token() > runs.lastKey()) {
            runs.put(now.token(), runs.size() + 1);
        }
    }

    private void settled(Seen now, boolean isAnswered) {
        isConfirmed = isAnswered || (isConfirmed && now.token() == last.token());
        last = now;
    }

    void joined(int client, LockClaim claim, LockAttempt answer, Seen before, Seen now) {
        if (client >= CLIENTS.size()) {
            end("a client that was opened later");
            return;
        }
        boolean isAlone = claim.client().isEmpty() || claim.waiting() != Waiting.QUEUE;
        boolean isKnown = claims.containsKey(claim.id());
        Known known = claims.computeIfAbsent(claim.id(), id -> new Known(client));
        boolean asksAgain =
                isKnown && known.isAlone == isAlone && last.waiters().contains(claim.id());
        if (asksAgain && before.equals(last) && now.equals(last)) {
            got(client, claim, answer); // it changes nothing
            return;
        }
        if (!known.isDecided) {
            known.isAlone = isAlone;
        } else if (known.isAlone != isAlone && now.waiters().contains(claim.id())) {
            end("a claim that was alone, and may be a member now");
        }
        boolean gaveUp = claim.waiting() != Waiting.QUEUE
                && !now.holder().equals(claim.id())
                && !(answer instanceof LockAttempt.Acquired);
        boolean hasExpired = hasExpired(before);
        int former = numberOf(last.token());
        grants(claim.id(), now);
        at("join", claim.id(), 0, hasExpired || gaveUp ? Seen.NOT_YET : now);
        if (hasExpired) {
            at("expire", claim.id(), former, gaveUp ? Seen.NOT_YET : now);
            doubts();
        }
        if (gaveUp) {
            at("leave", claim.id(), 0, now);
        }
        settled(now, now.holder().equals(claim.id()));
        got(client, claim, answer);
    }

    void renewed(LockClaim claim, Seen now) {
        isConfirmed |= claim.id().equals(last.holder());
        if (!now.equals(last) && now.token() != 0) {
            end("a renewal that lets a waiter in");
        }
    }

    void left(LockClaim claim, Seen before, Seen now) {
        if (!claims.containsKey(claim.id())) {
            return;
        }
        boolean hasExpired = hasExpired(before);
        int former = numberOf(last.token());
        if (claim.id().equals(last.holder())) {
            givenBack.putIfAbsent(last.token(), steps.size());
        }
        grants("", now);
        at("leave", claim.id(), 0, hasExpired ? Seen.NOT_YET : now);
        if (hasExpired) {
            at("expire", "", former, now);
            doubts();
        }
        settled(now, false);
    }

    void endedRun(int client, long number, int served, LockRun.End answer, Seen before, Seen now) {
        if (served <= 0) {
            end("a run that ended without a member that was served");
        }
        boolean hasExpired = hasExpired(before);
        int former = numberOf(last.token());
        int run = runs.getOrDefault(number, NO_SUCH);
        givenBack.putIfAbsent(number + served - 1, steps.size());
        grants("", now);
        if (hasExpired) {
            at("expire", "", former, Seen.NOT_YET);
        }
        int shown = numberOf(now.token());
        add(ids -> "<<\"end\",\"%s\",%d,%d,%d,%d,{%s}>>"
                .formatted(name(client), run, served, shown, id(ids, now.holder()), all(ids, now.waiters())));
        if (hasExpired) {
            doubts();
        }
        settled(now, answer.next().isPresent());
        answer.next()
                .ifPresent(next -> gets(client, next.run().number(), next.run().members()));
    }

    void signalled(int client, LockClaim claim, WatchSignal signal) {
        if (signal instanceof WatchSignal.GrantedRun run) {
            gets(client, run.run().number(), run.run().members());
        } else if (signal instanceof WatchSignal.Granted alone) {
            gets(client, alone.fencingToken(), List.of(claim.id()));
        }
    }

    private void got(int client, LockClaim claim, LockAttempt answer) {
        if (answer instanceof LockAttempt.AcquiredRun run) {
            gets(client, run.run().number(), run.run().members());
        } else if (answer instanceof LockAttempt.Acquired alone) {
            gets(client, alone.fencingToken(), List.of(claim.id()));
        }
    }

    /** A grant that a client gets. A plain one is a run of one member. */
    private void gets(int client, long token, List<String> members) {
        if (granted.add(client + " " + token + " " + members)) {
            int run = runs.getOrDefault(token, NO_SUCH);
            add(ids -> "<<\"gets\",\"%s\",%d,<<%s>>>>"
                    .formatted(
                            name(client),
                            run,
                            members.stream()
                                    .map(it -> Integer.toString(id(ids, it)))
                                    .collect(Collectors.joining(","))));
        }
    }

    @Override
    public void happened(HistoryEvent event) {
        String operation = event.process() + ' ' + event.operation();
        LockKey key = event.lock();
        if (key != null) {
            asked.put(operation, key);
        }
        LockKey of = asked.get(operation);
        if (of == null || of.kind() != LockKind.MUTEX || !of.name().equals(lock) || !ended.isEmpty()) {
            return;
        }
        passes();
        Belief belief = beliefs.get(operation);
        switch (event.what()) {
            case ACQUIRED -> begins(operation, event);
            case VALID ->
                beliefs.computeIfPresent(operation, (id, it) -> new Belief(it.client(), it.token(), event.value()));
            case INVALID -> wasOver(operation, belief);
            case RELEASE_ASKED, LOST -> over(operation, belief);
            default -> {}
        }
    }

    /** The members of a schedule are c1, c2 and so on. */
    private void begins(String operation, HistoryEvent event) {
        int client = Integer.parseInt(event.process().substring(1)) - 1;
        beliefs.put(operation, new Belief(client, event.token(), event.value()));
        add(believes("begin", client, event.token()));
        begun.put(event.token(), steps.size());
    }

    private Step believes(String what, int client, long token) {
        int run = numberOf(token);
        int place = placeOf(token);
        return ids -> "<<\"%s\",\"%s\",%d,%d>>".formatted(what, name(client), run, place);
    }

    private void over(String operation, @Nullable Belief belief) {
        if (belief != null) {
            beliefs.remove(operation);
            add(believes("over", belief.client(), belief.token()));
        }
    }

    /**
     * A lease that is seen to be invalid was so before. A user who cancels while it handles the lease gives it back, and sees that later. Otherwise it was
     * so before the other steps of this instant.
     */
    private void wasOver(String operation, @Nullable Belief belief) {
        if (belief == null) {
            return;
        }
        beliefs.remove(operation);
        int begin = begun.getOrDefault(belief.token(), 0);
        int at = steps.size();
        while (at > begin && times.get(at - 1) == world.now()) {
            at--;
        }
        int over = Math.max(begin, Math.min(at, givenBack.getOrDefault(belief.token(), at)));
        steps.add(over, believes("over", belief.client(), belief.token()));
        times.add(over, over < times.size() ? times.get(over) : world.now());
        begun.replaceAll((token, step) -> step > over ? step + 1 : step);
        givenBack.replaceAll((token, step) -> step > over ? step + 1 : step);
    }

    @Override
    public void closes(int client) {
        for (Map.Entry<String, Belief> it : List.copyOf(beliefs.entrySet())) {
            if (it.getValue().client() == client) {
                over(it.getKey(), it.getValue());
            }
        }
    }
}
