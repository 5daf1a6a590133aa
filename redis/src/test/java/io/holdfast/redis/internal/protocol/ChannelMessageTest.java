package io.holdfast.redis.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChannelMessageTest {

    private static final String CHANNEL = "p:client:1";

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
                        "id 1",
                        new WatchSignal.Granted(1763683200000000L, 3, Duration.ofMillis(2150)),
                        LockKeys.of("p:", LockKey.of(LockKind.MUTEX, "a b"))));
    }

    @Test
    void hintNamesTheClaim() {
        assertThat(parse("C id1")).isEqualTo(new ChannelMessage("id1", new WatchSignal.Changed(), null));
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
                "1 2 3 0 id p:{a}:mutex",
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
    @ValueSource(strings = {"", "C", "C ", "G", "G ", "G x", "hello", "B", "H 500 id"})
    void messagesOfOthersAreIgnored(String text) {
        assertThat(parse(text)).isNull();
    }

    @Test
    void grantIsForTheLockOfTheClaimAndForNoLongerThanSuchGrantsAre() {
        ChannelMessage grant = parse(signed("1 2 3000 2 id p:{a}:mutex"));
        assertThat(grant.isFor("p:{a}:mutex", Duration.ofSeconds(2))).isTrue();
        assertThat(grant.isFor("p:{b}:mutex", Duration.ofSeconds(2))).isFalse();
        assertThat(grant.isFor("p:{a}:mutex", Duration.ofSeconds(1))).isFalse();
        assertThat(parse("C id").isFor("p:{a}:mutex", Duration.ofSeconds(2))).isFalse();
    }

    @Test
    void messageThatAClaimIsAtTheHeadIsRead() {
        assertThat(ChannelMessage.Head.parse("H 500 an id"))
                .isEqualTo(new ChannelMessage.Head(List.of("an id"), Duration.ofMillis(500)));
        assertThat(ChannelMessage.Head.parse("H 500 one\nanother\n"))
                .isEqualTo(new ChannelMessage.Head(List.of("one", "another"), Duration.ofMillis(500)));
        assertThat(ChannelMessage.Head.parse("H 500 ")).isNull();
        assertThat(ChannelMessage.Head.parse("H 9999999999 id")).isNull();
        assertThat(ChannelMessage.Head.parse("C id")).isNull();
    }
}
