package io.holdfast.site;

import org.commonmark.ext.gfm.tables.TableBlock;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.Heading;
import org.commonmark.node.HtmlBlock;
import org.commonmark.node.Link;
import org.commonmark.node.Node;

/** The first page: the first part of the README and its figures, with the code of {@code site/front.md} in tabs. */
final class Front {

    /** The source of the tabs. */
    static final String TABS = "site/front.md";

    /** The page itself has no source of its own. */
    static final String PATH = "front.md";

    private static final String FIGURES = "Figures";

    private Front() {}

    /** Takes what it needs out of these documents. */
    static Node document(Node readme, Node tabs) {
        Node page = Markdown.parse("");
        tabs.accept(new AbstractVisitor() {
            @Override
            public void visit(Link link) {
                link.setDestination(link.getDestination().replaceFirst("^\\.\\./", ""));
            }
        });
        pitch(page, readme, tabs);
        figures(page, readme);
        return page;
    }

    /** Until the next heading. Its first code gives way to the tabs. */
    private static void pitch(Node page, Node readme, Node tabs) {
        Node node = readme.getFirstChild();
        boolean hasTabs = false;
        while (node != null && !(node instanceof Heading heading && heading.getLevel() > 1)) {
            Node next = node.getNext();
            if (node instanceof FencedCodeBlock && !hasTabs) {
                tabs(page, tabs);
                hasTabs = true;
            } else {
                page.appendChild(node);
            }
            node = next;
        }
    }

    /** The links above the first tab come first. A title and what it says to its authors stay behind. */
    private static void tabs(Node page, Node tabs) {
        int number = 0;
        Node node = tabs.getFirstChild();
        while (node != null) {
            Node next = node.getNext();
            if (node instanceof Heading heading && heading.getLevel() == 2) {
                page.appendChild(html(number == 0 ? "<div class=\"tabs\">" : "</div>"));
                page.appendChild(html(tab(++number, Markdown.text(heading))));
            } else if (number > 0) {
                if (node instanceof FencedCodeBlock code) {
                    code.setLiteral(code.getLiteral().stripIndent());
                }
                page.appendChild(node);
            } else if (node.getFirstChild() instanceof Link) {
                page.appendChild(node);
            }
            node = next;
        }
        page.appendChild(html("</div></div>"));
    }

    private static String tab(int number, String name) {
        return """
                <input type="radio" name="code" id="code-%d"%s><label for="code-%d">%s</label><div class="tab">""".formatted(number, number == 1 ? " checked" : "", number, name);
    }

    private static void figures(Node page, Node readme) {
        boolean isInside = false;
        boolean hasTable = false;
        Node node = readme.getFirstChild();
        while (node != null) {
            Node next = node.getNext();
            if (node instanceof Heading) {
                isInside = Markdown.text(node).equals(FIGURES);
            }
            if (isInside) {
                hasTable |= node instanceof TableBlock;
                page.appendChild(node);
            }
            node = next;
        }
        if (!hasTable) {
            throw new IllegalStateException("the README has no table below " + FIGURES);
        }
    }

    private static Node html(String literal) {
        HtmlBlock html = new HtmlBlock();
        html.setLiteral(literal);
        return html;
    }
}
