package io.holdfast.spring;

import io.holdfast.spring.HoldfastProperties.Backend;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Reads the choice in the same way as properties are read: letters of either case, with blanks around it, and with dashes. */
final class OnBackEnd extends SpringBootCondition {

    static final String PROPERTY = "holdfast.backend";

    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        Backend chosen = chosen(context.getEnvironment());
        List<Backend> wanted = List.of(
                metadata.getAnnotations().get(ConditionalOnBackEnd.class).getEnumArray("value", Backend.class));
        ConditionMessage.Builder message = ConditionMessage.forCondition(ConditionalOnBackEnd.class);
        return chosen != null && (wanted.isEmpty() || wanted.contains(chosen))
                ? ConditionOutcome.match(message.because(PROPERTY + " is " + chosen.text()))
                : ConditionOutcome.noMatch(
                        message.because(chosen == null ? PROPERTY + " is not set" : PROPERTY + " is " + chosen.text()));
    }

    /** Returns null without a choice. */
    static @Nullable Backend chosen(Environment environment) {
        try {
            return Binder.get(environment).bind(PROPERTY, Backend.class).orElse(null);
        } catch (BindException unknown) {
            throw new InvalidLockPropertiesException(
                    "%s is '%s', which is not a back end.".formatted(PROPERTY, environment.getProperty(PROPERTY)),
                    InvalidLockPropertiesException.CHOICES);
        }
    }
}
