package io.holdfast.examples.quickstart;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Reads the blocks of a page. */
final class StartPages {

    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();

    private StartPages() {}

    static String text(String page) throws IOException {
        return Files.readString(ROOT.resolve(page));
    }

    /** Returns the blocks of one language, in order. */
    static List<String> blocks(String page, String language) throws IOException {
        return Pattern.compile("^```(\\w*)\n(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE)
                .matcher(text(page))
                .results()
                .filter(it -> it.group(1).equals(language))
                .map((MatchResult it) -> it.group(2))
                .toList();
    }
}
