package io.holdfast.redis.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.LossReason;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockRun;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChannelMessageTest {

    private static final String CHANNEL = "p:client:1";

    private static final LockKeys A = LockKeys.of("p:", LockKey.of(LockKind.MUTEX, "a"));

    private final GrantSecret secret = GrantSecret.random();

    private ChannelMessage parse(String text) {
        return ChannelMessage.parse(CHANNEL, text, secret, "p:");
    }

    private String signed(String grant) {
        return "G " + secret.sign(CHANNEL, grant) + ' ' + grant;
    }

    @Test
    void grantNamesClaimTokenAttemptAndKey() {
        ChannelMessage message = parse(signed("1763683200000000 3 2150 4 id 1 p:{a b}:mutex"));
        assertThat(message)
                .isEqualTo(new ChannelMessage(
                        List.of("id 1"),
                        new WatchSignal.Granted(1763683200000000L, 3, Duration.ofMillis(2150)),
                        LockKeys.of("p:", LockKey.of(LockKind.MUTEX, "a b"))));
    }

    @Test
    void hintNamesTheClaim() {
        assertThat(parse("C id1")).isEqualTo(new ChannelMessage(List.of("id1"), new WatchSignal.Changed(), null));
    }

    @Test
    void grantCountsOnItsOwnChannelForItsOwnClientAndAsTheServerSignedIt() {
        String grant = "5 3 2150 2 id p:{a}:mutex";
        assertThat(parse(signed(grant))).isNotNull();
        assertThat(ChannelMessage.parse("p:client:2", signed(grant), secret, "p:"))
                .isNull();
        assertThat(ChannelMessage.parse(CHANNEL, signed(grant), GrantSecret.random(), "p:"))
                .isNull();
        assertThat(parse(signed(grant).replace(" 5 3 ", " 6 3 "))).isNull();
        assertThat(parse(signed(grant) + " ")).isNull();
        assertThat(parse("G  " + grant)).isNull();
        assertThat(parse("G " + grant)).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "1 2 3",
                "x 2 3 2 id p:{a}:mutex",
                "1 2 3 9 id p:{a}:mutex",
                "1 2 3 99 id p:{a}:mutex",
                "1 2 3 0 id p:{a}:mutex",
                "1 2 3 0  p:{a}:mutex",
                "1 2 3 -1 id p:{a}:mutex",
                "1 2 3 2 id other",
                "1 2 3 2 id p:{}:mutex",
                "1 2 3 2 id q:{a}:mutex",
                "1 2 3 2 id p:x{a}:mutex",
                "9007199254740992 2 3 2 id p:{a}:mutex",
                "9223372036854775807 2 3 2 id p:{a}:mutex",
                "0 2 3 2 id p:{a}:mutex",
                "1 0 3 2 id p:{a}:mutex",
                "1 2 0 2 id p:{a}:mutex",
                "1 2 -3 2 id p:{a}:mutex",
                "1 2 9223372036854775807 2 id p:{a}:mutex"
            })
    void aSignedTextThatNoSoundServerWritesIsNoGrant(String grant) {
        assertThat(parse(signed(grant))).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "C", "C ", "G", "G ", "G x", "hello", "B", "H 500 id", "L x"})
    void messagesOfOthersAreIgnored(String text) {
        assertThat(parse(text)).isNull();
    }

    @Test
    void grantToSeveralClaimsIsARunAndGoesToTheFirst() {
        ChannelMessage message = parse(signed("70 3 2150 13 one\ntwo\nthree p:{a}:mutex"));
        LockRun run = new LockRun(70, List.of("one", "two", "three"));
        assertThat(message)
                .isEqualTo(new ChannelMessage(
                        List.of("one"), new WatchSignal.GrantedRun(run, 3, Duration.ofMillis(2150)), A));
    }

    @Test
    void lossOfARunNamesItsMembersAndCountsAsTheServerSignedIt() {
        String loss = "70 7 one\ntwo p:{a}:mutex";
        assertThat(parse("L " + secret.sign(CHANNEL, loss) + ' ' + loss))
                .isEqualTo(
                        new ChannelMessage(List.of("one", "two"), new WatchSignal.LostRun(70, LossReason.NOT_HELD), A));
        assertThat(parse("L " + loss)).isNull();
        assertThat(parse("L x " + loss)).isNull();
    }

    @Test
    void grantIsForTheLockOfTheClaim() {
        ChannelMessage grant = parse(signed("1 2 3000 2 id p:{a}:mutex"));
        assertThat(grant.isFor("p:{a}:mutex")).isTrue();
        assertThat(grant.isFor("p:{b}:mutex")).isFalse();
        assertThat(parse("C id").isFor("p:{a}:mutex")).isFalse();
    }
}
