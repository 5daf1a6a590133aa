package io.holdfast.checks;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ReturnTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import io.holdfast.checks.JavaBlock.Form;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Compiles blocks on the class path of this module, and writes no class. */
final class BlockCompiler {

    private static final JavaCompiler JAVAC = ToolProvider.getSystemJavaCompiler();

    /** One file manager for all blocks, since it caches the class path. */
    private static final StandardJavaFileManager FILES = JAVAC.getStandardFileManager(null, null, null);

    /** Deprecated API is a mandatory warning. */
    private static final Set<Diagnostic.Kind> PROBLEMS =
            EnumSet.of(Diagnostic.Kind.ERROR, Diagnostic.Kind.MANDATORY_WARNING);

    private static final List<String> OPTIONS = List.of(
            "-proc:none",
            "-Xmaxerrs",
            "1000",
            "-Xlint:deprecation,removal,rawtypes,unchecked",
            "-classpath",
            System.getProperty("java.class.path"));

    private BlockCompiler() {}

    private record Unit(JavaBlock block, Form form) {

        JavaFileObject file() {
            URI name = URI.create("string:///documentation/" + block.className() + ".java");
            return new SimpleJavaFileObject(name, JavaFileObject.Kind.SOURCE) {
                @Override
                public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                    return block.unit(form);
                }

                /** The public class of a file has the name that its page gives. */
                @Override
                public boolean isNameCompatible(String simpleName, Kind kind) {
                    return kind == Kind.SOURCE;
                }
            };
        }

        String describe(Diagnostic<? extends JavaFileObject> problem) {
            return block.place(problem.getLineNumber(), form) + ": " + problem.getMessage(null);
        }
    }

    /** Returns a message for each problem, with its page and line. */
    static List<String> problems(List<JavaBlock> blocks) {
        Map<String, Unit> units = new LinkedHashMap<>();
        for (JavaBlock block : blocks) {
            Unit unit = new Unit(block, form(block));
            units.put(unit.file().getName(), unit);
        }
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        JavacTask task = task(List.copyOf(units.values()), found);
        try {
            var unused = task.analyze();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return found.getDiagnostics().stream()
                .filter(it -> PROBLEMS.contains(it.getKind()))
                .map(it -> it.getSource() == null
                        ? it.getMessage(null)
                        : units.get(it.getSource().getName()).describe(it))
                .toList();
    }

    private static Form form(JavaBlock block) {
        if (block.isFile()) {
            return Form.FILE;
        }
        List<CompilationUnitTree> asStatements = new ArrayList<>();
        boolean isStatements = parses(block, Form.STATEMENTS, asStatements);
        if (!isStatements && parses(block, Form.MEMBERS, new ArrayList<>())) {
            return Form.MEMBERS;
        }
        return isStatements && returnsValue(asStatements, block) ? Form.STATEMENTS_WITH_RESULT : Form.STATEMENTS;
    }

    private static boolean parses(JavaBlock block, Form form, List<CompilationUnitTree> parsed) {
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        try {
            task(List.of(new Unit(block, form)), found).parse().forEach(parsed::add);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return found.getDiagnostics().stream().noneMatch(it -> PROBLEMS.contains(it.getKind()));
    }

    private static boolean returnsValue(List<CompilationUnitTree> units, JavaBlock block) {
        List<ReturnTree> found = new ArrayList<>();
        new TreeScanner<Void, Void>() {
            @Override
            public Void visitReturn(ReturnTree it, Void unused) {
                if (it.getExpression() != null) {
                    found.add(it);
                }
                return null;
            }

            @Override
            public Void visitLambdaExpression(LambdaExpressionTree it, Void unused) {
                return null;
            }

            @Override
            public Void visitMethod(MethodTree it, Void unused) {
                return it.getName().contentEquals("block") ? super.visitMethod(it, null) : null;
            }

            @Override
            public Void visitClass(ClassTree it, Void unused) {
                return it.getSimpleName().contentEquals(block.className()) ? super.visitClass(it, null) : null;
            }
        }.scan(units, null);
        return !found.isEmpty();
    }

    private static JavacTask task(List<Unit> units, DiagnosticCollector<JavaFileObject> found) {
        return (JavacTask) JAVAC.getTask(
                null,
                FILES,
                found,
                OPTIONS,
                null,
                units.stream().map(Unit::file).toList());
    }
}
