package io.holdfast.site;

import org.commonmark.ext.gfm.tables.TableRow;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Code;
import org.commonmark.node.CustomNode;

/** Collects the names that tables explain: the code in the first cell of each row. A search for such a name shows the table first. */
final class ExplainedNames extends AbstractVisitor {

    private final StringBuilder names;

    ExplainedNames(StringBuilder names) {
        this.names = names;
    }

    @Override
    public void visit(CustomNode node) {
        if (node instanceof TableRow && node.getFirstChild() != null) {
            node.getFirstChild().accept(new AbstractVisitor() {
                @Override
                public void visit(Code name) {
                    names.append(name.getLiteral()).append(' ');
                }
            });
        } else {
            visitChildren(node);
        }
    }
}
