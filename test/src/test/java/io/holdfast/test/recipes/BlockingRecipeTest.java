package io.holdfast.test.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.test.TestLocks;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The recipe of docs/guides/recipes.md for work that blocks: it has a thread of its own, so time is real. */
class BlockingRecipeTest {

    @RegisterExtension
    final TestLocks test = TestLocks.realTime();

    private final LockClient locks = test.client();

    // recipe: begin
    Mono<Integer> importFile() {
        Mono<Integer> blocking = Mono.fromCallable(this::readAndInsert) // may block, with JDBC for example
                .subscribeOn(Schedulers.boundedElastic());
        return locks.lock("import").withLock(blocking);
    }
    // recipe: end

    private int readAndInsert() {
        assertThat(Thread.currentThread().getName()).startsWith("boundedElastic");
        test.assertThat("import").isHeld();
        return 42;
    }

    @Test
    void workThatBlocksRunsUnderTheLockOnAThreadThatMayBlock() {
        assertThat(test.await(importFile())).isEqualTo(42);
        test.assertThat("import").isFree();
    }
}
