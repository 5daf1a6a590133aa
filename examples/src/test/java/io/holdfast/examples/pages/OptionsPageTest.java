package io.holdfast.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.holdfast.Backoff;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.etcd.EtcdLockBackend;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.r2dbc.R2dbcLockBackend;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.redlock.RedlockBackend;
import io.holdfast.zookeeper.ZooKeeperLockBackend;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The page about options has each option and no other, with the defaults of the code. */
class OptionsPageTest {

    private static final String PAGE = Repository.page("docs/reference/options.md");

    static Stream<Arguments> builders() {
        return Stream.of(
                Arguments.of("LockOptions", LockOptions.Builder.class),
                Arguments.of("LockClient", LockClient.Builder.class),
                Arguments.of("Redis", RedisLockBackend.Builder.class),
                Arguments.of("Redlock", RedlockBackend.Builder.class),
                Arguments.of("PostgreSQL, MariaDB and MySQL", R2dbcLockBackend.Builder.class),
                Arguments.of("etcd", EtcdLockBackend.Builder.class),
                Arguments.of("ZooKeeper", ZooKeeperLockBackend.Builder.class));
    }

    @ParameterizedTest
    @MethodSource("builders")
    void theTableOfABuilderHasItsOptionsAndNoOther(String section, Class<?> builder) {
        Set<String> options = Arrays.stream(builder.getDeclaredMethods())
                .filter(method -> Modifier.isPublic(method.getModifiers()) && method.getReturnType() == builder)
                .map(Method::getName)
                .collect(Collectors.toSet());

        assertThat(rows(section).map(row -> row.split("`", -1)[1]).collect(Collectors.toSet()))
                .isEqualTo(options);
    }

    @Test
    void theDefaultsAreThoseOfTheTable() {
        LockOptions defaults = LockOptions.defaults();

        assertThat(defaultOf("leaseDuration"))
                .isEqualTo(defaults.leaseDuration().toSeconds() + " s");
        assertThat(defaultOf("waitTimeout")).isEqualTo("none");
        assertThat(defaults.waitTimeout()).isEmpty();
        assertThat(defaultOf("autoRenew")).isEqualTo(Boolean.toString(defaults.autoRenew()));
        assertThat(defaultOf("maxHoldTime")).isEqualTo("none");
        assertThat(defaults.maxHoldTime()).isEmpty();
        assertThat(defaultOf("minHoldTime")).isEqualTo("none");
        assertThat(defaults.minHoldTime()).isEmpty();
        assertThat(defaultOf("backoff")).isEqualTo("20 ms doubling to 1 s, jitter 0.5");
        assertThat(defaults.backoff())
                .isEqualTo(Backoff.exponential(Duration.ofMillis(20), Duration.ofSeconds(1))
                        .withJitter(0.5));
        assertThat(defaultOf("reentrant")).isEqualTo(Boolean.toString(defaults.reentrant()));
    }

    /** The rules in bold of the table of all time limits. The one about the quarantine has tests in the module of Redis. */
    @Test
    void theRulesBetweenTimesThatThePageCallsCheckedAreChecked() {
        LockOptions.Builder tenSeconds = LockOptions.builder().leaseDuration(Duration.ofSeconds(10));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> tenSeconds.maxHoldTime(Duration.ofSeconds(9)).build());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockOptions.builder()
                        .minHoldTime(Duration.ofSeconds(61))
                        .maxHoldTime(Duration.ofMinutes(1))
                        .build());
        LockClient.Builder client = LockClient.builder(InMemoryLockBackend.create());
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> client.operationTimeout(Duration.ofSeconds(11)).build());
        assertThat(PAGE)
                .contains(
                        "**at most a third of each `leaseDuration`**",
                        "**at most `maxHoldTime`, and at most the `quarantine`**");
    }

    private static String defaultOf(String option) {
        return rows("LockOptions")
                .filter(row -> row.startsWith("| `" + option + "` |"))
                .map(row -> row.split("\\|", -1)[2].strip())
                .findFirst()
                .orElseThrow();
    }

    /** Returns the rows of the first table of a section. */
    private static Stream<String> rows(String section) {
        return PAGE.lines()
                .dropWhile(line -> !line.equals("## " + section))
                .dropWhile(line -> !line.startsWith("| option |"))
                .skip(2)
                .takeWhile(line -> line.startsWith("|"));
    }
}
