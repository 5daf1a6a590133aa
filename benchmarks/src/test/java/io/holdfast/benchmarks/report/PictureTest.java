package io.holdfast.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PictureTest {

    private static final Picture PICTURE =
            new Picture("file", "Title", "unit", new Selector("Some", "metric", Map.of()), "inFlight", "peer");

    private static Sample sample(String peer, String inFlight, double value, int round) {
        return new Sample("Some", Map.of("peer", peer, "inFlight", inFlight), "metric", value, round);
    }

    private static final List<Sample> SAMPLES = List.of(
            sample("A", "1024", 5, 1),
            sample("A", "64", 1, 1),
            sample("A", "64", 3, 2),
            sample("B", "64", 7, 1),
            new Sample("Another", Map.of("peer", "C", "inFlight", "2"), "metric", 9, 1));

    @Test
    void ticksAreInTheOrderOfTheirSize() {
        assertThat(PICTURE.ticks(SAMPLES)).containsExactly("64", "1024");
    }

    @Test
    void linesAreMediansAndLeaveOutWhatWasNotMeasured() {
        assertThat(PICTURE.lines(SAMPLES))
                .isEqualTo(Map.of("A", Map.of("64", 2.0, "1024", 5.0), "B", Map.of("64", 7.0)));
    }

    @Test
    void itIsWrittenAsAnSvgFile(@TempDir Path folder) throws IOException {
        assertThat(Drawing.write(PICTURE, SAMPLES, folder)).isTrue();
        assertThat(Files.readString(folder.resolve("file.svg")))
                .contains("<svg")
                .contains("</svg>");
        assertThat(Drawing.write(PICTURE, List.of(), folder))
                .as("nothing to draw")
                .isFalse();
    }

    @Test
    void filesOfThePicturesAreDistinct() {
        assertThat(Picture.all()).extracting(Picture::file).doesNotHaveDuplicates();
    }
}
