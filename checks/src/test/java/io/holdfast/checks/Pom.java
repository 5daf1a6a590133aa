package io.holdfast.checks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.SAXException;

/** One element of a pom.xml, as it is written. */
record Pom(Element element) {

    static Pom of(Path file) {
        try {
            return new Pom(DocumentBuilderFactory.newDefaultInstance()
                    .newDocumentBuilder()
                    .parse(file.toFile())
                    .getDocumentElement());
        } catch (IOException | SAXException | ParserConfigurationException e) {
            throw new IllegalStateException(file + " is not readable", e);
        }
    }

    List<Pom> children(String path) {
        List<Pom> found = List.of(this);
        for (String name : path.split("/", -1)) {
            found = found.stream().flatMap(it -> it.named(name).stream()).toList();
        }
        return found;
    }

    Optional<String> text(String path) {
        return children(path).stream()
                .map(it -> it.element.getTextContent().strip())
                .findFirst();
    }

    String required(String path) {
        return text(path).orElseThrow(() -> new AssertionError("no " + path + " in " + element.getBaseURI()));
    }

    List<String> modules() {
        return children("modules/module").stream()
                .map(it -> it.element.getTextContent().strip())
                .toList();
    }

    private List<Pom> named(String name) {
        List<Pom> found = new ArrayList<>();
        for (Node node = element.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node instanceof Element child && Objects.equals(child.getTagName(), name)) {
                found.add(new Pom(child));
            }
        }
        return found;
    }
}
