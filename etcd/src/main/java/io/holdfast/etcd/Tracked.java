package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.holdfast.LockKind;
import io.holdfast.etcd.Slots.Slot;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.support.Deadlines.Deadline;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** What this client knows of one claim of its own. All fields are guarded by this object. */
final class Tracked extends Deadline {

    private final String id;
    private final LockKey key;
    private final int permits;
    private final Consumer<Tracked> onOverdue;

    private LockKind role;

    /** The revision that created its place, which is its token; 0 if it has no known place. */
    private long created;

    private long modified;
    private boolean holds;
    private long sought;

    /** The key that it has, among those of this client. */
    private @Nullable Slot slot;

    /** Where its place is, or may be: its slot, or a slot of the client that it was adopted from. */
    private @Nullable ByteSequence place;

    /** Until when an attempt may rely on that a release of this client has passed the lock on to it; null if none has. */
    private @Nullable Long passedOnUntilNanos;

    /** The key that it waits for, if it is known as the follower of that key. Written by {@link Followers}. */
    private @Nullable ByteSequence followed;

    private @Nullable EtcdLease lease;

    /** The highest number of an attempt that was sent. */
    private int sent;

    /** Attempts without an answer. */
    private int open;

    /** Whether an attempt failed, or was cancelled: it may arrive late. */
    private boolean isInDoubt;

    private long doubtfulSinceNanos;

    private boolean isReleased;

    private long keptUntilNanos;

    /** The revision of its place in the last deletion that was sent; -1 if none was. */
    private long deleting = -1;

    /** The deletion of a claim that was silent for its whole lease, while it is under way. */
    private @Nullable Mono<Void> expiry;

    Tracked(LockClaim claim, Consumer<Tracked> onOverdue) {
        id = claim.id();
        key = claim.key();
        permits = claim.permits();
        role = key.kind();
        this.onOverdue = onOverdue;
    }

    @Override
    protected void passed() {
        onOverdue.accept(this);
    }

    String id() {
        return id;
    }

    LockKey key() {
        return key;
    }

    int permits() {
        return permits;
    }

    /** {@return where its place is, or may be; null if it never had one} */
    synchronized @Nullable ByteSequence place() {
        return place;
    }

    synchronized @Nullable Slot slot() {
        return slot;
    }

    /** Whether another attempt than the one that asks is under way, or failed. */
    synchronized boolean hasOtherAttempts() {
        return isInDoubt || open > 1;
    }

    /** An adoption looks for its place with this token. */
    synchronized void seek(long token) {
        sought = token;
    }

    /** {@return the token of the place that an adoption has looked for; 0 if none has} */
    synchronized long sought() {
        return sought;
    }

    /** Its place will be there. */
    synchronized void occupy(Slot free) {
        slot = free;
        place = free.key();
    }

    /** It has ended. */
    synchronized @Nullable Slot vacate() {
        Slot left = slot;
        slot = null;
        boolean unused = lose();
        return left;
    }

    synchronized LockKind role() {
        return role;
    }

    synchronized long created() {
        return created;
    }

    synchronized long modified() {
        return modified;
    }

    /** {@return its token if it is known to hold the lock; else 0} */
    synchronized long tokenIfHeld() {
        return holds ? created : 0;
    }

    synchronized @Nullable EtcdLease lease() {
        return lease;
    }

    /** Counts an attempt. */
    synchronized void send(int attempt) {
        sent = Math.max(sent, attempt);
        open++;
    }

    /** Whether a later attempt was sent before this one. */
    synchronized boolean isOvertaken(int attempt) {
        return attempt < sent;
    }

    synchronized void answered() {
        open--;
    }

    synchronized void unanswered(long nowNanos) {
        open--;
        isInDoubt = true;
        doubtfulSinceNanos = nowNanos;
    }

    synchronized void placed(Place seen, @Nullable EtcdLease keptBy) {
        if (seen.created() == created && seen.modified() < modified) {
            return; // it was read before the last change
        }
        holds &= created == seen.created();
        created = seen.created();
        role = seen.kind();
        place = seen.key();
        attached(seen.modified(), keptBy);
    }

    synchronized void placed(LockKind as, long revision, EtcdLease keptBy) {
        created = revision;
        role = as;
        holds = false;
        attached(revision, keptBy);
    }

    synchronized void attached(long revision, @Nullable EtcdLease keptBy) {
        modified = revision;
        lease = keptBy;
    }

    synchronized void isReader(long revision) {
        role = LockKind.READ;
        modified = revision;
    }

    /** The place that this revision has created holds the lock. It may have been lost meanwhile, and another one made. */
    synchronized void hold(long revision) {
        holds |= created == revision;
    }

    /** Whether it has a place, created before this revision, which its release will delete. */
    synchronized boolean isBefore(long revision) {
        return created != 0 && created < revision && !isReleased;
    }

    /** Whether it is known to be the first of its line. */
    synchronized boolean isFirst() {
        return holds && (role == LockKind.MUTEX || role == LockKind.WRITE);
    }

    /** Its place with this revision was there when the claim before it ended. */
    synchronized void passOn(long revision, long untilNanos) {
        if (created == revision && !isReleased) {
            holds = true;
            passedOnUntilNanos = untilNanos;
        }
    }

    /** {@return its token, once after it was passed on; 0 if it was not, or if a deletion that was sent may still end it} */
    synchronized long takePassedOn(long nowNanos) {
        Long until = passedOnUntilNanos;
        passedOnUntilNanos = null;
        return holds && until != null && nowNanos - until < 0 && deleting != modified ? created : 0;
    }

    synchronized @Nullable ByteSequence follow(@Nullable ByteSequence key) {
        ByteSequence before = followed;
        followed = key;
        return before;
    }

    /** Its place is gone. Returns whether it held the lock. */
    synchronized boolean lose() {
        boolean held = holds;
        holds = false;
        passedOnUntilNanos = null;
        created = 0;
        modified = 0;
        lease = null;
        place = slot == null ? null : slot.key();
        return held;
    }

    synchronized boolean isIdle() {
        return created == 0 && open == 0 && !isInDoubt && !isReleased;
    }

    synchronized boolean isReleased() {
        return isReleased;
    }

    /** Returns whether an attempt may still be under way, so that the release has to leave a tombstone. */
    synchronized boolean release(int attempts) {
        isReleased = true;
        isInDoubt |= open > 0 || attempts > sent;
        return isInDoubt;
    }

    /** Whether an attempt is under way, or failed within the given time, and may write a place that this client has to delete. */
    synchronized boolean mayArriveLate(long nowNanos, Duration within) {
        return open > 0 || (isInDoubt && nowNanos - doubtfulSinceNanos < within.toNanos());
    }

    synchronized void keepUntil(long nanos) {
        keptUntilNanos = nanos;
    }

    synchronized boolean isKept(long nowNanos) {
        return nowNanos - keptUntilNanos < 0;
    }

    /** Its place with this revision of its last change is gone. */
    synchronized void loseIfUnchanged(long revision) {
        if (modified == revision) {
            boolean unused = lose();
        }
    }

    /** Returns the revision of its place at which a deletion may now find it. */
    synchronized long beginDeletion() {
        deleting = modified;
        return modified;
    }

    /** Returns whether its place may be deleted at this revision. A request that keeps it from now on has to change it first. */
    synchronized boolean beginDeletion(long revision, long nowNanos) {
        if (isKept(nowNanos)) {
            return false;
        }
        deleting = revision;
        return true;
    }

    /** Whether a deletion that was sent may still arrive, and find its place with this revision. */
    synchronized boolean mayBeDeleted(long revision) {
        return deleting == revision;
    }

    synchronized @Nullable Mono<Void> expiry() {
        return expiry;
    }

    synchronized void expiry(@Nullable Mono<Void> underWay) {
        expiry = underWay;
    }

    /** The request waits until the deletion that is under way has ended. */
    <T> Mono<T> afterExpiry(Mono<T> request) {
        Mono<Void> underWay = expiry();
        return underWay == null ? request : underWay.then(request);
    }

    /** What deletes this place of the claim. */
    List<Op> deletions(Layout layout, ByteSequence at) {
        Op deletion = Op.delete(at, DeleteOption.DEFAULT);
        return key.kind() == LockKind.READ || key.kind() == LockKind.WRITE
                ? List.of(deletion, Op.delete(layout.mark(at), DeleteOption.DEFAULT))
                : List.of(deletion);
    }

    @Override
    public synchronized String toString() {
        return "%s lock '%s', claim %s, place %d%s%s"
                .formatted(key.kind(), key.name(), id, created, holds ? ", holds" : "", isReleased ? ", released" : "");
    }
}
