package io.holdfast.site;

import java.util.Map;
import java.util.Set;
import javax.swing.text.Segment;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.Node;
import org.commonmark.renderer.NodeRenderer;
import org.commonmark.renderer.html.HtmlNodeRendererContext;
import org.commonmark.renderer.html.HtmlWriter;
import org.fife.ui.rsyntaxtextarea.SyntaxConstants;
import org.fife.ui.rsyntaxtextarea.Token;
import org.fife.ui.rsyntaxtextarea.TokenMaker;
import org.fife.ui.rsyntaxtextarea.TokenMakerFactory;
import org.fife.ui.rsyntaxtextarea.TokenTypes;

/** Writes blocks of code with their keywords, strings, comments and other tokens marked. */
final class CodeRenderer implements NodeRenderer {

    private static final Map<String, String> LANGUAGES = Map.ofEntries(
            Map.entry("bash", SyntaxConstants.SYNTAX_STYLE_UNIX_SHELL),
            Map.entry("java", SyntaxConstants.SYNTAX_STYLE_JAVA),
            Map.entry("json", SyntaxConstants.SYNTAX_STYLE_JSON),
            Map.entry("kotlin", SyntaxConstants.SYNTAX_STYLE_KOTLIN),
            Map.entry("properties", SyntaxConstants.SYNTAX_STYLE_PROPERTIES_FILE),
            Map.entry("sh", SyntaxConstants.SYNTAX_STYLE_UNIX_SHELL),
            Map.entry("shell", SyntaxConstants.SYNTAX_STYLE_UNIX_SHELL),
            Map.entry("sql", SyntaxConstants.SYNTAX_STYLE_SQL),
            Map.entry("xml", SyntaxConstants.SYNTAX_STYLE_XML),
            Map.entry("yaml", SyntaxConstants.SYNTAX_STYLE_YAML));

    private final HtmlWriter html;

    CodeRenderer(HtmlNodeRendererContext context) {
        html = context.getWriter();
    }

    @Override
    public Set<Class<? extends Node>> getNodeTypes() {
        return Set.of(FencedCodeBlock.class);
    }

    @Override
    public void render(Node node) {
        FencedCodeBlock block = (FencedCodeBlock) node;
        // "java peer" is Java, too.
        String language = block.getInfo() == null ? "" : block.getInfo().split(" ", 2)[0];
        String style = LANGUAGES.getOrDefault(language, SyntaxConstants.SYNTAX_STYLE_NONE);
        html.line();
        html.tag("pre", Map.of("tabindex", "0"));
        html.tag("code", language.isEmpty() ? Map.of() : Map.of("class", "language-" + language));
        write(TokenMakerFactory.getDefaultInstance().getTokenMaker(style), block.getLiteral());
        html.tag("/code");
        html.tag("/pre");
        html.line();
    }

    private void write(TokenMaker maker, String code) {
        int state = TokenTypes.NULL;
        for (String line : code.lines().toList()) {
            String text = line.stripTrailing();
            Segment segment = new Segment(text.toCharArray(), 0, text.length());
            // After a dot, a name is a name: permits(5) begins no list of subclasses.
            boolean isMember = false;
            for (Token token = maker.getTokenList(segment, state, 0);
                    token != null && token.isPaintable();
                    token = token.getNextToken()) {
                write(token.getLexeme(), isMember ? "" : kind(token.getType()));
                isMember = token.getLexeme().equals(".");
            }
            state = maker.getLastTokenTypeOnLine(segment, state);
            html.raw("\n");
        }
    }

    private void write(String text, String kind) {
        if (kind.isEmpty()) {
            html.text(text);
        } else {
            html.tag("span", Map.of("class", kind));
            html.text(text);
            html.tag("/span");
        }
    }

    private static String kind(int type) {
        return switch (type) {
            case TokenTypes.COMMENT_EOL,
                    TokenTypes.COMMENT_MULTILINE,
                    TokenTypes.COMMENT_DOCUMENTATION,
                    TokenTypes.COMMENT_KEYWORD,
                    TokenTypes.COMMENT_MARKUP,
                    TokenTypes.MARKUP_COMMENT -> "comment";
            case TokenTypes.RESERVED_WORD, TokenTypes.RESERVED_WORD_2, TokenTypes.LITERAL_BOOLEAN -> "keyword";
            case TokenTypes.LITERAL_STRING_DOUBLE_QUOTE,
                    TokenTypes.LITERAL_CHAR,
                    TokenTypes.LITERAL_BACKQUOTE,
                    TokenTypes.MARKUP_TAG_ATTRIBUTE_VALUE -> "string";
            case TokenTypes.LITERAL_NUMBER_DECIMAL_INT,
                    TokenTypes.LITERAL_NUMBER_FLOAT,
                    TokenTypes.LITERAL_NUMBER_HEXADECIMAL -> "number";
            case TokenTypes.ANNOTATION, TokenTypes.MARKUP_TAG_ATTRIBUTE -> "annotation";
            case TokenTypes.MARKUP_TAG_NAME, TokenTypes.VARIABLE -> "name";
            default -> "";
        };
    }
}
