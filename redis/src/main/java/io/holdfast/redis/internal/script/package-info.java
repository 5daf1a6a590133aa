/**
 * The Lua scripts, and a script as a command of Redis: its text, its arguments, its reply, several operations in one
 * call, and {@code EVAL} for a server that lacks the script. This package knows the connection only as a {@link
 * io.holdfast.redis.internal.script.ScriptPipeline.Link}.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.redis.internal.script;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
