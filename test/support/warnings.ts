/** A logger, and the warnings that it was given. */
export function loggerOfWarnings() {
  const warnings: string[] = [];
  const ignore = () => undefined;
  const logger = { debug: ignore, info: ignore, warn: (text: unknown) => void warnings.push(`${text}`) };
  return { logger, warnings };
}
