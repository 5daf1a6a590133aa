package io.holdfast.checks;

import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Lists the API of a package: its public and protected types, with their public and protected members. Members that the language
 * adds by itself, such as the accessors of a record, are not repeated.
 */
final class ApiListing {

    private static final int SHOWN =
            Modifier.PUBLIC | Modifier.PROTECTED | Modifier.STATIC | Modifier.ABSTRACT | Modifier.FINAL;

    private static final Set<String> OF_EVERY_RECORD = Set.of("equals", "hashCode", "toString");

    private ApiListing() {}

    static String of(List<Class<?>> types) {
        StringBuilder text = new StringBuilder();
        for (Class<?> type : types) {
            if (isVisible(type)) {
                text.append('\n').append(header(type)).append('\n');
                members(type).forEach(it -> text.append("  ").append(it).append('\n'));
            }
        }
        return text.toString();
    }

    private static boolean isVisible(Class<?> type) {
        for (Class<?> it = type; it != null; it = it.getEnclosingClass()) {
            if (!isVisible(it.getModifiers()) || it.isAnonymousClass() || it.isLocalClass()) {
                return false;
            }
        }
        return true;
    }

    private static boolean isVisible(int modifiers) {
        return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
    }

    private static String header(Class<?> type) {
        return deprecation(type.isAnnotationPresent(Deprecated.class))
                + (type.isAnnotationPresent(FunctionalInterface.class) ? "@FunctionalInterface " : "")
                + modifiers(type)
                + kind(type)
                + TypeText.of(type)
                + TypeText.parameters(type.getTypeParameters())
                + components(type)
                + ancestors(type)
                + permitted(type);
    }

    private static String modifiers(Class<?> type) {
        int shown = type.getModifiers() & SHOWN;
        if (type.isInterface()) {
            shown &= ~(Modifier.ABSTRACT | Modifier.STATIC);
        }
        if (type.isEnum() || type.isRecord()) {
            shown &= ~(Modifier.FINAL | Modifier.STATIC | Modifier.ABSTRACT);
        }
        return words(shown) + (type.isSealed() && !type.isEnum() ? "sealed " : "");
    }

    private static String kind(Class<?> type) {
        if (type.isAnnotation()) {
            return "@interface ";
        }
        if (type.isInterface()) {
            return "interface ";
        }
        if (type.isEnum()) {
            return "enum ";
        }
        return type.isRecord() ? "record " : "class ";
    }

    private static String components(Class<?> type) {
        return type.isRecord()
                ? Arrays.stream(type.getRecordComponents())
                        .map(it -> TypeText.of(it.getAnnotatedType()) + " " + it.getName())
                        .collect(Collectors.joining(", ", "(", ")"))
                : "";
    }

    /** Returns the supertypes that other packages can name. Members of a hidden supertype are listed as members of the type. */
    private static String ancestors(Class<?> type) {
        String text = "";
        AnnotatedType parent = type.getAnnotatedSuperclass();
        Set<String> interfaces = new LinkedHashSet<>(
                Arrays.stream(type.getAnnotatedInterfaces()).map(TypeText::of).toList());
        for (Class<?> hidden : hiddenAncestors(type)) {
            parent = hidden.getAnnotatedSuperclass();
            Arrays.stream(hidden.getAnnotatedInterfaces()).map(TypeText::of).forEach(interfaces::add);
        }
        if (!type.isEnum()
                && !type.isRecord()
                && parent != null
                && !TypeText.of(parent).equals("Object")) {
            text += " extends " + TypeText.of(parent);
        }
        return interfaces.isEmpty()
                ? text
                : text + (type.isInterface() ? " extends " : " implements ") + String.join(", ", interfaces);
    }

    private static List<Class<?>> hiddenAncestors(Class<?> type) {
        List<Class<?>> hidden = new ArrayList<>();
        for (Class<?> it = type.getSuperclass(); it != null && !isVisible(it); it = it.getSuperclass()) {
            hidden.add(it);
        }
        return hidden;
    }

    private static String permitted(Class<?> type) {
        return type.isSealed() && !type.isEnum()
                ? Arrays.stream(type.getPermittedSubclasses())
                        .filter(ApiListing::isVisible)
                        .map(TypeText::of)
                        .sorted() // their order differs between JVMs
                        .collect(Collectors.joining(", ", " permits ", ""))
                : "";
    }

    private static List<String> members(Class<?> type) {
        Set<String> sorted = new TreeSet<>();
        Stream.concat(Stream.of(type), hiddenAncestors(type).stream()).forEach(it -> {
            fields(it).forEach(sorted::add);
            methods(it, type).forEach(sorted::add);
        });
        List<String> members = new ArrayList<>();
        if (type.isEnum()) {
            members.add("constants "
                    + Arrays.stream(type.getEnumConstants())
                            .map(it -> ((Enum<?>) it).name())
                            .collect(Collectors.joining(", ")));
        }
        constructors(type).sorted().forEach(members::add);
        members.addAll(sorted);
        return members;
    }

    private static Stream<String> fields(Class<?> type) {
        return Arrays.stream(type.getDeclaredFields())
                .filter(it -> isVisible(it.getModifiers()) && !it.isSynthetic() && !it.isEnumConstant())
                .map(it -> deprecation(it.isAnnotationPresent(Deprecated.class))
                        + words(it.getModifiers() & SHOWN)
                        + TypeText.of(it.getAnnotatedType())
                        + " "
                        + it.getName()
                        + value(it));
    }

    /** The compiler copies a constant into the code that uses it, so its value is part of the API. */
    private static String value(Field field) {
        boolean mayBeConstant = field.getType().isPrimitive() || field.getType() == String.class;
        if (!mayBeConstant || !Modifier.isStatic(field.getModifiers()) || !Modifier.isFinal(field.getModifiers())) {
            return "";
        }
        try {
            field.setAccessible(true);
            return " = " + field.get(null);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Stream<String> constructors(Class<?> type) {
        return Arrays.stream(type.getDeclaredConstructors())
                .filter(it -> isVisible(it.getModifiers()) && !it.isSynthetic())
                .filter(it -> !isCanonical(it, type))
                .map(it -> words(it.getModifiers() & SHOWN)
                        + signature(it, type.getSimpleName(), it.getAnnotatedParameterTypes()));
    }

    private static boolean isCanonical(Constructor<?> constructor, Class<?> type) {
        return type.isRecord()
                && Arrays.equals(
                        constructor.getParameterTypes(),
                        Arrays.stream(type.getRecordComponents())
                                .map(RecordComponent::getType)
                                .toArray());
    }

    private static Stream<String> methods(Class<?> type, Class<?> listed) {
        return Arrays.stream(type.getDeclaredMethods())
                .filter(it -> isVisible(it.getModifiers()) && !it.isSynthetic())
                .filter(it -> !isImplied(it, listed))
                .map(it -> words(it.getModifiers()
                                & SHOWN
                                & ~(type.isInterface() ? Modifier.PUBLIC | Modifier.ABSTRACT : 0))
                        + (it.isDefault() ? "default " : "")
                        + signature(
                                it,
                                TypeText.of(it.getAnnotatedReturnType()) + " " + it.getName(),
                                it.getAnnotatedParameterTypes()));
    }

    private static boolean isImplied(Method method, Class<?> type) {
        if (type.isEnum()) {
            return Modifier.isStatic(method.getModifiers())
                    && (method.getName().equals("values") || method.getName().equals("valueOf"));
        }
        return type.isRecord()
                && (OF_EVERY_RECORD.contains(method.getName())
                        || (method.getParameterCount() == 0
                                && Arrays.stream(type.getRecordComponents())
                                        .anyMatch(it -> it.getName().equals(method.getName()))));
    }

    private static String signature(Executable executable, String name, AnnotatedType[] parameters) {
        String list = Arrays.stream(parameters).map(TypeText::of).collect(Collectors.joining(", "));
        String variables = TypeText.parameters(executable.getTypeParameters());
        return deprecation(executable.isAnnotationPresent(Deprecated.class))
                + (variables.isEmpty() ? "" : variables + " ")
                + name
                + "("
                + (executable.isVarArgs() ? list.replaceFirst("\\[\\]$", "...") : list)
                + ")"
                + TypeText.list(executable.getAnnotatedExceptionTypes(), ", ", " throws ", "");
    }

    private static String deprecation(boolean deprecated) {
        return deprecated ? "@Deprecated " : "";
    }

    private static String words(int modifiers) {
        return modifiers == 0 ? "" : Modifier.toString(modifiers) + " ";
    }
}
