/** What a promise rejects with; fails the test where it does not. */
export async function caught(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('resolved, where a rejection was due');
}

/** What a function throws at once; fails the test where it does not. */
export function thrown(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('returned, where an error was due');
}
