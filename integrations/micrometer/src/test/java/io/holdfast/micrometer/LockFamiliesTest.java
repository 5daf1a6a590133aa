package io.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LockFamiliesTest {

    @Test
    void aFamilyIsThePartBeforeTheFirstSlash() {
        LockFamilies families = LockFamilies.beforeSlash();
        assertThat(families.of("stock/42")).isEqualTo("stock");
        assertThat(families.of("stock/42/reserved")).isEqualTo("stock");
    }

    @Test
    void aNameWithoutASlashIsAFamily() {
        LockFamilies families = LockFamilies.beforeSlash();
        assertThat(families.of("nightly-job")).isEqualTo("nightly-job");
        assertThat(families.of("/42")).isEqualTo("other");
    }

    @Test
    void tenThousandNamesWithoutASlashLeaveHalfOfThePlacesToTheOthers() {
        LockFamilies families = LockFamilies.beforeSlash();
        Set<String> whole = IntStream.range(0, 10_000)
                .mapToObj(i -> families.of("customer-" + i))
                .collect(Collectors.toSet());
        Set<String> parts = IntStream.range(0, 10_000)
                .mapToObj(i -> families.of("kind" + i + "/42"))
                .collect(Collectors.toSet());

        assertThat(whole).hasSize(11).contains("other", "customer-0", "customer-9");
        assertThat(parts).hasSize(11).contains("other", "kind0", "kind9");
    }

    @Test
    void familiesBeforeASlashMayUseAllPlaces() {
        LockFamilies families = LockFamilies.beforeSlash().atMost(3);
        IntStream.range(0, 3).forEach(i -> assertThat(families.of(i + "/x")).isEqualTo(Integer.toString(i)));
        assertThat(families.of("nightly-job")).isEqualTo("other");
    }

    @Test
    void aRefusedWholeNameStaysRefusedAsAFamilyOfOtherNames() {
        LockFamilies families = LockFamilies.beforeSlash().atMost(2);
        assertThat(families.of("first")).isEqualTo("first");
        assertThat(families.of("stock")).isEqualTo("other");
        assertThat(families.of("stock/42")).isEqualTo("stock");
        assertThat(families.of("stock")).isEqualTo("other");
    }

    @Test
    void unchangedNamesOfAFunctionMayUseAllPlaces() {
        LockFamilies families = LockFamilies.of(name -> name).atMost(4);
        assertThat(IntStream.range(0, 9).mapToObj(i -> families.of("job" + i)))
                .contains("job3", "other")
                .doesNotContain("job4");
    }

    @Test
    void thereAreNeverMoreFamiliesThanTheLimit() {
        LockFamilies families = LockFamilies.beforeSlash();
        Set<String> seen = IntStream.range(0, 10_000)
                .mapToObj(i -> families.of("customer" + i + "/order"))
                .collect(Collectors.toSet());
        assertThat(seen).hasSize(LockFamilies.DEFAULT_LIMIT + 1).contains("other", "customer0", "customer19");
    }

    @Test
    void theLimitHoldsForConcurrentCalls() {
        LockFamilies families = LockFamilies.beforeSlash().atMost(3);
        Set<String> seen = ConcurrentHashMap.newKeySet();
        IntStream.range(0, 1_000).parallel().forEach(i -> seen.add(families.of(i % 50 + "/x")));
        assertThat(seen).hasSize(4).contains("other");
    }

    @Test
    void aNameStaysInItsFamily() {
        LockFamilies families = LockFamilies.beforeSlash().atMost(1);
        assertThat(families.of("a/1")).isEqualTo("a");
        assertThat(families.of("b/1")).isEqualTo("other");
        assertThat(families.of("a/2")).isEqualTo("a");
        assertThat(families.of("b/1")).isEqualTo("other");
    }

    @Test
    void aFunctionThatThrowsOrReturnsNoFamilyMeansOther() {
        assertThat(LockFamilies.of(name -> null).of("a")).isEqualTo("other");
        assertThat(LockFamilies.of(name -> " ").of("a")).isEqualTo("other");
        assertThat(LockFamilies.of(name -> "x".repeat(65)).of("a")).isEqualTo("other");
        assertThat(LockFamilies.of(name -> name.substring(5)).of("a")).isEqualTo("other");
    }

    @Test
    void aLimitOfZeroIsAllowed() {
        assertThat(LockFamilies.beforeSlash().atMost(0).of("stock/42")).isEqualTo("other");
        assertThatThrownBy(() -> LockFamilies.beforeSlash().atMost(-1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("-1");
    }

    @Test
    void noThreadWaitsWhenAllPlacesAreTaken() throws Exception {
        LockFamilies families = LockFamilies.beforeSlash().atMost(1);
        assertThat(families.of("stock/1")).isEqualTo("stock");
        synchronized (families) {
            var orders = CompletableFuture.supplyAsync(() -> families.of("orders/1"));
            assertThat(orders.get(10, TimeUnit.SECONDS)).isEqualTo(LockFamilies.OTHER);
        }
    }
}
