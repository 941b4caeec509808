/**
 * Whether a value of a parsed JSON text is a number that JavaScript cannot hold, such as `1e400`, or holds one: it would be
 * written as null.
 */
export function isInfinite(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return false;

  // A stack of its own, because JSON can be nested more deeply than the engine's allows.
  const open: object[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const inner of Object.values(next) as unknown[]) {
      if (typeof inner === 'number' && !Number.isFinite(inner)) return true;
      if (typeof inner === 'object' && inner !== null) open.push(inner);
    }
  }
  return false;
}
