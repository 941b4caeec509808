import { type ConnectorTest, type ConnectorTestsOptions, connectorTests } from 'accounting-data-sdk/testing';

/** What a case rejects with. */
export async function messageOf(name: string, options: ConnectorTestsOptions): Promise<string | undefined> {
  const [found] = connectorTests({ only: [name], ...options });
  return found?.run().then(
    () => undefined,
    (error: Error) => error.message,
  );
}

/**
 * Runs every case with one of `lanes` equal connectors, because most of the time of a case is waits, and the last ones
 * first, because they take longest. Returns the messages of the cases that fail, by name, in order.
 */
export async function failuresOf(
  make: (lane: number) => readonly ConnectorTest[] | Promise<readonly ConnectorTest[]>,
  lanes = 4,
): Promise<ReadonlyMap<string, string>> {
  const suites = await Promise.all(Array.from({ length: lanes }, async (_, lane) => await make(lane)));
  const names = suites[0]?.map(({ name }) => name) ?? [];
  const left = [...names.keys()].reverse().values();
  const failures = new Map<string, string>();
  const runLane = async (cases: readonly ConnectorTest[]) => {
    for (const place of left) {
      const { name, run } = cases[place] as ConnectorTest;
      await run().catch((error: Error) => failures.set(name, error.message));
    }
  };
  await Promise.all(suites.map(runLane));
  return new Map([...failures].sort(([a], [b]) => names.indexOf(a) - names.indexOf(b)));
}
