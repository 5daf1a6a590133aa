package io.holdfast.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.holdfast.LockKind;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Random;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExportedLeaseTest {

    private static final String HEX = "0123456789abcdef0123456789abcdef";

    private static ExportedLease lease(LockKey key) {
        int taken = Math.max(1, key.permits() - 2);
        LockClaim claim =
                new LockClaim(key, HEX + "@orders:host-7", Duration.ofSeconds(30), Waiting.NONE, 3, 0, taken, "");
        return new ExportedLease(claim, 42, 1_500_000);
    }

    @ParameterizedTest
    @CsvSource({"MUTEX, stock/42, 1", "READ, é\u2028\u0000, 1", "WRITE, 'a\nb\n', 1", "SEMAPHORE, pool, 7"})
    void aTextIsReadAsItWasWritten(LockKind kind, String name, int permits) {
        ExportedLease lease = lease(new LockKey(kind, name, permits));
        assertThat(ExportedLease.of(lease.text())).isEqualTo(lease);
        assertThat(lease.text()).matches("[A-Za-z0-9._-]+");
        assertThat(lease.toString()).doesNotContain(HEX);
    }

    @ParameterizedTest
    @ValueSource(strings = {"%s\n", "%s\r\n", " \t%s ", "\n%s"})
    void whiteSpaceAroundATextIsIgnored(String surroundings) {
        ExportedLease lease = lease(LockKey.of(LockKind.MUTEX, "stock"));
        assertThat(ExportedLease.of(surroundings.formatted(lease.text()))).isEqualTo(lease);
    }

    @ParameterizedTest
    @ValueSource(strings = {"holdfast-lease-2.of another form", "holdfast-lease-10."})
    void aTextOfANewerVersionAsksForAnUpgrade(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ExportedLease.of(text))
                .withMessageContaining("a newer version of this library has exported it: upgrade this client");
    }

    @Test
    void theLongestNameFitsIn() {
        ExportedLease lease = lease(LockKey.of(LockKind.MUTEX, "x".repeat(LockKey.MAX_NAME_BYTES)));
        assertThat(lease.text().length()).isLessThan(ExportedLease.MOST_CHARS / 2);
        assertThat(ExportedLease.of(lease.text())).isEqualTo(lease);
    }

    /** A receiver may remove duplicates by their text. */
    @ParameterizedTest
    @ValueSource(strings = {"s", "st", "sto", "stoc"})
    void noOtherTextThatDiffersInOneCharacterNamesTheLease(String name) {
        String text = lease(LockKey.of(LockKind.MUTEX, name)).text();
        for (int at = 0; at < text.length(); at++) {
            for (char other = 0; other < 256; other++) {
                if (other != text.charAt(at)) {
                    String changed = text.substring(0, at) + other + text.substring(at + 1);
                    assertThatIllegalArgumentException()
                            .as("character %d of %s replaced by %d", at, text, (int) other)
                            .isThrownBy(() -> ExportedLease.of(changed));
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"42, 042", "42, +42", "30000, 030000", "3, 03"})
    void aTextWithAnotherSpellingOfANumberIsRefused(String usual, String other) {
        String text = lease(LockKey.of(LockKind.MUTEX, "stock")).text();
        String encoded = text.substring(text.indexOf('.') + 1, text.lastIndexOf('.'));
        String parts = new String(Base64.getUrlDecoder().decode(encoded), StandardCharsets.UTF_8);
        String changed = parts.replace("\n" + usual + "\n", "\n" + other + "\n");
        assertThat(changed).isNotEqualTo(parts);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> ExportedLease.of(written(changed)))
                .withMessageEndingWith("it is not the text that this version writes for the lease");
    }

    @Test
    void aTextWithAMissingOrChangedCharacterIsRefused() {
        String text = lease(LockKey.of(LockKind.MUTEX, "stock")).text();
        for (int at = 0; at < text.length(); at++) {
            String shorter = text.substring(0, at) + text.substring(at + 1);
            String other = text.substring(0, at) + (text.charAt(at) == 'A' ? 'B' : 'A') + text.substring(at + 1);
            for (String wrong : new String[] {shorter, other}) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> ExportedLease.of(wrong))
                        .withMessageStartingWith("the text of an exported lease was refused: ")
                        .satisfies(refusal -> assertThat(refusal.getMessage()).doesNotContain(wrong));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "MUTEX\n1\n1\n1\n1\n1000\n0\nid",
                "MUTEX\n1\n2\n1\n1\n1000\n0\nid\nname",
                "SEMAPHORE\n3\n4\n1\n1\n1000\n0\nid\nname",
                "SEMAPHORE\n3\n0\n1\n1\n1000\n0\nid\nname",
                "MUTEXX\n1\n1\n1\n1\n1000\n0\nid\nname",
                "MUTEX\n2\n1\n1\n1\n1000\n0\nid\nname",
                "MUTEX\n1\n1\n0\n1\n1000\n0\nid\nname",
                "MUTEX\n1\n1\n1073741825\n1\n1000\n0\nid\nname",
                "MUTEX\n1\n1\n2147483647\n1\n1000\n0\nid\nname",
                "MUTEX\n1\n1\n1\n0\n1000\n0\nid\nname",
                "MUTEX\n1\n1\n1\n1\n0\n0\nid\nname",
                "MUTEX\n1\n1\n1\n1\n9223372036854775807\n-1\nid\nname",
                "MUTEX\n1\n1\n1\n1\n1000\n0\ni d\nname",
                "MUTEX\n1\n1\n1\n1\n1000\n0\n\nname",
                "MUTEX\n1\n1\n1\n1\n1000\n0\nid\n ",
                "MUTEX\n1\n1\n1\n1\n1000\n0\nid0\nname",
                "MUTEX\n1\n1\n1\n1\n1000\n0\nid@\nname",
                "MUTEX\n1\n1\n1\n1\n1000\n0\nid@it's\nname",
                "MUTEX\n1\n1\n1\n1\n1000\n0\nid@of-a-label-that-is-longer-than-a-store-may-have-room\nname",
                "MUTEX\n1\n1\n1\n99999999999999999999\n1000\n0\nid\nname"
            })
    void partsThatAreMissingOrOutOfTheirRangeAreRefused(String parts) {
        String text = written(parts);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ExportedLease.of(text))
                .withMessage("the text of an exported lease was refused: a part of it is missing, or out of its range");
    }

    @Test
    void partsInTheirRangesAreRead() {
        for (String parts : new String[] {"id\nname", "id@a\nname", "id@host-7.x_y:1\nname"}) {
            assertThat(ExportedLease.of(written("MUTEX\n1\n1\n1\n1\n1000\n0\n" + parts))
                            .fencingToken())
                    .isEqualTo(1);
        }
    }

    @Test
    void aTextWithTheHighestAttemptIsRead() {
        ExportedLease lease = ExportedLease.of(written("MUTEX\n1\n1\n1073741824\n1\n1000\n0\nid\nname"));
        assertThat(lease.claim().attempt()).isEqualTo(1 << 30);
    }

    private static String written(String parts) {
        byte[] bytes = parts.replace("\nid", "\n" + HEX).getBytes(StandardCharsets.UTF_8);
        CRC32 sum = new CRC32();
        sum.update(bytes);
        return "holdfast-lease-1.%s.%08x"
                .formatted(Base64.getUrlEncoder().withoutPadding().encodeToString(bytes), sum.getValue());
    }

    @Test
    void anyOtherTextIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ExportedLease.of("x".repeat(10_000_000)))
                .withMessageContaining("at most 4096");
        Random random = new Random(1);
        for (int round = 0; round < 10_000; round++) {
            byte[] bytes = new byte[random.nextInt(60)];
            random.nextBytes(bytes);
            String text =
                    (random.nextBoolean() ? "holdfast-lease-1." : "") + new String(bytes, StandardCharsets.ISO_8859_1);
            assertThatCode(() -> ExportedLease.of(text)).isExactlyInstanceOf(IllegalArgumentException.class);
        }
    }
}
