package io.holdfast.cli.doctor;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One check, as {@code checks.txt} describes it.
 *
 * @param name what a person reads
 * @param isNeeded whether locks need it; otherwise only an option does, or it is a matter of speed or care
 * @param isUnknownAfterError whether an error only means that the user may not ask
 * @param cost what follows if it does not work
 * @param help what to do then
 */
public record Check(String name, boolean isNeeded, boolean isUnknownAfterError, String cost, String help) {

    static final Map<String, Check> ALL = Stream.of(file("checks.txt").split("\n\n"))
            .filter(text -> !text.startsWith("#"))
            .map(text -> text.strip().split("\n *"))
            .collect(Collectors.toMap(
                    lines -> lines[0],
                    lines -> new Check(
                            lines[1], lines[2].startsWith("needed"), lines[2].endsWith("error"), lines[3], lines[4])));

    static Check of(String server, String id) {
        return Objects.requireNonNull(ALL.getOrDefault(server + " " + id, ALL.get(id)), id);
    }

    static String file(String name) {
        try (InputStream file = Objects.requireNonNull(Check.class.getResourceAsStream(name), name)) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
