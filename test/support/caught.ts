/** What a promise rejects with; fails the test if it resolves. */
export async function caught(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('The promise resolved instead of rejecting.');
}

/** What a function throws; fails the test if it returns. */
export function thrown(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('The function returned instead of throwing.');
}
