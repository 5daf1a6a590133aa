package io.holdfast.spring;

import java.lang.reflect.Method;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.ParserContext;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.common.TemplateParserContext;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.SimpleEvaluationContext;

/** The name of a lock from {@link Locked}: a text with expressions over the arguments. */
final class LockedName {

    private static final SpelExpressionParser PARSER = new SpelExpressionParser();
    private static final ParserContext BRACES = new TemplateParserContext("{", "}");
    private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();
    private static final Pattern VARIABLE = Pattern.compile("#(\\w+)");

    private final Method method;
    private final List<Expression> parts;

    /** Null if the class file has no names of parameters. */
    private final String @Nullable [] parameters;

    private LockedName(Method method, List<Expression> parts) {
        this.method = method;
        this.parts = parts;
        parameters = NAMES.getParameterNames(method);
    }

    /**
     * Reads and checks the name.
     *
     * @throws InvalidLockedMethodException if the name is blank, is not a valid expression, or names an unknown argument; also if a
     *     parameter is outside braces, where it would be plain text, or is named without #
     */
    static LockedName of(String template, Method method) {
        if (template.isBlank()) {
            throw new InvalidLockedMethodException(
                    method, "the name of the lock is blank", "Give it a name, such as @Locked(\"stock/{#item}\").");
        }
        LockedName name = new LockedName(method, parts(template, method));
        name.parts.forEach(part -> {
            if (part instanceof SpelExpression expression) {
                name.checkBeginning(expression.getAST(), template);
                name.checkVariables(expression.getAST(), template);
            } else {
                name.checkText(part.getExpressionString(), template);
            }
        });
        return name;
    }

    private static List<Expression> parts(String template, Method method) {
        try {
            Expression parsed = PARSER.parseExpression(template, BRACES);
            return parsed instanceof CompositeStringExpression many ? List.of(many.getExpressions()) : List.of(parsed);
        } catch (ParseException e) {
            throw new InvalidLockedMethodException(
                    method,
                    "the name \"%s\" cannot be read: %s".formatted(template, e.getSimpleMessage()),
                    "Write expressions in braces, such as @Locked(\"stock/{#item}\").");
        }
    }

    /** Refuses a name like that of {@code @Cacheable(key = "#item")}: it would be the same for all arguments. */
    private void checkText(String text, String template) {
        VARIABLE.matcher(text)
                .results()
                .map((MatchResult found) -> found.group(1))
                .filter(variables()::contains)
                .findFirst()
                .ifPresent(variable -> {
                    throw new InvalidLockedMethodException(
                            method,
                            "the name \"%s\" has #%s outside braces, so all calls would share one lock"
                                    .formatted(template, variable),
                            "Write expressions in braces, such as @Locked(\"stock/{#%s}\").".formatted(variable));
                });
    }

    /** Refuses an expression without a variable at its beginning: there is no object whose properties and methods it could read. */
    private void checkBeginning(SpelNode expression, String template) {
        SpelNode first = expression instanceof CompoundExpression ? expression.getChild(0) : expression;
        if (first instanceof PropertyOrFieldReference || first instanceof MethodReference) {
            throw new InvalidLockedMethodException(
                    method,
                    "the name \"%s\" has {%s}, which does not begin with a variable"
                            .formatted(template, expression.toStringAST()),
                    "Write # before the name of a parameter, such as @Locked(\"stock/{#item}\").");
        }
    }

    private void checkVariables(SpelNode node, String template) {
        if (node instanceof VariableReference) {
            String variable = node.toStringAST().substring(1);
            Set<String> known = variables();
            if (!known.contains(variable)) {
                throw new InvalidLockedMethodException(
                        method,
                        "the name \"%s\" has #%s, but the variables are %s".formatted(template, variable, known),
                        parameters == null
                                ? "Compile the class with -parameters, so that it has the names of its parameters, or write #p0 for the first."
                                : "Name a parameter of the method.");
            }
        }
        for (int child = 0; child < node.getChildCount(); child++) {
            checkVariables(node.getChild(child), template);
        }
    }

    private Set<String> variables() {
        Set<String> variables = new LinkedHashSet<>();
        if (parameters != null) {
            variables.addAll(List.of(parameters));
        }
        for (int index = 0; index < method.getParameterCount(); index++) {
            variables.add("p" + index);
        }
        variables.add("this"); // for selections and projections
        return variables;
    }

    /**
     * Returns the name for one call.
     *
     * @throws IllegalArgumentException if a part of the name is null, cannot be evaluated, or has no text of its own
     */
    String of(@Nullable Object[] arguments) {
        EvaluationContext context = SimpleEvaluationContext.forReadOnlyDataBinding()
                .withInstanceMethods()
                .build();
        for (int index = 0; index < arguments.length; index++) {
            context.setVariable("p" + index, arguments[index]);
            if (parameters != null && index < parameters.length) {
                context.setVariable(parameters[index], arguments[index]);
            }
        }
        StringBuilder name = new StringBuilder();
        for (Expression part : parts) {
            name.append(part instanceof LiteralExpression ? part.getExpressionString() : value(part, context));
        }
        return name.toString();
    }

    private Object value(Expression part, EvaluationContext context) {
        Object value;
        try {
            value = part.getValue(context);
        } catch (EvaluationException e) {
            throw new IllegalArgumentException("%s cannot be read: %s".formatted(text(part), e.getMessage()), e);
        }
        if (value == null) {
            throw new IllegalArgumentException(text(part) + " is null");
        }
        if (isNameless(value)
                || (value instanceof Collection<?> all && all.stream().anyMatch(LockedName::isNameless))) {
            throw new IllegalArgumentException(
                    "%s is a %s without a text of its own, so each object would have its own lock: name a property"
                            .formatted(text(part), value.getClass().getSimpleName()));
        }
        return value;
    }

    /** Whether an object has the text of {@link Object#toString}. A proxy has that of its superclass. */
    private static boolean isNameless(@Nullable Object value) {
        String text = String.valueOf(value);
        return value != null
                && Stream.<Class<?>>iterate(value.getClass(), Objects::nonNull, Class::getSuperclass)
                        .anyMatch(type -> text.startsWith(type.getName() + "@"));
    }

    private String text(Expression part) {
        return "@Locked on %s: {%s} in the name of the lock"
                .formatted(InvalidLockedMethodException.text(method), part.getExpressionString());
    }
}
