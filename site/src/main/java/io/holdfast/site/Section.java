package io.holdfast.site;

import java.util.Set;

/**
 * What follows a heading, until the next one.
 *
 * @param address of its page
 * @param page the title of its page
 * @param anchor what a link names after its {@code #}
 * @param names that its tables explain, see {@link ExplainedNames}
 * @param mentions the paths of the pages that it links to, in this order
 */
record Section(
        String address,
        String page,
        String heading,
        String anchor,
        int level,
        StringBuilder text,
        StringBuilder names,
        Set<String> mentions) {}
