package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LineTest {

    private static Place place(int created, LockKind kind, int permits, int limit) {
        return new Place(
                "name",
                Layout.bytes("key-" + created),
                "claim-" + created,
                kind,
                permits,
                limit,
                1000,
                "node",
                created,
                created,
                1);
    }

    private static List<Long> holders(Place... places) {
        return new Line(List.of(places)).holders().stream().map(Place::created).toList();
    }

    @Test
    void firstPlaceHoldsAMutex() {
        assertThat(holders(place(3, LockKind.MUTEX, 1, 1), place(5, LockKind.MUTEX, 1, 1)))
                .containsExactly(3L);
    }

    @Test
    void readersBeforeTheFirstWriterHoldTogether() {
        assertThat(holders(
                        place(1, LockKind.READ, 1, 1),
                        place(2, LockKind.READ, 1, 1),
                        place(3, LockKind.WRITE, 1, 1),
                        place(4, LockKind.READ, 1, 1)))
                .containsExactly(1L, 2L);
    }

    @Test
    void claimOfManyPermitsHoldsBackThoseBehindIt() {
        assertThat(holders(
                        place(1, LockKind.SEMAPHORE, 2, 3),
                        place(2, LockKind.SEMAPHORE, 3, 3),
                        place(3, LockKind.SEMAPHORE, 1, 3)))
                .containsExactly(1L);
    }

    /** The premise of all else: a claim need not be told again that it holds the lock. */
    @Test
    void holderStaysHolderWhenOthersLeaveAndComeBehindIt() {
        Random random = new Random(7);
        List<LockKind> kinds = List.of(LockKind.READ, LockKind.WRITE);
        for (int round = 0; round < 2_000; round++) {
            boolean isSemaphore = random.nextBoolean();
            List<Place> places = new ArrayList<>();
            for (int i = 1; i <= 8; i++) {
                places.add(
                        isSemaphore
                                ? place(i, LockKind.SEMAPHORE, 1 + random.nextInt(3), 3 + random.nextInt(3))
                                : place(i, kinds.get(random.nextInt(2)), 1, 1));
            }
            List<Place> before = new Line(places).holders();
            Place gone = places.remove(random.nextInt(places.size()));
            places.add(place(9, isSemaphore ? LockKind.SEMAPHORE : LockKind.WRITE, 1, 3));
            assertThat(new Line(places).holders())
                    .containsAll(before.stream().filter(it -> !it.equals(gone)).toList());
        }
    }

    @Test
    void timesToLiveAreFewAndNotMuchLonger() {
        for (int seconds = 1; seconds < 10_000; seconds++) {
            assertThat(Leases.rounded(seconds)).isBetween(seconds, seconds + seconds / 8);
        }
        assertThat(java.util.stream.IntStream.rangeClosed(1, 86_400)
                        .map(Leases::rounded)
                        .distinct()
                        .count())
                .isLessThan(150);
    }

    @Test
    void namesAreKeptAsTheyAre() {
        for (String name : List.of("a", "/", "a/b", "%2F", " ", "\0", "é", "e\u0301", "🔒", "line/mutex")) {
            String encoded = Layout.encode(name);
            assertThat(encoded).doesNotContain("/");
            assertThat(Layout.decode(encoded)).isEqualTo(name);
        }
    }
}
