package io.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PrintableTest {

    private static final String SMILE = "\uD83D\uDE00";

    @ParameterizedTest
    @ValueSource(strings = {"", "stock/42", "a b", "{x}:*?[]\\", "äöü €", "日本語", SMILE})
    void printableCharactersStay(String text) {
        assertThat(Printable.text(text)).isSameAs(text);
    }

    @ParameterizedTest
    @CsvSource({
        "'\n', '\\n'",
        "'\r', '\\r'",
        "'\t', '\\t'",
        "'\u001b', '\\u001b'",
        "'\u0000', '\\u0000'",
        "'\u007f', '\\u007f'",
        "'\u009b', '\\u009b'",
        "'\u2028', '\\u2028'",
        "'\u202e', '\\u202e'",
        "'\ufeff', '\\ufeff'",
        "'\uD83D', '\\ud83d'",
        "'\uDE00', '\\ude00'",
        "'\uDB40\uDC01', '\\x{e0001}'",
    })
    void whatDoesNotPrintIsEscapedWhereverItStands(String raw, String escaped) {
        assertThat(Printable.text(raw)).isEqualTo(escaped);
        assertThat(Printable.text("a" + raw + SMILE + raw)).isEqualTo("a" + escaped + SMILE + escaped);
    }

    @Test
    void aLongTextIsCutButNotInsideASurrogatePair() {
        assertThat(Printable.start("abc", 3)).isEqualTo("abc");
        assertThat(Printable.start("abcd", 3)).isEqualTo("abc\u2026");
        assertThat(Printable.start("ab" + SMILE + "c", 3)).isEqualTo("ab\u2026");
        assertThat(Printable.start("ab" + SMILE + "c", 4)).isEqualTo("ab" + SMILE + "\u2026");
        assertThat(Printable.start("a\nb", 2)).isEqualTo("a\\n\u2026");
        assertThat(Printable.start("ab", 0)).isEqualTo("\u2026");
    }

    @Test
    void aMessageIsOnePrintableLineAndLockNameIsUnchanged() {
        LockBackendException error = new LockBackendException("a\r\nERROR", "lock 'a\r\nERROR' failed", true, null);

        assertThat(error).hasMessage("lock 'a\\r\\nERROR' failed");
        assertThat(error.lockName()).isEqualTo("a\r\nERROR");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0 ms",
        "999, 999 ms",
        "1000, 1 s",
        "29850, 29.8 s",
        "59999, 59.9 s",
        "60000, 1 min",
        "250000, 4 min 10 s",
        "7500000, 2 h 5 min",
        "93600000, 1 d 2 h"
    })
    void durationsHaveTwoPartsAtTheMost(long millis, String text) {
        assertThat(Printable.duration(Duration.ofMillis(millis))).isEqualTo(text);
    }
}
