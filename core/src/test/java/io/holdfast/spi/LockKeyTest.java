package io.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.holdfast.LockKind;
import io.holdfast.spi.support.Printable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class LockKeyTest {

    private static final String LOCK_OF_FOUR_BYTES = "\uD83D\uDD12";

    @ParameterizedTest
    @ValueSource(strings = {"a", "stock/42", "a b", "\u0000", "{x}:*?[]\r\n", "ä€", LOCK_OF_FOUR_BYTES})
    void aNameMayHaveAnyCharacters(String name) {
        assertThat(LockKey.of(LockKind.MUTEX, name).name()).isEqualTo(name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "\t\n", "\u2003"})
    void aBlankNameIsRefused(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockKey.of(LockKind.MUTEX, name))
                .withMessage("lock name must not be blank, was '" + Printable.text(name) + "'");
    }

    @ParameterizedTest
    @ValueSource(strings = {" ", "x", LOCK_OF_FOUR_BYTES})
    void aRefusedNameOfMegabytesMakesAShortMessage(String part) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockKey.of(LockKind.MUTEX, part.repeat(5_000_000)))
                .satisfies(refused -> assertThat(refused.getMessage()).hasSizeLessThan(200))
                .withMessageContainingAll("at most 512 bytes", "characters");
    }

    @Test
    void aRefusedNameIsNotCutWithinASurrogatePair() {
        String name = "a" + LOCK_OF_FOUR_BYTES.repeat(300);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockKey.of(LockKind.MUTEX, name))
                .satisfies(refused ->
                        assertThat(Printable.text(refused.getMessage())).isEqualTo(refused.getMessage()))
                .withMessageContaining(LOCK_OF_FOUR_BYTES + "\u2026'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "ä", LOCK_OF_FOUR_BYTES})
    void aNameMayHave512Bytes(String character) {
        int bytes = character.equals("a") ? 1 : character.equals("ä") ? 2 : 4;
        String longest = character.repeat(512 / bytes);

        assertThat(LockKey.of(LockKind.MUTEX, longest).name()).isEqualTo(longest);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockKey.of(LockKind.MUTEX, longest + "a"))
                .withMessageContainingAll("lock name", "at most 512 bytes", "513");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\uD83D", "a\uDD12", "\uDD12\uD83D"})
    void anUnpairedSurrogateIsRefused(String name) {
        String wellFormed = "a".repeat(300);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockKey.of(LockKind.MUTEX, name))
                .withMessageContaining("unpaired surrogate");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockKey.of(LockKind.MUTEX, wellFormed + name))
                .withMessageContaining("unpaired surrogate");
    }

    @ParameterizedTest
    @EnumSource
    void permitsAreAtLeastOne(LockKind kind) {
        assertThat(LockKey.of(kind, "a").permits()).isEqualTo(1);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new LockKey(kind, "a", 0))
                .withMessageContainingAll("permits", "was 0");
    }

    @ParameterizedTest
    @EnumSource(value = LockKind.class, names = "SEMAPHORE", mode = EnumSource.Mode.EXCLUDE)
    void onlyASemaphoreHasMorePermits(LockKind kind) {
        assertThat(new LockKey(LockKind.SEMAPHORE, "a", 5).permits()).isEqualTo(5);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new LockKey(kind, "a", 2))
                .withMessageContainingAll("permits", kind.toString(), "was 2");
    }

    @Test
    void kindsOfOneNameAreDifferentLocks() {
        assertThat(LockKey.of(LockKind.MUTEX, "a")).isNotEqualTo(LockKey.of(LockKind.WRITE, "a"));
    }

    @Test
    void namesAreNotNormalised() {
        String asOneCharacter = "caf\u00e9";
        String withACombiningAccent = "cafe\u0301";
        assertThat(LockKey.of(LockKind.MUTEX, asOneCharacter))
                .isNotEqualTo(LockKey.of(LockKind.MUTEX, withACombiningAccent));
        assertThat(LockKey.of(LockKind.MUTEX, withACombiningAccent).name()).isEqualTo(withACombiningAccent);
    }

    @Test
    void nullIsRefusedByName() {
        assertThatNullPointerException().isThrownBy(() -> LockKey.of(null, "a")).withMessage("kind");
        assertThatNullPointerException()
                .isThrownBy(() -> LockKey.of(LockKind.MUTEX, null))
                .withMessage("lock name");
    }
}
