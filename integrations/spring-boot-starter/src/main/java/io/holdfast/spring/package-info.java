/**
 * Auto-configuration for Spring Boot: a {@link io.holdfast.LockClient} from properties.
 *
 */
@NullMarked
@CheckReturnValue
package io.holdfast.spring;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
