/** Makes the site from the pages of the repository. */
@NullMarked
package io.holdfast.site;

import org.jspecify.annotations.NullMarked;
