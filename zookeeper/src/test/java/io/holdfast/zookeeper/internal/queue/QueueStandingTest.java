package io.holdfast.zookeeper.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An inspector must see the same holders as the claims themselves. */
class QueueStandingTest {

    private static final long SESSION = 0x1a2b;

    private static String name(LockKey key, int number) {
        return name(key, 1, number);
    }

    private static String name(LockKey key, int taken, int number) {
        LockClaim claim = LockClaim.first(key, "c" + number + "@orders:h:1", Duration.ofSeconds(30), Waiting.QUEUE)
                .withPermits(taken);
        return QueueNode.prefix(claim, SESSION) + "%010d".formatted(number);
    }

    private static LockKey any(Random random, boolean isSemaphore) {
        if (isSemaphore) {
            return new LockKey(LockKind.SEMAPHORE, "orders", 1 + random.nextInt(4));
        }
        return LockKey.of(random.nextInt(3) == 0 ? LockKind.WRITE : LockKind.READ, "orders");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void holdersAreTheClaimsThatFindThemselvesFirst(boolean isSemaphore) {
        Random random = new Random(7);
        for (int round = 0; round < 500; round++) {
            List<String> names = new ArrayList<>(List.of("no-place"));
            int nodes = random.nextInt(8);
            for (int i = 0; i < nodes; i++) {
                LockKey key = any(random, isSemaphore);
                names.add(name(key, 1 + random.nextInt(key.permits()), 10 * i + random.nextInt(10)));
            }
            Collections.shuffle(names, random);

            QueueStanding standing = QueueStanding.of(names);

            assertThat(standing.holders())
                    .as("%s", names)
                    .allMatch(node -> QueuePosition.of(names, node) instanceof QueuePosition.Holder);
            assertThat(standing.waiters())
                    .as("%s", names)
                    .noneMatch(node -> QueuePosition.of(names, node) instanceof QueuePosition.Holder);
            assertThat(standing.holders().size() + standing.waiters().size()).isEqualTo(nodes);
        }
    }

    @Test
    void labelIsNotInTheNameOfANode() {
        assertThat(name(LockKey.of(LockKind.MUTEX, "orders"), 3)).isEqualTo("c3_m1_1a2b_0000000003");
    }

    @ParameterizedTest
    @ValueSource(strings = {"orders", "stock/42", "é%41_", "🔒", "\0\n", "a-b"})
    void namesAreReadBack(String name) {
        assertThat(NodeNames.decode(NodeNames.encode(name))).contains(name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a_b", "%4", "%zz", "%41", "é"})
    void foreignNodesHaveNoName(String node) {
        assertThat(NodeNames.decode(node)).isEmpty();
    }
}
