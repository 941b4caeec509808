/** What is printed of a cause: enough to find it, and nothing that its author did not put into its message. */
type PrintedCause = string | { name: string; message: string; code?: string | number; cause?: PrintedCause };

/** A cause for logs and JSON: name, message and code, and those of its own cause; four levels at most. */
export function printedCause(cause: unknown, depth = 1): PrintedCause {
  if (!(cause instanceof Error))
    return typeof cause === 'string' ? cause : `a thrown ${cause === null ? 'null' : typeof cause}`;

  const { name, message, code } = cause as Error & { code?: unknown };
  const isCode = typeof code === 'string' || typeof code === 'number';
  const hasCause = cause.cause !== undefined && depth < 4;
  return {
    name,
    message,
    ...(isCode ? { code } : {}),
    ...(hasCause ? { cause: printedCause(cause.cause, depth + 1) } : {}),
  };
}
