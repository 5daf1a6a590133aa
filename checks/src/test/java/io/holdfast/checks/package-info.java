/** What is published and what is written, looked at from outside. */
package io.holdfast.checks;
