/** What two threads may do to a lock at the same instant, one class for each race, through the public API. */
@NullMarked
package io.holdfast.races;

import org.jspecify.annotations.NullMarked;
