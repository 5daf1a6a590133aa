package io.holdfast.proof.sim;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.holdfast.proof.sim.EtcdData.Change;
import io.holdfast.proof.sim.EtcdGroup.Proposal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One member: a Raft node that leads, follows or stands for election, its leases if it leads, and its clients with their watches. */
final class EtcdMember extends Server {

    private static final long TICK = World.ms(200);

    /** One second, the default of etcd. */
    private static final int ELECTION_TICKS = 5;

    private static final int NO_LEADER_TICKS = 3 * ELECTION_TICKS;
    private static final long ANSWER_LIMIT = World.ms(7_000);
    private static final long RENEWS_AGAIN = World.ms(500);

    /** The answer to a keep-alive if this member does not know: the gateway asks again. */
    private static final long NO_ANSWER = -1;

    /** A watch of a client. */
    private record Watching(WatchCreateRequest wish, boolean needsALeader, Wire wire, Consumer<Object> to) {

        boolean wants(Change change) {
            ByteString key = change.now().getKey();
            boolean isIn = wish.getRangeEnd().isEmpty()
                    ? key.equals(wish.getKey())
                    : ORDER.compare(key, wish.getKey()) >= 0 && ORDER.compare(key, wish.getRangeEnd()) < 0;
            WatchCreateRequest.FilterType unwanted =
                    change.isDeletion() ? WatchCreateRequest.FilterType.NODELETE : WatchCreateRequest.FilterType.NOPUT;
            return isIn
                    && change.revision() >= wish.getStartRevision()
                    && !wish.getFiltersList().contains(unwanted);
        }
    }

    private static final Comparator<ByteString> ORDER = ByteString.unsignedLexicographicalComparator();

    private final EtcdGroup group;
    private final int index;
    private final double rate;

    // The log.
    private long term = 1;
    private long lastTerm = 1;
    private long lastIndex;
    private final List<Proposal> undecided = new ArrayList<>();
    private int applied;
    private long appliedRevision = 1;

    // The role.
    private @Nullable EtcdMember leader;
    private @Nullable Proposal firstOfTerm;
    private boolean isPrimary;
    private int silentTicks;
    private int patience = ELECTION_TICKS;
    private int votes;
    private int leaderlessTicks;
    private boolean hasVoted;
    private final Set<EtcdMember> heardFrom = new LinkedHashSet<>();

    /** By its clock; of the leader only. */
    private final Map<Long, Long> leaseEnds = new LinkedHashMap<>();

    private final Set<Long> revoking = new LinkedHashSet<>();
    private final List<Proposal> waiting = new ArrayList<>();
    private final Map<Object, Watching> watchings = new LinkedHashMap<>();

    EtcdMember(World world, EtcdGroup group, int index, double rate) {
        super(world, "e" + (index + 1), rate, 0);
        this.group = group;
        this.index = index;
        this.rate = rate;
        world.after(TICK + index, this::tick);
    }

    int index() {
        return index;
    }

    private long now() {
        return (long) (world.now() * rate);
    }

    /** Returns whether it leads, or believes that it does. */
    boolean leads() {
        return leader == this && isUp();
    }

    private List<EtcdMember> others() {
        return group.members().stream().filter(it -> it != this).toList();
    }

    // ---- requests of clients

    /** Answers with the outcome of the request, or with an error after a time without a majority. The request may be carried out all the same. */
    void ask(Wire wire, Function<EtcdData, Object> request, Consumer<Object> answer) {
        Proposal entry = new Proposal(this, request, outcome -> wire.toClient(() -> answer.accept(outcome)));
        route(entry);
        world.after(ANSWER_LIMIT, () -> receive(() -> entry.answer(unavailable("etcdserver: request timed out"))));
    }

    static Function<EtcdData, Object> txn(TxnRequest request) {
        return data -> data.txn(request);
    }

    private static StatusRuntimeException unavailable(String why) {
        return Status.UNAVAILABLE.withDescription(why).asRuntimeException();
    }

    private void route(Proposal entry) {
        EtcdMember to = leader;
        if (to == null) {
            waiting.add(entry);
        } else if (to == this) {
            propose(entry);
        } else {
            group.send(this, to, () -> to.propose(entry));
        }
    }

    /** A member that does not lead any more drops what others send it. */
    private void propose(Proposal entry) {
        if (leader == this) {
            append(entry);
            replicate();
        }
    }

    private void append(Proposal entry) {
        undecided.add(entry);
        lastTerm = term;
        lastIndex++;
    }

    /** A keep-alive is not in the log: the leader renews the lease. */
    void renew(Wire wire, long lease, Consumer<Object> answer) {
        renew(new Proposal(this, data -> lease, outcome -> wire.toClient(() -> answer.accept(outcome))), lease, 0);
    }

    private void renew(Proposal entry, long lease, long waited) {
        if (entry.isAnswered()) {
            return;
        }
        if (waited >= ANSWER_LIMIT) {
            entry.answer(unavailable("etcdserver: request timed out"));
            return;
        }
        EtcdMember to = leader;
        if (to == this) { // a former leader does not answer: it makes sure that a majority follows
            route(new Proposal(this, data -> lease, unused -> renewed(entry, renewNow(lease))));
        } else if (to != null) {
            group.send(this, to, () -> {
                long seconds = to.renewNow(lease);
                group.send(to, this, () -> renewed(entry, seconds));
            });
        }
        world.after(RENEWS_AGAIN, () -> receive(() -> renew(entry, lease, waited + RENEWS_AGAIN)));
    }

    private static void renewed(Proposal entry, long seconds) {
        if (seconds != NO_ANSWER) {
            entry.answer(seconds);
        }
    }

    private long renewNow(long lease) {
        if (!isPrimary) {
            return NO_ANSWER;
        }
        Long end = leaseEnds.get(lease);
        if (end == null) {
            return 0;
        }
        if (end <= now()) {
            return NO_ANSWER; // it is about to be revoked
        }
        long seconds = group.data().secondsOf(lease);
        leaseEnds.put(lease, now() + World.ms(1_000 * seconds));
        return seconds;
    }

    void watch(Wire wire, Object number, WatchCreateRequest wish, boolean needsALeader, Consumer<Object> to) {
        Watching watching = new Watching(wish, needsALeader, wire, to);
        if (wish.getStartRevision() != 0
                && wish.getStartRevision() < group.data().compacted()) {
            long compacted = group.data().compacted();
            wire.toClient(() -> to.accept(WatchResponse.newBuilder()
                    .setCanceled(true)
                    .setCompactRevision(compacted)
                    .build()));
            return;
        }
        watchings.put(number, watching);
        if (wish.getStartRevision() != 0) {
            tell(
                    watching,
                    group.data().history().stream()
                            .filter(it -> it.revision() <= appliedRevision)
                            .toList());
        }
    }

    void unwatch(Object number) {
        watchings.remove(number);
    }

    private void tell(Watching watching, List<Change> changes) {
        WatchResponse.Builder answer = WatchResponse.newBuilder();
        answer.getHeaderBuilder().setRevision(appliedRevision);
        for (Change change : changes) {
            if (watching.wants(change)) {
                Event.Builder event = Event.newBuilder()
                        .setType(change.isDeletion() ? Event.EventType.DELETE : Event.EventType.PUT)
                        .setKv(change.now());
                boolean isThere = change.before() != null
                        && change.revision() > group.data().compacted();
                if (watching.wish().getPrevKv() && isThere) {
                    event.setPrevKv(change.before());
                }
                answer.addEvents(event);
            }
        }
        if (answer.getEventsCount() > 0) {
            WatchResponse told = answer.build();
            watching.wire().toClient(() -> watching.to().accept(told));
        }
    }

    // ---- the log

    private void replicate() {
        for (EtcdMember other : others()) {
            List<Proposal> sent = List.copyOf(undecided);
            long inTerm = term;
            long ofTerm = lastTerm;
            long upTo = lastIndex;
            int known = applied;
            group.send(this, other, () -> other.take(this, inTerm, sent, ofTerm, upTo, known));
        }
    }

    private void take(EtcdMember from, long inTerm, List<Proposal> sent, long ofTerm, long upTo, int known) {
        if (inTerm < term) {
            long mine = term;
            group.send(this, from, () -> from.heardOf(mine));
            return;
        }
        follow(from, inTerm);
        undecided.clear();
        lastTerm = ofTerm;
        lastIndex = upTo;
        sent.forEach(group::decide); // the leader has them, and this member: a majority
        advance(known);
        int soFar = group.decidedSoFar();
        group.send(this, from, () -> from.acknowledged(this, inTerm, soFar));
    }

    private void acknowledged(EtcdMember by, long inTerm, int soFar) {
        if (leader == this && term == inTerm) {
            heardFrom.add(by);
            undecided.removeIf(Proposal::isDecided);
            if (soFar > applied) {
                advance(soFar);
                replicate();
            }
        }
    }

    /** Applies what is decided: answers its clients, and tells those that watch. */
    private void advance(int to) {
        for (; applied < to; applied++) {
            Proposal entry = group.decided(applied);
            if (entry == firstOfTerm && leader == this) {
                promote();
            }
            if (isPrimary) {
                learnLeases();
            }
            if (!entry.changes().isEmpty()) {
                appliedRevision =
                        entry.changes().get(entry.changes().size() - 1).revision();
                List.copyOf(watchings.values()).forEach(it -> tell(it, entry.changes()));
            }
            if (entry.gateway == this) {
                entry.answer();
            }
        }
    }

    /** A new leader lets each lease begin again, and adds the time in which a former leader may have renewed it. */
    private void promote() {
        isPrimary = true;
        leaseEnds.clear();
        revoking.clear();
        for (long lease : group.data().leases()) {
            leaseEnds.put(lease, now() + World.ms(1_000 * group.data().secondsOf(lease)) + ELECTION_TICKS * TICK);
        }
    }

    private void learnLeases() {
        leaseEnds.keySet().retainAll(group.data().leases());
        for (long lease : group.data().leases()) {
            leaseEnds.computeIfAbsent(
                    lease, it -> now() + World.ms(1_000 * group.data().secondsOf(it)));
        }
    }

    private void revokeOverdue() {
        List<Long> overdue = overdue();
        for (long lease : overdue) {
            if (revoking.add(lease)) {
                append(revocation(lease));
            }
        }
    }

    private List<Long> overdue() {
        return leaseEnds.entrySet().stream()
                .filter(it -> it.getValue() <= now())
                .map(Map.Entry::getKey)
                .toList();
    }

    private Proposal revocation(long lease) {
        return new Proposal(
                this,
                data -> {
                    world.trace("    lease %x ends", lease);
                    return data.revoke(lease);
                },
                unused -> {});
    }

    /** An operator revokes a lease. */
    void revoke(long lease) {
        route(revocation(lease));
    }

    // ---- the role

    void leadsAtFirst() {
        leader = this;
        isPrimary = true;
        others().forEach(it -> it.leader = this);
    }

    private void tick() {
        world.after(TICK, this::tick);
        if (!isRunning()) {
            return;
        }
        if (leader == this) {
            lead();
        } else if (++silentTicks >= patience) {
            stand();
        }
        if (leader != null) {
            leaderlessTicks = 0;
            List<Proposal> late = List.copyOf(waiting);
            waiting.clear();
            late.forEach(this::route);
        } else if (++leaderlessTicks == NO_LEADER_TICKS) {
            endWatchesThatNeedALeader();
        }
    }

    private void lead() {
        if (++silentTicks >= ELECTION_TICKS) {
            silentTicks = 0;
            if (heardFrom.isEmpty()) {
                world.trace("  %s leads no more: no majority answers", this);
                follow(null, term);
                return;
            }
            heardFrom.clear();
        }
        if (isPrimary) {
            revokeOverdue();
        }
        replicate();
    }

    private void endWatchesThatNeedALeader() {
        watchings.values().removeIf(it -> {
            if (it.needsALeader()) {
                it.wire().toClient(() -> it.to().accept(unavailable("etcdserver: no leader")));
            }
            return it.needsALeader();
        });
    }

    private void stand() {
        follow(null, term + 1);
        hasVoted = true;
        votes = 1;
        world.trace("  %s stands for election in term %d", this, term);
        long inTerm = term;
        long ofTerm = lastTerm;
        long upTo = lastIndex;
        others().forEach(other -> group.send(this, other, () -> other.vote(this, inTerm, ofTerm, upTo)));
    }

    private void vote(EtcdMember candidate, long inTerm, long ofTerm, long upTo) {
        boolean hasALeader = leader != null && silentTicks < ELECTION_TICKS;
        if (inTerm < term || hasALeader || (inTerm == term && hasVoted)) {
            return;
        }
        if (inTerm > term) {
            int silent = silentTicks;
            follow(null, inTerm);
            silentTicks = silent;
        }
        if (ofTerm > lastTerm || (ofTerm == lastTerm && upTo >= lastIndex)) {
            hasVoted = true;
            silentTicks = 0;
            group.send(this, candidate, () -> candidate.elect(inTerm));
        }
    }

    private void elect(long inTerm) {
        if (inTerm == term && leader == null && ++votes == 2) {
            world.trace("  %s leads in term %d", this, term);
            leader = this;
            silentTicks = 0;
            heardFrom.clear();
            firstOfTerm = new Proposal(this, data -> "", unused -> {});
            append(firstOfTerm);
            replicate();
        }
    }

    private void heardOf(long later) {
        if (later > term) {
            follow(null, later);
        }
    }

    private void follow(@Nullable EtcdMember other, long inTerm) {
        boolean wasPrimary = isPrimary;
        isPrimary = false;
        silentTicks = 0;
        patience = ELECTION_TICKS + world.below(ELECTION_TICKS);
        hasVoted &= inTerm == term;
        term = inTerm;
        leader = other;
        heardFrom.clear();
        if (wasPrimary && group.isOld()) {
            world.trace("  %s led until now, and revokes %s", this, overdue());
            overdue().forEach(lease -> route(revocation(lease)));
        }
    }

    // ---- the process

    @Override
    protected void lost(Wire wire) {
        watchings.values().removeIf(it -> it.wire() == wire);
    }

    /** The log is on its disk. */
    @Override
    protected void forget(boolean dataToo) {
        watchings.clear();
        follow(null, term);
        waiting.clear();
    }
}
