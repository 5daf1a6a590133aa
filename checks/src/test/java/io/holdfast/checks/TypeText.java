package io.holdfast.checks;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedArrayType;
import java.lang.reflect.AnnotatedParameterizedType;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.AnnotatedTypeVariable;
import java.lang.reflect.AnnotatedWildcardType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/** Formats types for the listing: with full names except for java.lang, and with their declared nullness. */
final class TypeText {

    private TypeText() {}

    static String of(AnnotatedType type) {
        if (type instanceof AnnotatedArrayType array) {
            String nullness = nullness(type);
            return of(array.getAnnotatedGenericComponentType()) + (nullness.isEmpty() ? "" : " " + nullness) + "[]";
        }
        if (type instanceof AnnotatedWildcardType wildcard) {
            return nullness(type) + ofWildcard(wildcard);
        }
        if (type instanceof AnnotatedTypeVariable) {
            return nullness(type) + type.getType().getTypeName();
        }
        if (type instanceof AnnotatedParameterizedType parameterized) {
            Type raw = ((ParameterizedType) parameterized.getType()).getRawType();
            return nullness(type)
                    + of((Class<?>) raw)
                    + list(parameterized.getAnnotatedActualTypeArguments(), ", ", "<", ">");
        }
        return nullness(type) + of((Class<?>) type.getType());
    }

    private static String ofWildcard(AnnotatedWildcardType wildcard) {
        if (wildcard.getAnnotatedLowerBounds().length > 0) {
            return "?" + list(wildcard.getAnnotatedLowerBounds(), " & ", " super ", "");
        }
        return "?" + bounds(wildcard.getAnnotatedUpperBounds());
    }

    static String of(Class<?> type) {
        String name = Objects.requireNonNullElse(type.getCanonicalName(), type.getName());
        return name.matches("java\\.lang\\.[A-Z].*") ? name.substring("java.lang.".length()) : name;
    }

    static String list(AnnotatedType[] types, String separator, String before, String after) {
        return types.length == 0
                ? ""
                : Arrays.stream(types).map(TypeText::of).collect(Collectors.joining(separator, before, after));
    }

    static String parameters(TypeVariable<?>[] variables) {
        return variables.length == 0
                ? ""
                : Arrays.stream(variables)
                        .map(it -> it.getName() + bounds(it.getAnnotatedBounds()))
                        .collect(Collectors.joining(", ", "<", ">"));
    }

    private static String bounds(AnnotatedType[] bounds) {
        List<String> said = Arrays.stream(bounds)
                .map(TypeText::of)
                .filter(it -> !it.equals("Object"))
                .toList();
        return said.isEmpty() ? "" : " extends " + String.join(" & ", said);
    }

    private static String nullness(AnnotatedType type) {
        return Arrays.stream(type.getAnnotations())
                .map(Annotation::annotationType)
                .filter(it -> it.getPackageName().equals("org.jspecify.annotations"))
                .map(it -> "@" + it.getSimpleName() + " ")
                .collect(Collectors.joining());
    }
}
