/** Checks of the published artifacts and of the documentation, from outside. */
package io.holdfast.checks;
