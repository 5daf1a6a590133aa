package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Watch;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Which streams are open, without a server. */
class WatchesTest {

    private static final String LINE = "holdfast/line/rw/stock/";
    private static final String MARKS = "holdfast/mark/rw/stock/";

    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final Set<String> gone = new HashSet<>();
    private final List<String> changed = new ArrayList<>();
    private final Watches watches =
            new Watches(proxy(Watch.class), new Layout("holdfast/"), time, id -> !gone.contains(id), changed::add);

    private static <T> T proxy(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, args) -> method.getName().equals("watch") ? proxy(Watch.Watcher.class) : null));
    }

    private void await(String id, String among, String blocker, long revision) {
        watches.await(new Watches.Wish(id, EtcdStore.bytes(among), EtcdStore.bytes(among + blocker), 100, 0, revision));
    }

    private int streams() {
        time.advanceTime();
        return watches.streams();
    }

    @Test
    void streamsOfOneLockAreFewHoweverManyWritersReadersWaitFor() {
        for (int i = 0; i < 100; i++) {
            await("reader-" + i, MARKS, "writer-" + i, 9);
            await("writer-" + i, LINE, "reader-" + i, 9);
        }
        assertThat(streams()).isEqualTo(4);
        for (int i = 0; i < 100; i++) {
            watches.forget("reader-" + i);
            watches.forget("writer-" + i);
        }
        assertThat(streams()).isZero();
    }

    /** An answer may come after the cancellation, whose task then has nothing to forget. */
    @Test
    void claimThatDoesNotWaitAnyMoreOpensNoStream() {
        gone.add("a");
        watches.forget("a");
        await("a", LINE, "b", 9);
        assertThat(streams()).isZero();
    }

    /** The key may have been deleted and written again in between. */
    @Test
    void claimThatHasReadAnOlderRevisionThanItsWatchKnowsLooksAgain() {
        await("a", LINE, "c", 9);
        await("b", LINE, "c", 8);
        assertThat(streams()).isEqualTo(1);
        assertThat(changed).containsExactly("b");
    }
}
