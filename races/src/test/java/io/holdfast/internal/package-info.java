/** What two threads may do to single parts at the same instant; in this package because the parts are package-private. */
@NullMarked
package io.holdfast.internal;

import org.jspecify.annotations.NullMarked;
