package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.lettuce.core.RedisURI;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever a user mistypes, no password reaches a host name, and so no message, no log and no DNS query. */
class AddressCheckTest {

    /** Parts of the password: the mistyped character may stand between them. */
    private static final String FIRST = "SeCr3t";

    private static final String SECOND = "0815Pa55";

    private static final char[] NOISE = "#?/@:%[] \n\t\r\\,;&=+\"<>^`{|}~*()!$'_.-\u0000\u001b\u00e9".toCharArray();

    /** The step from one place to the next; with all cases, each place is tried. */
    private static final int STEP = Integer.getInteger("holdfast.cases", 1) < 10 ? 5 : 1;

    static Stream<String> correctAddresses() {
        return Stream.of(
                "redis://user:SeCr3t0815Pa55@localhost:6379",
                "redis://:SeCr3t0815Pa55@localhost",
                "rediss://user:SeCr3t0815Pa55@redis.example:6380/2?clientName=till-7&timeout=3s",
                "redis+tls://user:SeCr3t0815Pa55@[::1]:6379/0",
                "redis-sentinel://user:SeCr3t0815Pa55@one:26379,two:26379,10.0.0.7/1#mymaster",
                "rediss-sentinel://:SeCr3t0815Pa55@one,two?sentinelMasterId=mymaster",
                "redis-sentinel://user:SeCr3t0815Pa55@one#mymaster",
                "redis-socket://user:SeCr3t0815Pa55@/var/run/redis.sock?database=2");
    }

    @ParameterizedTest
    @MethodSource("correctAddresses")
    void anAddressThatIsRightIsRead(String text) {
        RedisURI parsed = RedisAddress.parse(text);
        AtomicReference<String> password = new AtomicReference<>();
        parsed.getCredentialsProvider()
                .resolveCredentials()
                .subscribe(known -> password.set(new String(known.getPassword())));
        assertThat(parsed).isEqualTo(RedisURI.create(text));
        if (!text.startsWith("redis-socket")) {
            assertThat(password).hasValue(FIRST + SECOND);
        }
        assertThat(RedisLockBackend.builder(parsed)).isNotNull();
        assertThat(places(parsed)).doesNotContain(FIRST, SECOND);
    }

    @ParameterizedTest
    @MethodSource("correctAddresses")
    void aSurplusCharacterAnywhereRevealsNothingOfThePassword(String right) {
        for (int at = 0; at <= right.length(); at += STEP) {
            for (char noise : NOISE) {
                assertRevealsNothing(right.substring(0, at) + noise + right.substring(at));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("correctAddresses")
    void aWrongCharacterAnywhereRevealsNothingOfThePassword(String right) {
        int from = right.indexOf(FIRST);
        int to = right.indexOf(SECOND) + SECOND.length();
        for (int at = 0; at < right.length(); at += STEP) {
            boolean isPartOfThePassword = at >= from && at < to;
            for (char noise : isPartOfThePassword ? new char[0] : NOISE) {
                assertRevealsNothing(right.substring(0, at) + noise + right.substring(at + 1));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("correctAddresses")
    void twoSurplusCharactersInThePasswordRevealNothingOfIt(String right) {
        for (int i = 0; i < NOISE.length; i += STEP) {
            char one = NOISE[i];
            for (char two : NOISE) {
                assertTypedRevealsNothing(right.replace(FIRST + SECOND, one + FIRST + two + SECOND));
                assertTypedRevealsNothing(right.replace(FIRST + SECOND, FIRST + one + SECOND + two));
            }
        }
    }

    /** A part of the password that consists of digits may look like a port. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis://user:0815#x@localhost:6379",
                "redis://user:0815?x@localhost:6379",
                "redis://user:0815/7@localhost:6379",
                "redis://0815Pa55#x@localhost",
                "redis://0815Pa55/7@localhost",
                "redis-sentinel://user:0815#SeCr3t@one:26379"
            })
    void aPasswordThatLooksLikeAPortIsNotRepeated(String text) {
        assertThatThrownBy(() -> RedisAddress.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasNoCause()
                .hasMessageContaining("percent encoding")
                .hasMessageNotContaining("0815");
    }

    @Test
    void aPortThatIsNoNumberIsRefusedAtOnce() {
        assertThatThrownBy(() -> RedisAddress.parse("redis://localhost:63x79")).hasMessageContaining("port");
        RedisURI parsed = RedisURI.create("redis://localhost:63x79");
        assertThatThrownBy(() -> RedisLockBackend.builder(parsed))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a port that is a number")
                .hasMessageNotContaining("63x79");
        assertThatThrownBy(() -> RedisLockBackend.clusterBuilder(List.of(parsed)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a port that is a number");
    }

    @Test
    void anotherSchemeIsRefused() {
        assertThatThrownBy(() -> RedisAddress.parse("http://user:SeCr3t@localhost"))
                .hasMessageContaining("redis://host:port")
                .hasMessageNotContaining(FIRST);
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost", "my_redis", "10.0.0.7", "::1", "[::1]", "fe80::1%eth0", "b\u00fccher.example"})
    void hostsOfAllKindsAreTaken(String host) {
        assertThatCode(() -> RedisLockBackend.builder(
                        RedisURI.builder().withHost(host).withPort(1).build()))
                .doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(strings = {"user:SeCr3t", "SeCr3t@host", "Se Cr3t", "SeCr3t\n", "one,two", "SeCr3t%", "SeCr3t/x"})
    void malformedHostsAreRefusedWithoutTheirText(String host) {
        RedisURI server = RedisURI.builder().withHost(host).build();
        RedisURI sentinel = RedisURI.builder()
                .withSentinel(server)
                .withSentinelMasterId("mymaster")
                .build();
        for (RedisURI wrong : List.of(server, sentinel)) {
            assertThatThrownBy(() -> RedisLockBackend.builder(wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageNotContaining(host);
        }
    }

    /** Checks the typed text, and what the driver makes of it, as far as the driver accepts it. */
    private static void assertRevealsNothing(String text) {
        assertTypedRevealsNothing(text);
        assertRevealsNothing(text, () -> {
            RedisURI driversOwn = created(text);
            if (driversOwn != null) {
                var unused = RedisLockBackend.builder(driversOwn);
            }
            return driversOwn;
        });
    }

    private static void assertTypedRevealsNothing(String text) {
        assertRevealsNothing(text, () -> RedisAddress.parse(text));
    }

    private static void assertRevealsNothing(String text, Supplier<@Nullable RedisURI> reading) {
        AtomicReference<@Nullable RedisURI> read = new AtomicReference<>();
        Throwable refusal = catchThrowable(() -> read.set(reading.get()));
        RedisURI uri = read.get();
        List<String> told = new ArrayList<>();
        if (refusal != null) {
            assertThat(refusal).as(text).isInstanceOf(IllegalArgumentException.class);
            StringWriter everything = new StringWriter();
            refusal.printStackTrace(new PrintWriter(everything, true));
            told.add(everything.toString());
        } else if (uri != null) {
            told.addAll(places(uri));
            told.add(ExceptionTranslator.at(List.of(uri)).server());
        }
        for (String tale : told) {
            assertThat(tale.toLowerCase(Locale.ROOT))
                    .as(text)
                    .doesNotContain(FIRST.toLowerCase(Locale.ROOT), SECOND.toLowerCase(Locale.ROOT));
        }
    }

    /** Returns null if the driver refuses the text itself: that happens in the caller's code. */
    private static @Nullable RedisURI created(String text) {
        try {
            return RedisURI.create(text);
        } catch (RuntimeException refused) {
            return null;
        }
    }

    private static List<String> places(RedisURI uri) {
        List<String> places = new ArrayList<>();
        Stream.of(uri.getHost(), uri.getSocket(), uri.getSentinelMasterId())
                .filter(place -> place != null)
                .forEach(places::add);
        uri.getSentinels().forEach(sentinel -> places.addAll(places(sentinel)));
        return places;
    }
}
