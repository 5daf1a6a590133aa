package io.holdfast.site;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** The anchors of one page, by the rule of GitHub. */
final class Anchors {

    private final Map<String, Integer> seen = new HashMap<>();

    String of(String heading) {
        String anchor = heading.toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N}\\p{M} _-]", "")
                .replace(' ', '-');
        int before = seen.merge(anchor, 1, Integer::sum) - 1;
        return before == 0 ? anchor : anchor + "-" + before;
    }
}
