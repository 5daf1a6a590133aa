package io.holdfast.site;

import java.util.List;
import java.util.Map;
import org.commonmark.Extension;
import org.commonmark.ext.autolink.AutolinkExtension;
import org.commonmark.ext.gfm.tables.TableBlock;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.CustomBlock;
import org.commonmark.node.Heading;
import org.commonmark.node.HtmlBlock;
import org.commonmark.node.HtmlInline;
import org.commonmark.node.Image;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.parser.Parser;
import org.commonmark.renderer.html.HtmlRenderer;

/** Markdown as GitHub reads it, made into HTML. */
final class Markdown {

    private static final List<Extension> EXTENSIONS = List.of(TablesExtension.create(), AutolinkExtension.create());
    private static final Parser PARSER = Parser.builder().extensions(EXTENSIONS).build();

    private Markdown() {}

    static Node parse(String text) {
        Node document = PARSER.parse(text);
        document.accept(new WithoutComments());
        return document;
    }

    /** With these anchors for its headings. */
    static String html(Node document, Map<Node, String> anchors) {
        return HtmlRenderer.builder()
                .extensions(EXTENSIONS)
                .nodeRendererFactory(CodeRenderer::new)
                .attributeProviderFactory(context -> (node, tag, attributes) -> {
                    if (anchors.containsKey(node)) {
                        attributes.put("id", anchors.get(node));
                    }
                })
                .build()
                .render(document);
    }

    static String text(Node node) {
        StringBuilder text = new StringBuilder();
        node.accept(new PlainText(text));
        return text.toString().strip().replaceAll("\\s+", " ");
    }

    /** Gives a heading a link to itself. */
    static void link(Heading heading, String anchor) {
        HtmlInline link = new HtmlInline();
        link.setLiteral(
                "<a class=\"anchor\" href=\"#%s\" aria-hidden=\"true\" tabindex=\"-1\">#</a>".formatted(anchor));
        heading.appendChild(link);
    }

    /** Wide tables scroll by themselves, and a picture leads to the whole picture. */
    static void prepare(Node document) {
        document.accept(new AbstractVisitor() {
            @Override
            public void visit(CustomBlock block) {
                if (block instanceof TableBlock) {
                    block.insertBefore(
                            block("<div class=\"table\" role=\"region\" aria-label=\"Table\" tabindex=\"0\">"));
                    block.insertAfter(block("</div>"));
                }
            }

            @Override
            public void visit(Image image) {
                Link link = new Link(image.getDestination(), null);
                image.insertBefore(link);
                link.appendChild(image);
            }
        });
    }

    /** Puts what is inside a node in its place. */
    static void unwrap(Node node) {
        for (Node child = node.getFirstChild(); child != null; child = node.getFirstChild()) {
            node.insertBefore(child);
        }
        node.unlink();
    }

    private static HtmlBlock block(String literal) {
        HtmlBlock html = new HtmlBlock();
        html.setLiteral(literal);
        return html;
    }

    /** Comments are for the build. No page has other HTML of its own. */
    private static final class WithoutComments extends AbstractVisitor {

        @Override
        public void visit(HtmlBlock html) {
            remove(html, html.getLiteral());
        }

        @Override
        public void visit(HtmlInline html) {
            remove(html, html.getLiteral());
        }

        private static void remove(Node node, String literal) {
            if (!literal.stripLeading().startsWith("<!--")
                    || !literal.stripTrailing().endsWith("-->")) {
                throw new IllegalStateException("HTML in a page: " + literal);
            }
            node.unlink();
        }
    }
}
