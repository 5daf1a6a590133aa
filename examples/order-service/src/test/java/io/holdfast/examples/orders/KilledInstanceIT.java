package io.holdfast.examples.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.examples.orders.Customer.Answer;
import io.holdfast.testkit.server.RedisServer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

/** One of two instances, each a JVM, is killed in mid-sale. */
class KilledInstanceIT {

    private static final String ITEM = "survivor";
    private static final int ITEMS = 60;
    private static final int BUYERS_EACH = 60;

    @Test
    void theOtherAnswersAllItIsAskedAndNothingIsSoldTwice() {
        try (RedisServer redis = RedisServer.start();
                ShopProcess doomed = ShopProcess.start(redis.uri());
                ShopProcess survivor = ShopProcess.start(redis.uri());
                Customer ofDoomed = Customer.of(doomed.port());
                Customer ofSurvivor = Customer.of(survivor.port())) {
            ofSurvivor.stock(ITEM, ITEMS);
            AtomicInteger answered = new AtomicInteger();

            CompletableFuture<List<Answer>> lost = Flux.range(0, BUYERS_EACH)
                    .flatMap(
                            buyer -> ofDoomed.order(ITEM)
                                    .doOnNext(answer -> {
                                        if (answered.incrementAndGet() == 10) {
                                            CompletableFuture<Void> unused = CompletableFuture.runAsync(doomed::kill);
                                        }
                                    })
                                    .onErrorComplete(),
                            BUYERS_EACH)
                    .collectList()
                    .toFuture();
            List<Answer> answers = Flux.range(0, BUYERS_EACH)
                    .flatMap(buyer -> ofSurvivor.order(ITEM), BUYERS_EACH)
                    .collectList()
                    .block(Customer.LIMIT);
            List<Answer> beforeTheEnd =
                    lost.orTimeout(Customer.LIMIT.toSeconds(), TimeUnit.SECONDS).join();

            assertThat(doomed.isAlive()).isFalse();
            assertThat(beforeTheEnd).hasSizeBetween(10, BUYERS_EACH - 1);
            assertThat(answers).hasSize(BUYERS_EACH).allMatch(answer -> answer.isSold() || answer.isSoldOut());
            List<Long> tokens = ofSurvivor.tokens(ITEM);
            assertThat(tokens).isSorted().doesNotHaveDuplicates();
            assertThat(ofSurvivor.stock(ITEM)).isEqualTo(ITEMS - tokens.size());
            // Each receipt stands for a sale; a sale of the killed one may have lost its receipt.
            assertThat(tokens).containsAll(tokensOf(answers)).containsAll(tokensOf(beforeTheEnd));
        }
    }

    private static List<Long> tokensOf(List<Answer> answers) {
        return answers.stream()
                .filter(Answer::isSold)
                .map(answer -> ((Number) answer.body().get("fencingToken")).longValue())
                .toList();
    }
}
