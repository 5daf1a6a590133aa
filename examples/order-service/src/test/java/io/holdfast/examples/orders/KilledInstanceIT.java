package io.holdfast.examples.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.examples.orders.Customer.Answer;
import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.RedisClient;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

/** One of two instances, each a JVM, is killed during a sale. */
class KilledInstanceIT {

    private static final String ITEM = "survivor";
    private static final int ITEMS = 60;
    private static final int BUYERS_EACH = 60;

    @Test
    void theOtherInstanceAnswersAllRequestsAndEachPaidOrderIsSoldOnce() {
        try (RedisServer redis = RedisServer.start();
                ShopProcess doomed = ShopProcess.start(redis.uri());
                ShopProcess survivor = ShopProcess.start(redis.uri());
                Customer ofDoomed = Customer.of(doomed.port());
                Customer ofSurvivor = Customer.of(survivor.port())) {
            ofSurvivor.stock(ITEM, ITEMS);
            AtomicInteger answered = new AtomicInteger();

            CompletableFuture<List<Answer>> lost = Flux.range(0, BUYERS_EACH)
                    .flatMap(
                            buyer -> ofDoomed.order(ITEM, "a" + buyer)
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
                    .flatMap(buyer -> ofSurvivor.order(ITEM, "b" + buyer), BUYERS_EACH)
                    .collectList()
                    .block(Customer.LIMIT);
            List<Answer> beforeTheEnd =
                    lost.orTimeout(Customer.LIMIT.toSeconds(), TimeUnit.SECONDS).join();
            assertThat(doomed.isAlive()).isFalse();
            assertThat(beforeTheEnd).hasSizeBetween(10, BUYERS_EACH - 1);
            assertThat(answers).hasSize(BUYERS_EACH).allMatch(answer -> answer.isSold() || answer.isSoldOut());

            // The customers of the killed instance send their requests to the other one.
            List<Answer> again = Flux.range(0, BUYERS_EACH)
                    .flatMap(buyer -> ofSurvivor.order(ITEM, "a" + buyer), BUYERS_EACH)
                    .collectList()
                    .block(Customer.LIMIT);

            List<Long> tokens = ofSurvivor.tokens(ITEM);
            assertThat(tokens).hasSize(ITEMS).isSorted().doesNotHaveDuplicates();
            assertThat(ofSurvivor.stock(ITEM)).isZero();
            assertThat(tokensOf(again)).containsAll(tokensOf(beforeTheEnd)); // the first receipts
            assertThat(tokens)
                    .hasSameElementsAs(Flux.just(again, answers)
                            .flatMapIterable(KilledInstanceIT::tokensOf)
                            .toIterable());
            assertThat(paid(redis)).isEqualTo(Set.copyOf(ofSurvivor.sold(ITEM)));
        }
    }

    @Test
    void anOrderWhoseInstanceDiedAfterThePaymentIsSoldByTheNextOne() {
        try (RedisServer redis = RedisServer.start();
                ShopProcess doomed = ShopProcess.start(redis.uri());
                ShopProcess survivor = ShopProcess.start(redis.uri());
                Customer ofDoomed = Customer.of(doomed.port());
                Customer ofSurvivor = Customer.of(survivor.port())) {
            ofSurvivor.stock(ITEM, 10);
            Answer none =
                    ofDoomed.order(ITEM, ShopProcess.DEADLY).onErrorComplete().block(Customer.LIMIT);
            assertThat(none).isNull();
            assertThat(paid(redis)).containsExactly(ShopProcess.DEADLY);
            assertThat(ofSurvivor.sold(ITEM)).isEmpty();

            assertThat(ofSurvivor.order(ITEM, "next").block(Customer.LIMIT).isSold())
                    .isTrue();

            assertThat(ofSurvivor.sold(ITEM)).containsExactly(ShopProcess.DEADLY, "next");
            assertThat(paid(redis)).containsExactlyInAnyOrder(ShopProcess.DEADLY, "next");
            assertThat(ofSurvivor.stock(ITEM)).isEqualTo(8);
            Answer receipt = ofSurvivor.order(ITEM, ShopProcess.DEADLY).block(Customer.LIMIT);
            assertThat(receipt.isSold()).isTrue();
            assertThat(receipt.body()).containsEntry("left", 9);
            assertThat(ofSurvivor.stock(ITEM)).isEqualTo(8);
        }
    }

    /** Returns the ids of the paid orders. */
    private static Set<String> paid(RedisServer redis) {
        try (RedisClient client = RedisClient.create(redis.uri())) {
            return client.connect().sync().hkeys(ShopProcess.PAID).stream()
                    .map(it -> it.substring(ITEM.length() + 1))
                    .collect(Collectors.toSet());
        }
    }

    private static List<Long> tokensOf(List<Answer> answers) {
        return answers.stream()
                .filter(Answer::isSold)
                .map(answer -> ((Number) answer.body().get("fencingToken")).longValue())
                .toList();
    }
}
