/** MariaDB and MySQL: their statements, their fence, their messages, and the meaning of their errors. */
@NullMarked
@CheckReturnValue
package io.holdfast.r2dbc.internal.mariadb;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
