package io.holdfast.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchResponse;
import io.holdfast.LockKind;
import io.holdfast.etcd.Transactions.Answer;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import reactor.test.scheduler.VirtualTimeScheduler;

/** What waiters make of deletions, without a server. The place that revision n has created has the key n. */
class WatchesTest {

    private static final LockKey STOCK = LockKey.of(LockKind.MUTEX, "stock");

    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final Layout layout = new Layout("holdfast/", "client");
    private final Map<ByteSequence, Watch.Listener> open = new HashMap<>();
    private final List<Long> beginnings = new ArrayList<>();
    private final List<String> heard = new ArrayList<>();
    private final Set<String> gone = new HashSet<>();
    private final Watches watches = new Watches(
            (Watch) Proxy.newProxyInstance(
                    Watch.class.getClassLoader(),
                    new Class<?>[] {Watch.class},
                    (proxy, method, args) ->
                            watcher((ByteSequence) args[0], (WatchOption) args[1], (Watch.Listener) args[2])),
            layout,
            time,
            id -> !gone.contains(id),
            id -> heard.add(id + " looks"),
            (id, created) -> heard.add(id + " holds " + created));

    private Watch.Watcher watcher(ByteSequence key, WatchOption option, Watch.Listener listener) {
        open.put(key, listener);
        beginnings.add(option.getRevision());
        return (Watch.Watcher) Proxy.newProxyInstance(
                Watch.class.getClassLoader(),
                new Class<?>[] {Watch.Watcher.class},
                (proxy, method, args) -> method.getName().equals("close") ? open.remove(key) : null);
    }

    private ByteSequence key(long created) {
        return layout.line(STOCK).concat(Layout.bytes("client." + created));
    }

    /** A claim has entered behind this many others, the last of which is the one with the key. */
    private void waits(String id, long created, long blocker, long ahead) {
        watches.await(new Watches.Wish(
                id, layout.line(STOCK), key(blocker), created, ahead, new Answer(true, List.of(), created)));
        time.advanceTime();
    }

    /** Deletions of places by one transaction. */
    private void deleted(long revision, long... created) {
        var response = io.etcd.jetcd.api.WatchResponse.newBuilder();
        for (long it : created) {
            LockClaim claim = LockClaim.first(STOCK, "claim-" + it, Duration.ofSeconds(9), Waiting.QUEUE);
            ByteString key = ByteString.copyFrom(key(it).getBytes());
            response.addEvents(Event.newBuilder()
                    .setType(Event.EventType.DELETE)
                    .setKv(KeyValue.newBuilder().setKey(key).setModRevision(revision))
                    .setPrevKv(KeyValue.newBuilder()
                            .setKey(key)
                            .setCreateRevision(it)
                            .setValue(ByteString.copyFrom(
                                    Place.text(claim, "client").getBytes()))));
        }
        WatchResponse events = new WatchResponse(response.build());
        List.copyOf(open.entrySet()).stream()
                .filter(it -> it.getKey().equals(layout.line(STOCK)) || isOf(it.getKey(), created))
                .forEach(it -> it.getValue().onNext(events));
        time.advanceTime();
    }

    private boolean isOf(ByteSequence watched, long... created) {
        return java.util.Arrays.stream(created).anyMatch(it -> key(it).equals(watched));
    }

    @Test
    void keysOfATestAreThoseOfALine() {
        assertThat(key(3).toString(UTF_8)).isEqualTo("holdfast/line/mutex/stock/client.3");
    }

    /** What was deleted between the read and the opening must not be missed. */
    @Test
    void watchesBeginWhereTheLineWasRead() {
        waits("b", 5, 1, 1);
        waits("c", 8, 2, 2);
        assertThat(beginnings).containsExactly(6L, 9L);
    }

    @Test
    void waiterHoldsTheLockWhenTheOnlyOneBeforeItHasGone() {
        waits("b", 2, 1, 1);
        deleted(9, 1);
        assertThat(heard).containsExactly("b holds 2");
        assertThat(open).isEmpty();
    }

    @Test
    void waiterThatKnowsTheKeyBeforeItAloneLooks() {
        waits("c", 3, 2, 2);
        deleted(9, 2);
        assertThat(heard).containsExactly("c looks");
    }

    @Test
    void waitersOfOneClientHoldTheLockOneAfterTheOther() {
        waits("b", 2, 1, 1);
        waits("c", 3, 2, 2);
        waits("d", 4, 3, 3);
        deleted(9, 1);
        deleted(10, 2);
        deleted(11, 3);
        assertThat(heard).containsExactly("b holds 2", "c holds 3", "d holds 4");
        assertThat(open).isEmpty();
    }

    @Test
    void waiterWhosePredecessorGivesUpLooks() {
        waits("b", 2, 1, 1);
        waits("c", 3, 2, 2);
        deleted(9, 2);
        assertThat(heard).containsExactly("c looks");
    }

    /** An entry is the last one in its transaction, so its read has seen what the others delete. */
    @Test
    void deletionInTheTransactionOfTheWaiterDoesNotCount() {
        waits("b", 2, 1, 1);
        waits("d", 4, 3, 2);
        deleted(4, 2);
        deleted(9, 1);
        assertThat(heard).containsExactly("b holds 2");
        deleted(10, 3);
        assertThat(heard).containsExactly("b holds 2", "d holds 4");
    }

    @Test
    void deletionThatIsReportedTwiceCountsOnce() {
        waits("b", 2, 1, 1);
        waits("e", 5, 4, 3);
        deleted(9, 3);
        deleted(9, 3);
        assertThat(heard).isEmpty();
    }

    @Test
    void waiterThatHasLostItsPlaceLooks() {
        waits("b", 2, 1, 1);
        waits("d", 4, 3, 2);
        deleted(9, 4);
        deleted(10, 1);
        deleted(11, 3);
        assertThat(heard).containsExactly("b holds 2", "d looks");
    }

    /** The key was that of a former claim, whose end the watch of another waiter reports late. */
    @Test
    void lateEndOfAFormerClaimWithTheSameKeyMeansNothing() {
        waits("b", 2, 1, 1);
        waits("c", 9, 1, 1);
        deleted(5, 1);
        assertThat(heard).containsExactly("b holds 2");
        deleted(12, 1);
        assertThat(heard).containsExactly("b holds 2", "c holds 9");
    }

    @Test
    void placesBehindDoNotCount() {
        waits("b", 2, 1, 1);
        waits("d", 4, 3, 2);
        deleted(9, 7, 8);
        assertThat(heard).isEmpty();
        deleted(10, 1, 3);
        assertThat(heard).containsExactly("b holds 2", "d holds 4");
    }

    @Test
    void streamsOfOneLockAreFewHoweverManyWritersReadersWaitFor() {
        LockKey reading = LockKey.of(LockKind.READ, "stock");
        Answer read = new Answer(true, List.of(), 9);
        for (int i = 0; i < 100; i++) {
            ByteSequence marks = layout.marks(reading);
            ByteSequence line = layout.line(reading);
            ByteSequence slot = Layout.bytes("client." + i);
            watches.await(new Watches.Wish("reader-" + i, marks, marks.concat(slot), 100, Watches.UNKNOWN, read));
            watches.await(new Watches.Wish("writer-" + i, line, line.concat(slot), 100, 50, read));
        }
        time.advanceTime();
        assertThat(watches.streams()).isEqualTo(4);
        for (int i = 0; i < 100; i++) {
            watches.forget("reader-" + i);
            watches.forget("writer-" + i);
        }
        time.advanceTime();
        assertThat(watches.streams()).isZero();
    }

    /** An answer may come after the cancellation, whose task then has nothing to forget. */
    @Test
    void claimThatDoesNotWaitAnyMoreOpensNoStream() {
        gone.add("b");
        watches.forget("b");
        waits("b", 2, 1, 1);
        assertThat(watches.streams()).isZero();
    }

    /** The key before it is that of a later claim by now. */
    @Test
    void waiterThatReadBeforeTheWatchBeganLooks() {
        waits("d", 9, 1, 1);
        waits("c", 8, 1, 1);
        assertThat(heard).containsExactly("c looks");
    }
}
