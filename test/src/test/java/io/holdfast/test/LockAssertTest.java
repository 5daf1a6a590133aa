package io.holdfast.test;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockLease;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Each assertion fails when it should, and describes the present state. */
class LockAssertTest {

    @RegisterExtension
    final TestLocks locks = TestLocks.virtualTime();

    private LockAssert lock() {
        return locks.assertThat("stock/42");
    }

    private LockLease acquired() {
        return locks.await(locks.client().lock("stock/42").acquire());
    }

    private static void fails(ThrowingCallable assertion, String message) {
        assertThatThrownBy(assertion).isInstanceOf(AssertionError.class).hasMessage(message);
    }

    @Test
    void heldByTheCodeIsNotFree() {
        LockLease lease = acquired();
        fails(
                () -> lock().isFree(),
                "expected lock 'stock/42' to be free, but the code under test holds it with token 1; 0 waiters of the code under test; granted to it with tokens [1]");
        locks.await(lease.release());
        lock().isFree();
    }

    @Test
    void heldElsewhereIsNeitherFreeNorHeld() {
        locks.holdElsewhere("stock/42");
        fails(
                () -> lock().isFree(),
                "expected lock 'stock/42' to be free, but a rival holds it with token 1; 0 waiters of the code under test; granted to it with tokens []");
        fails(
                () -> lock().isHeld(),
                "expected lock 'stock/42' to be held by the code under test, but a rival holds it with token 1; 0 waiters of the code under test; granted to it with tokens []");
    }

    @Test
    void aFrozenHoldDoesNotCount() {
        LockLease lease = acquired();
        lock().isHeld();
        locks.held("stock/42").freeze();
        fails(
                () -> lock().isHeld(),
                "expected lock 'stock/42' to be held by the code under test, but it is free, a frozen lease with token 1 believes to hold it; 0 waiters of the code under test; granted to it with tokens [1]");
        assertThatThrownBy(() -> locks.await(lease.release())).hasMessageContaining("stock/42");
    }

    @Test
    void waitersAreCounted() {
        Rival rival = locks.holdElsewhere("stock/42");
        CompletableFuture<LockLease> waiting =
                locks.client().lock("stock/42").acquire().toFuture();
        fails(
                () -> lock().waiters(2),
                "expected lock 'stock/42' to have 2 waiters, but a rival holds it with token 1; 1 waiter of the code under test; granted to it with tokens []");
        lock().waiters(1);
        rival.release();
        fails(
                () -> lock().waiters(1),
                "expected lock 'stock/42' to have 1 waiter, but the code under test holds it with token 2; 0 waiters of the code under test; granted to it with tokens [2]");
        locks.await(waiting.join().release());
    }

    @Test
    void grantsAreCounted() {
        locks.await(acquired().release());
        locks.await(acquired().release());
        lock().grants(2);
        fails(
                () -> lock().grants(1),
                "expected lock 'stock/42' to have been granted 1 time to the code under test, but it is free; 0 waiters of the code under test; granted to it with tokens [1, 2]");
        locks.assertThat("other").grants(0);
    }

    @Test
    void aWriteOfAFormerOwnerIsDetected() {
        fails(
                () -> lock().tokensRise(),
                "no write under lock 'stock/42' was noted: let the resource of your test call wrote(\"stock/42\", token) for each write that it accepts");
        locks.wrote("stock/42", 3);
        locks.wrote("stock/42", 3);
        locks.wrote("other", 1);
        locks.wrote("stock/42", 5);
        lock().tokensRise();
        locks.wrote("stock/42", 4);
        fails(
                () -> lock().tokensRise(),
                "lock 'stock/42': a write with token 4 was accepted after one with token 5; the accepted tokens are, in this order, [3, 3, 5, 4]. A former owner has overwritten the data of a later one: the resource has to refuse it by its token");
    }

    @Test
    void aFreeLockCannotBeLost() {
        refused(
                () -> locks.held("stock/42"),
                "the code under test has 0 holds of lock 'stock/42', where one is needed: it is free; 0 waiters of the code under test; granted to it with tokens []");
    }

    @Test
    void aRivalCannotHoldALockThatIsHeld() {
        LockLease lease = acquired();
        refused(
                () -> locks.holdElsewhere("stock/42"),
                "lock 'stock/42' cannot be held elsewhere now: the code under test holds it with token 1; 0 waiters of the code under test; granted to it with tokens [1]. Make the rival before that, or freeze() or lose() the hold");
        locks.await(lease.release());
    }

    private static void refused(ThrowingCallable call, String message) {
        assertThatThrownBy(call).isInstanceOf(IllegalStateException.class).hasMessage(message);
    }
}
