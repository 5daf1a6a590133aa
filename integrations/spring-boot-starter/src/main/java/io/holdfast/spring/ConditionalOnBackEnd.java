package io.holdfast.spring;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.Conditional;

/** Matches if {@code holdfast.backend} is one of these. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Conditional(OnBackEnd.class)
@interface ConditionalOnBackEnd {

    /** By default any of them: then the condition only requires a choice. */
    HoldfastProperties.Backend[] value() default {};
}
