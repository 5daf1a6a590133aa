package io.holdfast.checks;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A block of Java on a page, and the class around it that makes it compile.
 *
 * @param given the declarations for the compiler above the block, in comments that readers do not see
 */
record JavaBlock(MarkdownPage page, MarkdownPage.Block code, List<String> given) {

    private static final List<String> IMPORTS = List.of(
            "java.io.*",
            "java.net.URI",
            "java.nio.charset.StandardCharsets",
            "java.nio.file.*",
            "java.sql.Connection",
            "java.sql.DriverManager",
            "java.sql.PreparedStatement",
            "java.sql.ResultSet",
            "java.sql.SQLException",
            "java.sql.Statement",
            "java.time.*",
            "java.util.*",
            "java.util.concurrent.*",
            "java.util.function.*",
            "java.util.stream.*",
            "io.holdfast.*",
            "io.holdfast.blocking.*",
            "io.holdfast.etcd.*",
            "io.holdfast.memory.*",
            "io.holdfast.micrometer.*",
            "io.holdfast.r2dbc.*",
            "io.holdfast.redis.*",
            "io.holdfast.redlock.*",
            "io.holdfast.spi.*",
            "io.holdfast.spring.*",
            "io.holdfast.testkit.*",
            "io.holdfast.vertx.*",
            "io.holdfast.zookeeper.*",
            "io.lettuce.core.RedisURI",
            "io.r2dbc.spi.ConnectionFactory",
            "org.apache.curator.framework.*",
            "org.slf4j.Logger",
            "org.slf4j.LoggerFactory",
            "reactor.core.publisher.Flux",
            "reactor.core.publisher.Mono");

    private static final String GIVEN = "<!-- given";

    static List<JavaBlock> of(MarkdownPage page) {
        return page.blocks().stream()
                .filter(it -> it.info().equals("java"))
                .map(it -> new JavaBlock(page, it, givenAbove(page, it.line())))
                .toList();
    }

    private static List<String> givenAbove(MarkdownPage page, int line) {
        List<String> given = new ArrayList<>();
        boolean inside = false;
        for (String it : page.lines().subList(0, line - 1)) {
            if (it.strip().equals(GIVEN)) {
                inside = true;
            } else if (inside && it.strip().equals("-->")) {
                inside = false;
            } else if (inside) {
                given.add(it);
            }
        }
        return given;
    }

    /** The forms of a block. */
    enum Form {
        STATEMENTS("void block() throws Exception {", "}"),
        STATEMENTS_WITH_RESULT("Object block() throws Exception {", "}"),
        MEMBERS("", ""),
        /** A file with its package: it compiles alone, together with the other files of its package. */
        FILE("", "");

        private final String before;
        private final String after;

        Form(String before, String after) {
            this.before = before;
            this.after = after;
        }
    }

    String className() {
        return page.name().replaceAll("[^A-Za-z0-9]", "_") + "_" + code.line();
    }

    /** Returns a compilation unit. Its line {@link #offset(Form)} + n is line n of the block. */
    String unit(Form form) {
        if (form == Form.FILE) {
            return code.text();
        }
        List<String> lines = new ArrayList<>(before(form));
        code.lines().forEach(it -> lines.add(isImport(it) ? "" : it));
        lines.add(form.after);
        lines.add("}");
        return String.join("\n", lines) + "\n";
    }

    int offset(Form form) {
        return form == Form.FILE ? 0 : before(form).size();
    }

    boolean isFile() {
        return code.lines().stream().anyMatch(it -> it.startsWith("package "));
    }

    private List<String> before(Form form) {
        List<String> lines = new ArrayList<>();
        lines.add("package documentation;");
        IMPORTS.stream()
                .filter(it -> !isReplaced(it))
                .map("import %s;"::formatted)
                .forEach(lines::add);
        code.lines().stream().filter(JavaBlock::isImport).forEach(lines::add);
        List<String> ofTheBlock = code.lines();
        given.stream()
                .filter(it -> isImport(it) && !ofTheBlock.contains(it))
                .distinct()
                .forEach(lines::add);
        lines.add("class " + className() + " {");
        given.stream().filter(it -> !isImport(it)).forEach(lines::add);
        lines.add(form.before);
        return lines;
    }

    /** Returns whether the block imports another type of that simple name. */
    private boolean isReplaced(String usual) {
        String end = usual.substring(usual.lastIndexOf('.')) + ";";
        return !end.equals(".*;") && code.lines().stream().anyMatch(it -> isImport(it) && it.endsWith(end));
    }

    String place(long line, Form form) {
        long inBlock = line - offset(form);
        return inBlock > 0
                ? page.name() + ":" + (code.line() + inBlock - 1)
                : page.name() + ":" + code.line() + " (in what is given above it)";
    }

    private static boolean isImport(String line) {
        return line.startsWith("import ");
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof JavaBlock it && Objects.equals(it.className(), className());
    }

    @Override
    public int hashCode() {
        return className().hashCode();
    }
}
