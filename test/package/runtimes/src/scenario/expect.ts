/** Fails the step unless it holds. Runtimes have no assertion library in common. */
export function check(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(`expected: ${what}`);
}

export function equal(actual: unknown, expected: unknown, what: string): void {
  const [seen, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  check(seen === wanted, `${what} to be ${wanted}, not ${seen}`);
}

/** What a promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('expected: a rejection');
    },
    (error: unknown) => error,
  );
}
